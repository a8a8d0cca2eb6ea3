// RUN: dlc-opt %s --split-input-file --verify-diagnostics --convert-launches-to-calls | filecheck %s
// Launches, memory of the GPU and copies become calls of the runtime; kernels leave the module.

// CHECK-DAG: llvm.mlir.global external @dlc_gpu_model(0 : i64)
// CHECK-DAG: llvm.mlir.global internal constant @[[NAME:dlc_gpu_kernel_0]]("k\00")
// CHECK-NOT: gpu.module
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:.*]]: memref<8xf32>
// CHECK: %[[MODEL:.*]] = llvm.load
// CHECK: call @dlc_gpu_begin(%[[MODEL]])
// CHECK: %[[AT:.*]] = memref.extract_aligned_pointer_as_index %[[X]]
// CHECK: call @dlc_gpu_device_of
// CHECK: %[[D:.*]] = builtin.unrealized_conversion_cast
// CHECK: call @dlc_gpu_take_result
// CHECK: %[[A:.*]] = builtin.unrealized_conversion_cast
// CHECK: memref.extract_aligned_pointer_as_index %[[D]]
// CHECK: memref.extract_aligned_pointer_as_index %[[A]]
// CHECK: llvm.mlir.addressof @[[NAME]]
// CHECK: call @dlc_gpu_launch
// CHECK: call @dlc_gpu_deliver
// CHECK: call @dlc_gpu_release
// CHECK: call @dlc_gpu_finish
// CHECK-NEXT: return
module attributes {gpu.container_module} {
func.func @main(%x: memref<8xf32>) -> memref<8xf32> {
  %c1 = arith.constant 1 : index
  %d = gpu.alloc () : memref<8xf32>
  gpu.memcpy %d, %x : memref<8xf32>, memref<8xf32> {dlc.copy = "argument"}
  %a = gpu.alloc () : memref<8xf32>
  gpu.launch_func @k::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%d : memref<8xf32>, %a : memref<8xf32>)
  %h = memref.alloc() : memref<8xf32>
  gpu.memcpy %h, %a : memref<8xf32>, memref<8xf32> {dlc.copy = "deliver", dlc.result = 0 : i64}
  gpu.dealloc %a : memref<8xf32>
  return %h : memref<8xf32>
}
gpu.module @k {
  llvm.func @k(%x: !llvm.ptr, %y: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
    llvm.return
  }
}
}

// -----

// no-match: nothing is asked of a GPU.
// CHECK-LABEL: func.func @host(
// CHECK-NOT: dlc_gpu
// CHECK: return
func.func @host(%x: memref<8xf32>) {
  return
}

// -----

module attributes {gpu.container_module} {
func.func @too_early(%x: memref<8xf32>) {
  %c1 = arith.constant 1 : index
  // expected-error@+1 {{is not at level nvvm; run convert-kernels-to-nvvm first}}
  gpu.launch_func @k::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<8xf32>)
  return
}
gpu.module @k {
  gpu.func @k(%x: memref<8xf32>) kernel {
    gpu.return
  }
}
}

// -----

func.func @no_way(%x: memref<8xf32>, %y: memref<8xf32>) {
  // expected-error@+1 {{a copy does not say which way it goes; run gpu-place-copies first}}
  gpu.memcpy %x, %y : memref<8xf32>, memref<8xf32>
  return
}

// -----

func.func @vast(%x: memref<9223372036854775807xf32>, %y: memref<9223372036854775807xf32>) {
  // expected-error@+1 {{a buffer takes 36893488147419103228 bytes, more than any machine can address; give smaller sizes}}
  gpu.memcpy %x, %y : memref<9223372036854775807xf32>, memref<9223372036854775807xf32>
  return
}
