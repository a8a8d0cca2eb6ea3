// RUN: dlc-opt %s --split-input-file --gpu-inline-mixed-functions | filecheck %s
// Functions with kernels that call functions of the host become parts of their callers, in loops, too. The pass refuses nothing.

// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:.*]]: memref<8xf32>) -> memref<8xf32>
// CHECK: %[[S:[a-z0-9_]+]] = gpu.alloc
// CHECK: gpu.launch_func @k::@k {{.*}}args(%[[X]] : memref<8xf32>, %[[S]] : memref<8xf32>)
// CHECK: call @host(%[[S]])
// CHECK: scf.for
// CHECK:   gpu.launch_func
// CHECK:   func.call @host
// CHECK: return %[[S]]
// CHECK-NOT: @mixed
// CHECK: func.func private @host
module attributes {gpu.container_module} {
func.func @main(%x: memref<8xf32>) -> memref<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %y = call @mixed(%x) : (memref<8xf32>) -> memref<8xf32>
  scf.for %i = %c0 to %c4 step %c1 {
    %z = func.call @mixed(%y) : (memref<8xf32>) -> memref<8xf32>
    gpu.dealloc %z : memref<8xf32>
  }
  return %y : memref<8xf32>
}
func.func private @mixed(%x: memref<8xf32>) -> memref<8xf32> attributes {dl.kernel} {
  %c1 = arith.constant 1 : index
  %s = gpu.alloc () : memref<8xf32>
  gpu.launch_func @k::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<8xf32>, %s : memref<8xf32>)
  call @host(%s) : (memref<8xf32>) -> ()
  return %s : memref<8xf32>
}
func.func private @host(%s: memref<8xf32>) attributes {dlc.on_cpu = "a reason"} {
  return
}
gpu.module @k {
  gpu.func @k(%x: memref<8xf32>, %out: memref<8xf32>) kernel {
    gpu.return
  }
}
}

// -----

// no-match: one launches kernels alone, one is the host's alone.
// CHECK-LABEL: func.func @apart(
// CHECK: call @kernel
// CHECK: call @host
module attributes {gpu.container_module} {
func.func @apart(%x: memref<8xf32>) {
  call @kernel(%x) : (memref<8xf32>) -> ()
  call @host(%x) : (memref<8xf32>) -> ()
  return
}
func.func private @kernel(%x: memref<8xf32>) {
  %c1 = arith.constant 1 : index
  gpu.launch_func @k::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<8xf32>)
  return
}
func.func private @host(%s: memref<8xf32>) {
  return
}
gpu.module @k {
  gpu.func @k(%x: memref<8xf32>) kernel {
    gpu.return
  }
}
}
