// RUN: dlc-opt %s --dl-set-target=target=gpu:sm_80 --convert-contractions-to-mma | filecheck %s
// RUN: dlc compile %s --target=gpu:sm_80 --emit=ptx | filecheck %s --check-prefix=PTX
// An image with zeros around it is no memory of its own: copies read the image, and zeros where a pixel is outside. Refuses nothing.

// PTX: .pragma "nounroll"
// PTX: mma.sync

// CHECK-LABEL: func.func @conv(
// CHECK-NOT: memref.alloc
// CHECK-NOT: call @
// CHECK: gpu.launch_func @conv_kernel::@conv_kernel {{.*}} args(%arg0 : memref<28x28x64xf16>
// CHECK: gpu.func @conv_kernel
// CHECK: memref.reinterpret_cast %{{.*}} to offset: [0], sizes: [50176], strides: [1]
// CHECK: %[[Y:.*]] = arith.cmpi ult, %{{.*}}, %c28
// CHECK: %[[X:.*]] = arith.cmpi ult, %{{.*}}, %c28
// CHECK: %[[IN:.*]] = arith.andi %{{.*}}, %[[X]] : i1
// CHECK: %[[COUNT:.*]] = arith.select %[[IN]], %c8{{.*}}, %c0
// CHECK: nvgpu.device_async_copy %{{.*}}, 8, %[[COUNT]] {bypassL1}
func.func @conv(%X: memref<28x28x64xf16> {llvm.noalias}, %W: memref<3x3x64x64xf16> {llvm.noalias}, %C: memref<28x28x64xf32> {llvm.noalias}) {
  %none = arith.constant 0.0 : f16
  %zero = arith.constant 0.0 : f32
  %P = memref.alloc() : memref<30x30x64xf16>
  affine.for %i = 0 to 30 {
    affine.for %j = 0 to 30 {
      affine.for %k = 0 to 64 {
        affine.store %none, %P[%i, %j, %k] : memref<30x30x64xf16>
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  %I = memref.subview %P[1, 1, 0] [28, 28, 64] [1, 1, 1] : memref<30x30x64xf16> to memref<28x28x64xf16, strided<[1920, 64, 1], offset: 1984>>
  affine.for %i = 0 to 28 {
    affine.for %j = 0 to 28 {
      affine.for %k = 0 to 64 {
        %v = affine.load %X[%i, %j, %k] : memref<28x28x64xf16>
        affine.store %v, %I[%i, %j, %k] : memref<28x28x64xf16, strided<[1920, 64, 1], offset: 1984>>
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  affine.for %y = 0 to 28 {
    affine.for %x = 0 to 28 {
      affine.for %o = 0 to 64 {
        %total = affine.for %u = 0 to 3 iter_args(%s = %zero) -> f32 {
          %part = affine.for %v = 0 to 3 iter_args(%t = %s) -> f32 {
            %sum = affine.for %c = 0 to 64 iter_args(%r = %t) -> f32 {
              %a = affine.load %P[%y + %u, %x + %v, %c] : memref<30x30x64xf16>
              %b = affine.load %W[%u, %v, %c, %o] : memref<3x3x64x64xf16>
              %l = arith.extf %a : f16 to f32
              %w = arith.extf %b : f16 to f32
              %p = arith.mulf %l, %w : f32
              %new = arith.addf %r, %p : f32
              affine.yield %new : f32
            }
            affine.yield %sum : f32
          }
          affine.yield %part : f32
        }
        affine.store %total, %C[%y, %x, %o] : memref<28x28x64xf32>
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  memref.dealloc %P : memref<30x30x64xf16>
  return
}
