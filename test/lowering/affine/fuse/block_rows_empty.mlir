// RUN: dlc-opt %s --dl-set-target=target=cpu:haswell --affine-block-rows | filecheck %s
// no-match: nests without rows have no blocks. It refuses nothing.

// CHECK-LABEL: func.func private @none
// CHECK: affine.for %{{.*}} = 0 to 0 {
// CHECK: affine.for %{{.*}} = 0 to 0 {
func.func private @none(%q: memref<64x3xf32>, %k: memref<3x512xf32>, %v: memref<512x3xf32>, %y: memref<64x3xf32> {llvm.noalias}) attributes {dl.kernel} {
  %zero = arith.constant 0.0 : f32
  %s = memref.alloc() : memref<64x512xf32>
  affine.for %i = 0 to 0 {
    affine.for %j = 0 to 512 {
      %0 = affine.for %d = 0 to 3 iter_args(%acc = %zero) -> (f32) {
        %a = affine.load %q[%i, %d] : memref<64x3xf32>
        %b = affine.load %k[%d, %j] : memref<3x512xf32>
        %p = arith.mulf %a, %b : f32
        %sum = arith.addf %acc, %p : f32
        affine.yield %sum : f32
      }
      affine.store %0, %s[%i, %j] : memref<64x512xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  affine.for %i = 0 to 0 {
    affine.for %d = 0 to 3 {
      %0 = affine.for %j = 0 to 512 iter_args(%acc = %zero) -> (f32) {
        %a = affine.load %s[%i, %j] : memref<64x512xf32>
        %b = affine.load %v[%j, %d] : memref<512x3xf32>
        %p = arith.mulf %a, %b : f32
        %sum = arith.addf %acc, %p : f32
        affine.yield %sum : f32
      }
      affine.store %0, %y[%i, %d] : memref<64x3xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  memref.dealloc %s : memref<64x512xf32>
  return
}
