// RUN: dlc-opt %s --dl-set-target=target=x86-64-v4 --affine-tile-registers | filecheck %s
// The sum of two products is added to an accumulator as two multiply-adds.

// CHECK-LABEL: func.func private @two(
// CHECK: %[[FIRST:.*]] = vector.fma %{{.*}}, %{{.*}}, %{{.*}} : vector<16xf32>
// CHECK: vector.fma %{{.*}}, %{{.*}}, %[[FIRST]] : vector<16xf32>
// CHECK-NOT: arith.mulf
// CHECK: return
func.func private @two(%a: memref<1x64xf32>, %b: memref<32x16xf32>, %c: memref<1x16xf32>) {
  affine.for %i = 0 to 1 {
    affine.for %j = 0 to 16 {
      %0 = affine.load %c[%i, %j] : memref<1x16xf32>
      %1 = affine.for %k = 0 to 32 iter_args(%acc = %0) -> (f32) {
        %x0 = affine.load %a[%i, %k * 2] : memref<1x64xf32>
        %x1 = affine.load %a[%i, %k * 2 + 1] : memref<1x64xf32>
        %y = affine.load %b[%k, %j] : memref<32x16xf32>
        %p0 = arith.mulf %x0, %y : f32
        %p1 = arith.mulf %x1, %y : f32
        %both = arith.addf %p0, %p1 : f32
        %s = arith.addf %acc, %both : f32
        affine.yield %s : f32
      }
      affine.store %1, %c[%i, %j] : memref<1x16xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// no-match: the product is taken twice, so the sum of both stays.
// CHECK-LABEL: func.func private @twice(
// CHECK: %[[PRODUCT:.*]] = arith.mulf {{.*}} : vector<16xf32>
// CHECK: %[[BOTH:.*]] = arith.addf %[[PRODUCT]], %[[PRODUCT]]
// CHECK: arith.addf %{{.*}}, %[[BOTH]]
// CHECK-NOT: vector.fma
// CHECK: return
func.func private @twice(%a: memref<1x32xf32>, %b: memref<32x16xf32>, %c: memref<1x16xf32>) {
  affine.for %i = 0 to 1 {
    affine.for %j = 0 to 16 {
      %0 = affine.load %c[%i, %j] : memref<1x16xf32>
      %1 = affine.for %k = 0 to 32 iter_args(%acc = %0) -> (f32) {
        %x = affine.load %a[%i, %k] : memref<1x32xf32>
        %y = affine.load %b[%k, %j] : memref<32x16xf32>
        %p = arith.mulf %x, %y : f32
        %both = arith.addf %p, %p : f32
        %s = arith.addf %acc, %both : f32
        affine.yield %s : f32
      }
      affine.store %1, %c[%i, %j] : memref<1x16xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}
