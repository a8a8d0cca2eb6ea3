// RUN: dlc-opt %s --dl-outline-bodies --split-input-file | filecheck %s
// RUN: dlc-opt %s --dl-outline-bodies --dl-outline-bodies --split-input-file | filecheck %s
// RUN: dlc-opt %s --dl-outline-bodies --dl-inline-bodies --split-input-file | filecheck %s --check-prefix=BACK
// Regions become functions and come back; the pass refuses nothing.

// CHECK-LABEL: func.func @branch
// CHECK-SAME: (%[[X:.*]]: tensor<?x4xf32> {dl.dims = ["batch", ""]}, %[[C:.*]]: tensor<i1>)
// CHECK: scf.if
// CHECK-NEXT: %[[Y:.*]] = func.call @[[FIRST:.*]](%[[X]])
// CHECK-NEXT: scf.yield %[[Y]]
// CHECK-NEXT: } else {
// CHECK-NEXT: %[[Z:.*]] = func.call @[[SECOND:.*]](%[[X]])
// CHECK-NEXT: scf.yield %[[Z]]
// CHECK: func.func private @[[FIRST]]
// CHECK-NEXT: %[[W:.*]] = "dl.param"() {{.*}}key = "w"
// CHECK-NEXT: %[[T:.*]] = "dl.transpose"(%[[W]])
// CHECK-NEXT: "dl.matmul"(%{{.*}}, %[[T]])
// CHECK: func.func private @[[SECOND]](%{{.*}}: tensor<?x4xf32> {dl.dims = ["d0", ""]}) -> (tensor<?x4xf32> {dl.dims = ["d0", ""]}) attributes {dl.body}
// CHECK-NEXT: "dl.exp"
// BACK-LABEL: func.func @branch
// BACK: scf.if
// BACK-NEXT: "dl.param"
// BACK-NEXT: "dl.transpose"
// BACK-NEXT: "dl.matmul"
// BACK-NOT: dl.body
func.func @branch(%x: tensor<?x4xf32> {dl.dims = ["batch", ""]}, %c: tensor<i1>) -> tensor<?x4xf32> {
  %w = "dl.param"() {key = "w", shape = array<i64: 4, 4>, dtype = f32} : () -> tensor<4x4xf32>
  %t = "dl.transpose"(%w) {perm = array<i64: 1, 0>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %p = tensor.extract %c[] : tensor<i1>
  %0 = scf.if %p -> (tensor<?x4xf32>) {
    %1 = "dl.matmul"(%x, %t) : (tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<?x4xf32>
    scf.yield %1 : tensor<?x4xf32>
  } else {
    %1 = "dl.exp"(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
    scf.yield %1 : tensor<?x4xf32>
  }
  return %0 : tensor<?x4xf32>
}

// -----

// The body of a loop holds a call of the body of the branch in it.
// CHECK-LABEL: func.func @nested
// CHECK: scf.while
// CHECK: scf.condition
// CHECK: %{{.*}}:3 = func.call @[[OUTER:.*]](%
// CHECK-NEXT: scf.yield
// CHECK: func.func private @[[INNER:[a-z0-9_]*]]({{.*}}attributes {dl.body}
// CHECK-NEXT: "dl.neg"
// CHECK: func.func private @[[OUTER]]({{.*}}attributes {dl.body}
// CHECK: scf.if
// CHECK-NEXT: func.call @[[INNER]](
func.func @nested(%x: tensor<4xf32>, %c: tensor<i1>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %go = tensor.extract %c[] : tensor<i1>
  %0:3 = scf.while (%i = %c0, %a = %x, %p = %go) : (index, tensor<4xf32>, i1) -> (index, tensor<4xf32>, i1) {
    scf.condition(%p) %i, %a, %p : index, tensor<4xf32>, i1
  } do {
  ^bb0(%i: index, %a: tensor<4xf32>, %p: i1):
    %1 = "dl.exp"(%a) : (tensor<4xf32>) -> tensor<4xf32>
    %2 = scf.if %p -> (tensor<4xf32>) {
      %3 = "dl.neg"(%1) : (tensor<4xf32>) -> tensor<4xf32>
      scf.yield %3 : tensor<4xf32>
    } else {
      scf.yield %1 : tensor<4xf32>
    }
    %m = "dl.reduce_max"(%2) {axes = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
    %l = "dl.less"(%m, %m) : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %q = tensor.extract %l[] : tensor<i1>
    %j = arith.addi %i, %c1 : index
    scf.yield %j, %2, %q : index, tensor<4xf32>, i1
  }
  return %0#1 : tensor<4xf32>
}

// -----

// no-match: no branch, no loop.
// CHECK-LABEL: func.func @plain
// CHECK-NOT: dl.body
func.func @plain(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "dl.exp"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
