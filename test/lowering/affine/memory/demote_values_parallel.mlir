// RUN: dlc-opt %s --affine-demote-values | filecheck %s
// Loops without an order that combine values become loops with one, which a scheduler may change.

// CHECK-LABEL: func.func @combined
// CHECK: %[[START:.*]] = arith.constant -0.000000e+00 : f32
// CHECK: affine.store %[[START]], %[[SUM:.*]][]
// CHECK: affine.for %{{.*}} = 0 to 10 step 2
// CHECK: affine.for
// CHECK: %[[TERM:.*]] = affine.load %arg0
// CHECK: %[[BEFORE:.*]] = affine.load %[[SUM]][]
// CHECK: %[[AFTER:.*]] = arith.addf %[[BEFORE]], %[[TERM]] fastmath<reassoc>
// CHECK: affine.store %[[AFTER]], %[[SUM]][]
func.func @combined(%m: memref<10x20xf32>) -> f32 {
  %p = affine.parallel (%i, %j) = (0, 0) to (10, 20) step (2, 1) reduce ("addf") -> f32 {
    %x = affine.load %m[%i, %j] : memref<10x20xf32>
    affine.yield %x : f32
  }
  return %p : f32
}
