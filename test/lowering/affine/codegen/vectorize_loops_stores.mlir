// RUN: dlc-opt %s "--affine-vectorize-loops=vector-bits=128 registers=16" | filecheck %s
// A reduction that reads no memory, as the mean of a row that the same loop fills: its store becomes vectors, too.

// CHECK-LABEL: func.func private @filled_row(
// CHECK-SAME: %[[X:.*]]: memref<?x64xf32>, %[[Y:.*]]: memref<?xf32>
// CHECK: affine.for %[[I:.*]] = 0 to
// CHECK: affine.for %[[J:.*]] = 0 to 64 step 8 iter_args(%[[A:.*]] = {{.*}}, %[[B:.*]] = {{.*}}) -> (vector<4xf32>, vector<4xf32>)
// CHECK: %[[ONES:.*]] = arith.constant dense<1.000000e+00> : vector<4xf32>
// CHECK: affine.vector_store %[[ONES]], %[[X]][%[[I]], %[[J]]]
// CHECK: affine.vector_store %[[ONES]], %[[X]][%[[I]], %[[J]] + 4]
// CHECK: arith.addf %[[A]], %[[ONES]] : vector<4xf32>
// CHECK: arith.addf %[[B]], %[[ONES]] : vector<4xf32>
// CHECK: vector.reduction <add>
// CHECK: affine.store {{.*}}, %[[Y]][%[[I]]]
func.func private @filled_row(%x: memref<?x64xf32>, %y: memref<?xf32>, %n: index) {
  %one = arith.constant 1.0 : f32
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to %n {
    %s = affine.for %j = 0 to 64 iter_args(%acc = %zero) -> (f32) {
      affine.store %one, %x[%i, %j] : memref<?x64xf32>
      %a = arith.addf %acc, %one : f32
      affine.yield %a : f32
    }
    affine.store %s, %y[%i] : memref<?xf32>
  } {dlc.parallel}
  return
}
