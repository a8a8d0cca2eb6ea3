// RUN: dlc-opt %s --affine-coalesce-loops | filecheck %s
// no-match: as one loop, they would be more than any size says. The pass refuses nothing.

// CHECK-LABEL: func.func private @huge(
// CHECK-NOT: collapse_shape
// CHECK: affine.for %{{.*}} = 0 to 4398046511104 {
// CHECK-NEXT: affine.for %{{.*}} = 0 to 4398046511104 {
func.func private @huge(%x: memref<4398046511104x4398046511104x16xf32> {llvm.noalias}, %w: memref<16x8xf32> {llvm.noalias}, %y: memref<4398046511104x4398046511104x8xf32> {llvm.noalias}) attributes {dl.kernel} {
  %zero = arith.constant 0.0 : f32
  affine.for %h = 0 to 4398046511104 {
    affine.for %i = 0 to 4398046511104 {
      affine.for %j = 0 to 8 {
        %s = affine.for %k = 0 to 16 iter_args(%t = %zero) -> (f32) {
          %l = affine.load %x[%h, %i, %k] : memref<4398046511104x4398046511104x16xf32>
          %r = affine.load %w[%k, %j] : memref<16x8xf32>
          %p = arith.mulf %l, %r : f32
          %u = arith.addf %t, %p : f32
          affine.yield %u : f32
        }
        affine.store %s, %y[%h, %i, %j] : memref<4398046511104x4398046511104x8xf32>
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  return
}
