// RUN: dlc-opt %s --dl-set-target=target=cpu:znver5 --affine-tile-registers | filecheck %s
// Panels that the next pixels read again are in L2 by then, and not fetched ahead; others are. Refuses nothing.

// 512 KiB of 1 MiB, for each of 4 tiles of pixels.
// CHECK-LABEL: func.func private @again(
// CHECK-NOT: memref.prefetch
func.func private @again(%x: memref<32x32x256xf32>, %w: memref<32x256x16xf32>, %y: memref<32x32x32x16xf32>) {
  %zero = arith.constant 0.0 : f32
  affine.for %r = 0 to 32 {
    affine.for %p = 0 to 32 {
      affine.for %b = 0 to 32 {
        affine.for %c = 0 to 16 {
          %s = affine.for %k = 0 to 256 iter_args(%t = %zero) -> (f32) {
            %a = affine.load %x[%r, %p, %k] : memref<32x32x256xf32>
            %v = affine.load %w[%b, %k, %c] : memref<32x256x16xf32>
            %m = arith.mulf %a, %v : f32
            %n = arith.addf %t, %m : f32
            affine.yield %n : f32
          }
          affine.store %s, %y[%r, %p, %b, %c] : memref<32x32x32x16xf32>
        } {dlc.parallel}
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// no-match: 2 MiB leave L2 before the next pixels.
// CHECK-LABEL: func.func private @large(
// CHECK: memref.prefetch
func.func private @large(%x: memref<32x32x256xf32>, %w: memref<128x256x16xf32>, %y: memref<32x32x128x16xf32>) {
  %zero = arith.constant 0.0 : f32
  affine.for %r = 0 to 32 {
    affine.for %p = 0 to 32 {
      affine.for %b = 0 to 128 {
        affine.for %c = 0 to 16 {
          %s = affine.for %k = 0 to 256 iter_args(%t = %zero) -> (f32) {
            %a = affine.load %x[%r, %p, %k] : memref<32x32x256xf32>
            %v = affine.load %w[%b, %k, %c] : memref<128x256x16xf32>
            %m = arith.mulf %a, %v : f32
            %n = arith.addf %t, %m : f32
            affine.yield %n : f32
          }
          affine.store %s, %y[%r, %p, %b, %c] : memref<32x32x128x16xf32>
        } {dlc.parallel}
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  return
}
