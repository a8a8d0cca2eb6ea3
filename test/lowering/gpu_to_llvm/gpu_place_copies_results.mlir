// RUN: dlc-opt %s --split-input-file --gpu-place-copies | filecheck %s
// Memory that functions of the host return goes to the GPU where kernels touch it, and the host, which has it, frees its own.

// CHECK-LABEL: func.func @main(
// CHECK: %[[N:.*]] = call @on_cpu() : () -> memref<8xf32>
// CHECK: %[[D:.*]] = gpu.alloc () : memref<8xf32>
// CHECK: gpu.memcpy %[[D]], %[[N]] {{.*}}{dlc.copy = "upload"}
// CHECK-NOT: dlc.copy = "download"
// CHECK: memref.load %[[N]]
// CHECK: %[[A:.*]] = gpu.alloc () : memref<8xf32>
// CHECK: call @kernel(%[[D]], %[[A]])
// The GPU's memory has an address that can be compared without a copy.
// CHECK: memref.extract_aligned_pointer_as_index %[[A]]
// CHECK-NOT: dlc.copy = "download"
// CHECK: memref.dealloc %[[N]]
// CHECK: dlc.copy = "deliver"
module attributes {gpu.container_module} {
func.func @main() -> (memref<8xf32>, f32, index) {
  %c0 = arith.constant 0 : index
  %n = call @on_cpu() : () -> memref<8xf32>
  %x = memref.load %n[%c0] : memref<8xf32>
  %a = memref.alloc() : memref<8xf32>
  call @kernel(%n, %a) : (memref<8xf32>, memref<8xf32>) -> ()
  %at = memref.extract_aligned_pointer_as_index %a : memref<8xf32> -> index
  memref.dealloc %n : memref<8xf32>
  return %a, %x, %at : memref<8xf32>, f32, index
}
func.func private @on_cpu() -> memref<8xf32> attributes {dl.kernel} {
  %c0 = arith.constant 0 : index
  %x = arith.constant 1.0 : f32
  %n = memref.alloc() : memref<8xf32>
  memref.store %x, %n[%c0] : memref<8xf32>
  return %n : memref<8xf32>
}
func.func private @kernel(%x: memref<8xf32>, %out: memref<8xf32>) attributes {dl.kernel} {
  %c1 = arith.constant 1 : index
  gpu.launch_func @k::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<8xf32>, %out : memref<8xf32>)
  return
}
gpu.module @k {
  gpu.func @k(%x: memref<8xf32>, %out: memref<8xf32>) kernel {
    gpu.return
  }
}
}

// -----

// no-match: what only the host touches stays there.
// CHECK-LABEL: func.func @host(
// CHECK-NOT: gpu.
// CHECK: return
func.func @host() -> f32 {
  %c0 = arith.constant 0 : index
  %n = call @on_cpu() : () -> memref<8xf32>
  %x = memref.load %n[%c0] : memref<8xf32>
  return %x : f32
}
func.func private @on_cpu() -> memref<8xf32> {
  %n = memref.alloc() : memref<8xf32>
  return %n : memref<8xf32>
}
