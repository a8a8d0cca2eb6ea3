// RUN: dlc-opt %s --split-input-file --gpu-place-copies | filecheck %s
// Memory of the GPU that a loop hands on, or a function with kernels returns, is given back to the GPU; the host gets what is in it.

// CHECK-LABEL: func.func @main(
// CHECK: scf.for {{.*}} iter_args(%[[LAST:.*]] = %{{.*}}) -> (memref<?xf32>)
// CHECK: %[[R:.*]] = func.call @kernel(%[[LAST]]) : (memref<?xf32>) -> memref<?xf32>
// CHECK: %[[BASE:[a-z_0-9]+]], {{.*}} = memref.extract_strided_metadata %[[LAST]]
// CHECK: gpu.dealloc {{ *}}%[[BASE]]
// CHECK: scf.yield %[[R]]
// CHECK-NOT: memref.dealloc
// CHECK: dlc.copy = "deliver"
module attributes {gpu.container_module} {
func.func @main(%n: index) -> memref<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc(%n) : memref<?xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%last = %a) -> (memref<?xf32>) {
    %next = func.call @kernel(%last) : (memref<?xf32>) -> memref<?xf32>
    %base, %offset, %size, %stride = memref.extract_strided_metadata %last : memref<?xf32> -> memref<f32>, index, index, index
    memref.dealloc %base : memref<f32>
    scf.yield %next : memref<?xf32>
  }
  return %r : memref<?xf32>
}

// A kernel has written what the function returns: the host loads no memory that nobody filled.
// CHECK-LABEL: func.func @read(
// CHECK: %[[R:.*]] = call @kernel(
// CHECK: gpu.memcpy %[[HOST:.*]], %[[R]] {{.*}}{dlc.copy = "download"}
// CHECK: memref.copy %[[HOST]], %{{.*}}
// CHECK: gpu.dealloc {{ *}}%[[R]]
func.func @read(%x: memref<?xf32>, %out: memref<?xf32>) {
  %r = call @kernel(%x) : (memref<?xf32>) -> memref<?xf32>
  memref.copy %r, %out : memref<?xf32> to memref<?xf32>
  memref.dealloc %r : memref<?xf32>
  return
}
func.func private @kernel(%x: memref<?xf32>) -> memref<?xf32> attributes {dl.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %out = gpu.alloc (%n) : memref<?xf32>
  gpu.launch_func @k::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<?xf32>, %out : memref<?xf32>)
  return %out : memref<?xf32>
}
gpu.module @k {
  gpu.func @k(%x: memref<?xf32>, %out: memref<?xf32>) kernel {
    gpu.return
  }
}
}

// -----

// no-match: the host gives its own memory back.
// CHECK-LABEL: func.func @host(
// CHECK-NOT: gpu.
// CHECK: memref.dealloc
func.func @host(%n: index) {
  %a = memref.alloc(%n) : memref<?xf32>
  memref.dealloc %a : memref<?xf32>
  return
}
