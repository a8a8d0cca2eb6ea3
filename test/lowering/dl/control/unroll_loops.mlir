// RUN: dlc-opt %s --dl-unroll-loops --split-input-file | filecheck %s
// RUN: dlc-opt %s --dl-unroll-loops=limit=1 --split-input-file | filecheck %s --check-prefix=LIMIT
// Short loops are written out, with their numbers as constants; the pass refuses nothing.

// CHECK-LABEL: func.func @short
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>, %[[T:.*]]: tensor<3x4xf32>)
// CHECK-NOT: scf.for
// CHECK: %[[ZERO:.*]] = "dl.constant"() {value = dense<0> : tensor<i64>}
// CHECK: %[[G0:.*]] = "dl.gather"(%[[T]], %[[ZERO]])
// CHECK: %[[S0:.*]] = "dl.add"(%[[X]], %[[G0]])
// CHECK: %[[TWO:.*]] = "dl.constant"() {value = dense<2> : tensor<i64>}
// CHECK: %[[G1:.*]] = "dl.gather"(%[[T]], %[[TWO]])
// CHECK: %[[S1:.*]] = "dl.add"(%[[S0]], %[[G1]])
// CHECK: return %[[S1]]
// LIMIT-LABEL: func.func @short
// LIMIT: scf.for
func.func @short(%x: tensor<4xf32>, %t: tensor<3x4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %0 = scf.for %i = %c0 to %c3 step %c2 iter_args(%a = %x) -> (tensor<4xf32>) {
    %n = arith.index_cast %i : index to i64
    %at = tensor.from_elements %n : tensor<i64>
    %row = "dl.gather"(%t, %at) : (tensor<3x4xf32>, tensor<i64>) -> tensor<4xf32>
    %1 = "dl.add"(%a, %row) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

// no-match: the number of steps is not known.
// CHECK-LABEL: func.func @unknown
// CHECK: scf.for
func.func @unknown(%x: tensor<4xf32>, %n: tensor<i64>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.extract %n[] : tensor<i64>
  %k = arith.index_cast %m : i64 to index
  %0 = scf.for %i = %c0 to %k step %c1 iter_args(%a = %x) -> (tensor<4xf32>) {
    %1 = "dl.exp"(%a) : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
