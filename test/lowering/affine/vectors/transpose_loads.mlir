// RUN: dlc-opt %s --affine-transpose-loads --split-input-file | filecheck %s
// The pass refuses nothing.

// A column of 4 rows in each of 10 iterations: 2 squares, then 2 columns as they were.
// CHECK-LABEL: func.func @columns
// CHECK-SAME: %[[A:.*]]: memref<16x10xf64>, %[[X:.*]]: memref<10xf64>, %[[I:.*]]: index, %[[S:.*]]: vector<4xf64>
// CHECK: %[[T:.*]] = affine.for %[[J:.*]] = 0 to 8 step 4 iter_args(%[[B:.*]] = %[[S]]) -> (vector<4xf64>)
// CHECK:   %[[R0:.*]] = affine.vector_load %[[A]][symbol(%[[I]]), %[[J]]] : memref<16x10xf64>, vector<4xf64>
// CHECK:   %[[R1:.*]] = affine.vector_load %[[A]][symbol(%[[I]]) + 1, %[[J]]]
// CHECK:   %[[R2:.*]] = affine.vector_load %[[A]][symbol(%[[I]]) + 2, %[[J]]]
// CHECK:   %[[R3:.*]] = affine.vector_load %[[A]][symbol(%[[I]]) + 3, %[[J]]]
// CHECK:   vector.shuffle %[[R0]], %[[R1]] [0, 4, 2, 6]
// CHECK-COUNT-7: vector.shuffle
// CHECK:   affine.load %[[X]][%[[J]]]
// CHECK:   %[[F0:.*]] = math.fma %{{.*}}, %{{.*}}, %[[B]]
// CHECK:   affine.load %[[X]][%[[J]] + 1]
// CHECK:   %[[F1:.*]] = math.fma %{{.*}}, %{{.*}}, %[[F0]]
// CHECK:   affine.load %[[X]][%[[J]] + 3]
// CHECK:   %[[F3:.*]] = math.fma
// CHECK:   affine.yield %[[F3]]
// CHECK: %[[U:.*]] = affine.for %[[K:.*]] = 8 to 10 iter_args(%{{.*}} = %[[T]])
// CHECK:   vector.from_elements
// CHECK: return %[[U]]
func.func @columns(%A: memref<16x10xf64>, %x: memref<10xf64>, %i: index, %s: vector<4xf64>) -> vector<4xf64> {
  %t = affine.for %j = 0 to 10 iter_args(%b = %s) -> (vector<4xf64>) {
    %a0 = affine.load %A[symbol(%i), %j] : memref<16x10xf64>
    %a1 = affine.load %A[symbol(%i) + 1, %j] : memref<16x10xf64>
    %a2 = affine.load %A[symbol(%i) + 2, %j] : memref<16x10xf64>
    %a3 = affine.load %A[symbol(%i) + 3, %j] : memref<16x10xf64>
    %a = vector.from_elements %a0, %a1, %a2, %a3 : vector<4xf64>
    %e = affine.load %x[%j] : memref<10xf64>
    %v = vector.broadcast %e : f64 to vector<4xf64>
    %n = math.fma %a, %v, %b : vector<4xf64>
    affine.yield %n : vector<4xf64>
  }
  return %t : vector<4xf64>
}

// -----

// Bounds that the run time knows: no squares where there are fewer iterations than lanes.
// CHECK: #[[WHOLE:.*]] = affine_map<(d0)[s0] -> (((d0 - s0) floordiv 2) * 2 + s0)>
// CHECK: #[[REST:.*]] = affine_map<(d0)[s0] -> (((d0 - s0) floordiv 2) * 2 + s0, s0)>
// CHECK-LABEL: func.func @triangle
// CHECK: affine.for %[[I:.*]] = 0 to 16
// CHECK:   affine.for %{{.*}} = #{{.*}}(%[[I]])[%[[M:.*]]] to #[[WHOLE]](%[[I]])[%[[M]]] step 2
// CHECK:   affine.for %{{.*}} = max #[[REST]](%[[I]])[%[[M]]] to #
func.func @triangle(%A: memref<16x16xf64>, %m: index, %s: vector<2xf64>, %y: memref<16xf64>) {
  affine.for %i = 0 to 16 {
    %t = affine.for %j = %m to affine_map<(d0) -> (d0)>(%i) iter_args(%b = %s) -> (vector<2xf64>) {
      %a0 = affine.load %A[0, %j] : memref<16x16xf64>
      %a1 = affine.load %A[3, %j] : memref<16x16xf64>
      %a = vector.from_elements %a0, %a1 : vector<2xf64>
      %n = arith.addf %a, %b : vector<2xf64>
      affine.yield %n : vector<2xf64>
    }
    affine.vector_store %t, %y[0] : memref<16xf64>, vector<2xf64>
  }
  return
}

// -----

// no-match: steps along columns; a store between.
// CHECK-LABEL: func.func @others
// CHECK-NOT: vector.shuffle
func.func @others(%A: memref<16x16xf64>, %s: vector<2xf64>) -> (vector<2xf64>, vector<2xf64>) {
  %t = affine.for %j = 0 to 16 iter_args(%b = %s) -> (vector<2xf64>) {
    %a0 = affine.load %A[%j, 0] : memref<16x16xf64>
    %a1 = affine.load %A[%j, 3] : memref<16x16xf64>
    %a = vector.from_elements %a0, %a1 : vector<2xf64>
    %n = arith.addf %a, %b : vector<2xf64>
    affine.yield %n : vector<2xf64>
  }
  %u = affine.for %j = 0 to 8 iter_args(%b = %s) -> (vector<2xf64>) {
    %a0 = affine.load %A[0, %j] : memref<16x16xf64>
    %a1 = affine.load %A[1, %j] : memref<16x16xf64>
    %a = vector.from_elements %a0, %a1 : vector<2xf64>
    affine.store %a0, %A[0, %j + 1] : memref<16x16xf64>
    %n = arith.addf %a, %b : vector<2xf64>
    affine.yield %n : vector<2xf64>
  }
  return %t, %u : vector<2xf64>, vector<2xf64>
}
