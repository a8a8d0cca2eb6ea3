// RUN: dlc-opt %s --dl-set-target=target=cpu:znver3 --affine-block-rows | filecheck %s --check-prefix=FEW
// RUN: dlc-opt %s --dl-set-target=target=cpu:znver4 --affine-block-rows | filecheck %s --check-prefix=MANY
// Rows of 2 KiB: with few registers a block takes all of a cache of 32 KiB, else two thirds of it.

// FEW-LABEL: func.func private @rows(
// FEW: affine.for %{{.*}} = 0 to 4 {
// FEW-NEXT: affine.for %{{.*}} = 0 to 16 {
// MANY-LABEL: func.func private @rows(
// MANY: affine.for %{{.*}} = 0 to 8 {
// MANY-NEXT: affine.for %{{.*}} = 0 to 8 {
func.func private @rows(%q: memref<64x8xf32>, %k: memref<8x512xf32>, %v: memref<512x8xf32>, %y: memref<64x8xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  %s = memref.alloc() : memref<64x512xf32>
  affine.for %i = 0 to 64 {
    affine.for %j = 0 to 512 {
      %0 = affine.for %d = 0 to 8 iter_args(%acc = %zero) -> (f32) {
        %a = affine.load %q[%i, %d] : memref<64x8xf32>
        %b = affine.load %k[%d, %j] : memref<8x512xf32>
        %p = arith.mulf %a, %b : f32
        %sum = arith.addf %acc, %p : f32
        affine.yield %sum : f32
      }
      affine.store %0, %s[%i, %j] : memref<64x512xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  affine.for %i = 0 to 64 {
    affine.for %d = 0 to 8 {
      %0 = affine.for %j = 0 to 512 iter_args(%acc = %zero) -> (f32) {
        %a = affine.load %s[%i, %j] : memref<64x512xf32>
        %b = affine.load %v[%j, %d] : memref<512x8xf32>
        %p = arith.mulf %a, %b : f32
        %sum = arith.addf %acc, %p : f32
        affine.yield %sum : f32
      }
      affine.store %0, %y[%i, %d] : memref<64x8xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  memref.dealloc %s : memref<64x512xf32>
  return
}
