// RUN: dlc-opt %s --affine-fuse-nests | filecheck %s
// Where only two loops together, images and blocks of rows, make what passes between the nests fit the cache, both become one.

// CHECK-LABEL: func.func private @images
// CHECK: affine.for %{{.*}} = 0 to 4 {
// CHECK-NEXT: affine.for %{{.*}} = 0 to 8 {
// CHECK-NEXT: memref.alloc{{.*}} : memref<64x256xf32>
// CHECK: return
module attributes {dlc.target = {l2_bytes = 262144 : i64}} {
  func.func private @images(%x: memref<4x8x64x256xf32>, %w: memref<256x64xf32>, %y: memref<4x8x64x64xf32> {llvm.noalias}) {
    %zero = arith.constant 0.0 : f32
    %t = memref.alloc() : memref<4x8x64x256xf32>
    affine.for %a = 0 to 4 {
      affine.for %b = 0 to 8 {
        affine.for %i = 0 to 64 {
          affine.for %k = 0 to 256 {
            %0 = affine.load %x[%a, %b, %i, %k] : memref<4x8x64x256xf32>
            %1 = arith.addf %0, %0 : f32
            affine.store %1, %t[%a, %b, %i, %k] : memref<4x8x64x256xf32>
          } {dlc.parallel}
        } {dlc.parallel}
      } {dlc.parallel}
    } {dlc.parallel}
    affine.for %a = 0 to 4 {
      affine.for %b = 0 to 8 {
        affine.for %i = 0 to 64 {
          affine.for %n = 0 to 64 {
            %s = affine.for %k = 0 to 256 iter_args(%acc = %zero) -> (f32) {
              %0 = affine.load %t[%a, %b, %i, %k] : memref<4x8x64x256xf32>
              %1 = affine.load %w[%k, %n] : memref<256x64xf32>
              %2 = arith.mulf %0, %1 : f32
              %3 = arith.addf %acc, %2 : f32
              affine.yield %3 : f32
            }
            affine.store %s, %y[%a, %b, %i, %n] : memref<4x8x64x64xf32>
          } {dlc.parallel}
        } {dlc.parallel}
      } {dlc.parallel}
    } {dlc.parallel}
    memref.dealloc %t : memref<4x8x64x256xf32>
    return
  }
}
