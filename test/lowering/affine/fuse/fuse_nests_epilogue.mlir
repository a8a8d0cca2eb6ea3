// RUN: dlc-opt %s --affine-fuse-nests | filecheck %s
// What follows a sum in all of its loops becomes one with it before the sum shares images with what pads its operand.

// CHECK-LABEL: func.func private @padded
// CHECK: affine.for %{{.*}} = 0 to 64 {
// CHECK: affine.for %{{.*}} = 0 to 130 {
// CHECK: %[[S:.*]] = affine.for %{{.*}} = 0 to 3
// CHECK: %[[R:.*]] = arith.maximumf %[[S]]
// CHECK-NEXT: affine.store %[[R]]
// CHECK-NOT: affine.for
// CHECK: return
module attributes {dlc.target = {l2_bytes = 1048576 : i64}} {
  func.func private @padded(%x: memref<64x128xf32>, %w: memref<3x4096xf32>, %y: memref<64x128x4096xf32> {llvm.noalias}) {
    %zero = arith.constant 0.0 : f32
    %p = memref.alloc() : memref<64x130xf32>
    affine.for %b = 0 to 64 {
      affine.for %i = 0 to 130 {
        affine.store %zero, %p[%b, %i] : memref<64x130xf32>
      } {dlc.parallel}
    } {dlc.parallel}
    affine.for %b = 0 to 64 {
      affine.for %i = 0 to 128 {
        %0 = affine.load %x[%b, %i] : memref<64x128xf32>
        affine.store %0, %p[%b, %i + 1] : memref<64x130xf32>
      } {dlc.parallel}
    } {dlc.parallel}
    affine.for %b = 0 to 64 {
      affine.for %i = 0 to 128 {
        affine.for %n = 0 to 4096 {
          %s = affine.for %k = 0 to 3 iter_args(%acc = %zero) -> (f32) {
            %0 = affine.load %p[%b, %i + %k] : memref<64x130xf32>
            %1 = affine.load %w[%k, %n] : memref<3x4096xf32>
            %2 = arith.mulf %0, %1 : f32
            %3 = arith.addf %acc, %2 : f32
            affine.yield %3 : f32
          }
          affine.store %s, %y[%b, %i, %n] : memref<64x128x4096xf32>
        } {dlc.parallel}
      } {dlc.parallel}
    } {dlc.parallel}
    affine.for %b = 0 to 64 {
      affine.for %i = 0 to 128 {
        affine.for %n = 0 to 4096 {
          %0 = affine.load %y[%b, %i, %n] : memref<64x128x4096xf32>
          %1 = arith.maximumf %0, %zero : f32
          affine.store %1, %y[%b, %i, %n] : memref<64x128x4096xf32>
        } {dlc.parallel}
      } {dlc.parallel}
    } {dlc.parallel}
    memref.dealloc %p : memref<64x130xf32>
    return
  }
}
