// RUN: dlc-opt %s --dl-hoist-invariants --split-input-file | filecheck %s
// What no step changes is computed before the loop; the pass refuses nothing.

// CHECK-LABEL: func.func @transposed
// CHECK: "dl.transpose"
// CHECK: scf.for
// CHECK-NOT: "dl.transpose"
// CHECK: "dl.matmul"
func.func @transposed(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %n: index) -> tensor<4x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (tensor<4x4xf32>) {
    %t = "dl.transpose"(%w) {perm = array<i64: 1, 0>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %1 = "dl.matmul"(%a, %t) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.yield %1 : tensor<4x4xf32>
  }
  return %0 : tensor<4x4xf32>
}

// -----

// no-match: a branch computes nothing that is not asked for.
// CHECK-LABEL: func.func @branch
// CHECK: scf.if
// CHECK-NEXT: "dl.exp"
func.func @branch(%x: tensor<4xf32>, %p: i1) -> tensor<4xf32> {
  %0 = scf.if %p -> (tensor<4xf32>) {
    %1 = "dl.exp"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
