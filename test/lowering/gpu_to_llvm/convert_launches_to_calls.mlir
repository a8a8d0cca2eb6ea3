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

// -----

// A tensor map is the runtime's: element f16, swizzle of 64 bytes, 2 dims of 40 and 8, strides of 128 bytes, boxes of 32 x 4. The launch says
// that its first argument is one.
// CHECK-LABEL: func.func private @mapped(
// CHECK-SAME: %[[X:.*]]: memref<8x64xf16>
// CHECK: %[[FORM:.*]] = memref.alloca() : memref<8xi64>
// CHECK-NOT: nvgpu.tma
// CHECK: %[[VIEW:.*]] = memref.reinterpret_cast %[[X]]
// CHECK-COUNT-8: memref.store %{{.*}}, %[[FORM]]
// CHECK: memref.extract_aligned_pointer_as_index %[[VIEW]]
// CHECK: %[[MAP:.*]] = call @dlc_gpu_tensor_map
// CHECK: %[[POINTER:.*]] = llvm.inttoptr %[[MAP]]
// CHECK: %[[WORD:.*]] = llvm.ptrtoint %[[POINTER]]
// CHECK: memref.store %[[WORD]]
// CHECK: %[[MASK:.*]] = arith.constant 1 : i64
// CHECK: call @dlc_gpu_launch({{.*}}, %[[MASK]])
module attributes {gpu.container_module} {
func.func private @mapped(%x: memref<8x64xf16>) {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  %v = memref.reinterpret_cast %x to offset: [0], sizes: [8, 40], strides: [64, 1] : memref<8x64xf16> to memref<8x40xf16, strided<[64, 1]>>
  %u = memref.cast %v : memref<8x40xf16, strided<[64, 1]>> to memref<*xf16>
  %d = nvgpu.tma.create.descriptor %u box[%c4, %c32] : memref<*xf16> -> !nvgpu.tensormap.descriptor<tensor = memref<4x32xf16, #gpu.address_space<workgroup>>, swizzle = swizzle_64b, l2promo = none, oob = zero, interleave = none>
  %m = builtin.unrealized_conversion_cast %d : !nvgpu.tensormap.descriptor<tensor = memref<4x32xf16, #gpu.address_space<workgroup>>, swizzle = swizzle_64b, l2promo = none, oob = zero, interleave = none> to !llvm.ptr
  gpu.launch_func @k::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%m : !llvm.ptr, %x : memref<8x64xf16>)
  return
}
gpu.module @k {
  llvm.func @k(%m: !llvm.ptr, %x: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
    llvm.return
  }
}
}

// -----

func.func @open_box(%x: memref<8x32xf16>, %n: index) {
  %c32 = arith.constant 32 : index
  %u = memref.cast %x : memref<8x32xf16> to memref<*xf16>
  // expected-error@+1 {{a tensor map's shape or box is not constant; run convert-contractions-to-mma on static shapes}}
  %d = nvgpu.tma.create.descriptor %u box[%n, %c32] : memref<*xf16> -> !nvgpu.tensormap.descriptor<tensor = memref<4x32xf16, 3>, swizzle = swizzle_64b, l2promo = none, oob = zero, interleave = none>
  return
}

// -----

func.func @unknown_element(%x: memref<8x16xf64>) {
  %c8 = arith.constant 8 : index
  %u = memref.cast %x : memref<8x16xf64> to memref<*xf64>
  // expected-error@+1 {{the driver does not describe memref<8x16xf64>; report this model}}
  %d = nvgpu.tma.create.descriptor %u box[%c8, %c8] : memref<*xf64> -> !nvgpu.tensormap.descriptor<tensor = memref<8x8xf64, 3>, swizzle = swizzle_64b, l2promo = none, oob = zero, interleave = none>
  return
}

// -----

module attributes {gpu.container_module} {
memref.global "private" constant @bias : memref<8xf32> = dense<1.0>
func.func @constant_of_the_host() {
  %c1 = arith.constant 1 : index
  %x = memref.get_global @bias : memref<8xf32>
  // expected-error@+1 {{a kernel gets memory of the host ('memref.get_global'); run gpu-place-copies first}}
  gpu.launch_func @k::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<8xf32>)
  return
}
gpu.module @k {
  llvm.func @k(%x: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
    llvm.return
  }
}
}

// -----

func.func @copy_to_itself(%x: memref<8xf32>) {
  // expected-error@+1 {{the copy of an argument does not go to an allocation of its own; run gpu-place-copies first}}
  gpu.memcpy %x, %x : memref<8xf32>, memref<8xf32> {dlc.copy = "argument"}
  return
}

// -----

// Every way out of an entry finishes.
// CHECK-LABEL: func.func @two_blocks
// CHECK: call @dlc_gpu_begin
// CHECK: cf.cond_br
// CHECK: call @dlc_gpu_finish
// CHECK-NEXT: return
// CHECK: call @dlc_gpu_finish
// CHECK-NEXT: return
func.func @two_blocks(%c: i1) {
  %d = gpu.alloc () : memref<8xf32>
  cf.cond_br %c, ^a, ^b
^a:
  gpu.dealloc %d : memref<8xf32>
  return
^b:
  gpu.dealloc %d : memref<8xf32>
  return
}
