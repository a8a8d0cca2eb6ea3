// RUN: dlc-opt %s --split-input-file --verify-diagnostics --convert-launches-to-calls
// What has no calls: copies without their way or result, tokens, elements that are no numbers, other uses of tensor maps.

func.func @way(%x: memref<8xf32>, %y: memref<8xf32>) {
  // expected-error@+1 {{a copy does not say which way it goes; run gpu-place-copies first}}
  gpu.memcpy %y, %x : memref<8xf32>, memref<8xf32> {dlc.copy = 3 : i64}
  return
}

// -----

func.func @delivery(%x: memref<8xf32>) {
  %d = gpu.alloc () : memref<8xf32>
  // expected-error@+1 {{a delivery does not say of which result it is ('dlc.result', of i64); run gpu-place-copies first}}
  gpu.memcpy %x, %d : memref<8xf32>, memref<8xf32> {dlc.copy = "deliver", dlc.result = "a"}
  return
}

// -----

func.func @own_copy() {
  %d = gpu.alloc () : memref<8xf32>
  // expected-error@+1 {{the copy of an argument does not go to an allocation of its own; run gpu-place-copies first}}
  gpu.memcpy %d, %d : memref<8xf32>, memref<8xf32> {dlc.copy = "argument"}
  return
}

// -----

func.func @token(%x: memref<8xf32>) {
  %before = gpu.wait async
  // expected-error@+1 {{'gpu.alloc' runs asynchronously, and the runtime does all in order; write it without tokens}}
  %d, %t = gpu.alloc async [%before] () : memref<8xf32>
  gpu.wait [%t]
  return
}

// -----

func.func @vectors() {
  // expected-error@+1 {{elements of a buffer of the GPU are numbers, not vector<4xf32>; use a buffer of numbers}}
  %d = gpu.alloc () : memref<8xvector<4xf32>>
  return
}

// -----

module attributes {gpu.container_module} {
func.func @unranked(%c: index, %x: memref<*xf32>) {
  // expected-error@+1 {{a kernel gets a memref without rank; give it a ranked type}}
  gpu.launch_func @k::@k blocks in (%c, %c, %c) threads in (%c, %c, %c) args(%x : memref<*xf32>)
  return
}
gpu.module @k {
  llvm.func @k(%a: i64, %b: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
    llvm.return
  }
}
}

// -----

!map = !nvgpu.tensormap.descriptor<tensor = memref<64x64xf16, 3>, swizzle = swizzle_128b, l2promo = none, oob = zero, interleave = none>
func.func @prefetch(%x: memref<64x64xf16>) {
  %c = arith.constant 64 : index
  %u = memref.cast %x : memref<64x64xf16> to memref<*xf16>
  %d = nvgpu.tma.create.descriptor %u box[%c, %c] : memref<*xf16> -> !map
  // expected-error@+1 {{a tensor map is an argument of kernels only; report this model}}
  nvgpu.tma.prefetch.descriptor %d : !map
  return
}

// -----

func.func @strides(%x: memref<64x64xf16, strided<[?, 1]>>) {
  %c = arith.constant 64 : index
  %u = memref.cast %x : memref<64x64xf16, strided<[?, 1]>> to memref<*xf16>
  // expected-error@+1 {{the driver does not describe memref<64x64xf16, strided<[?, 1]>>; report this model}}
  %d = nvgpu.tma.create.descriptor %u box[%c, %c] : memref<*xf16> -> <tensor = memref<64x64xf16, 3>, swizzle = swizzle_128b, l2promo = none, oob = zero, interleave = none>
  return
}
