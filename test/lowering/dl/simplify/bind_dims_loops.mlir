// RUN: dlc-opt %s --dl-bind-dims=sizes=batch=4 --split-input-file | filecheck %s
// Sizes are written into what loops carry, where each step keeps them.

// CHECK-LABEL: func.func @kept
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>, %[[N:.*]]: index) -> tensor<?x4x8xf32>
// CHECK: %[[E:.*]] = tensor.empty(%[[N]]) : tensor<?x4x8xf32>
// CHECK: %[[R:.*]]:2 = scf.for {{.*}} iter_args(%[[A:.*]] = %[[X]], %[[S:.*]] = %[[E]]) -> (tensor<4x8xf32>, tensor<?x4x8xf32>)
// CHECK: %[[B:.*]] = "dl.relu"(%[[A]]) : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK: %[[T:.*]] = tensor.insert_slice %[[B]] into %[[S]][%{{.*}}, 0, 0] [1, 4, 8] [1, 1, 1] : tensor<4x8xf32> into tensor<?x4x8xf32>
// CHECK-NOT: tensor.cast
// CHECK: scf.yield %[[B]], %[[T]] : tensor<4x8xf32>, tensor<?x4x8xf32>
// CHECK: return %[[R]]#1 : tensor<?x4x8xf32>
func.func @kept(%x: tensor<?x8xf32> {dl.dims = ["batch", ""]}, %n: index) -> tensor<?x?x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %shape = "dl.shape_of"(%x) {end = 1 : i64} : (tensor<?x8xf32>) -> tensor<1xi64>
  %size = tensor.extract %shape[%c0] : tensor<1xi64>
  %batch = arith.index_cast %size : i64 to index
  %e = tensor.empty(%n, %batch) : tensor<?x?x8xf32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %s = %e) -> (tensor<?x8xf32>, tensor<?x?x8xf32>) {
    %b = "dl.relu"(%a) : (tensor<?x8xf32>) -> tensor<?x8xf32>
    %t = tensor.insert_slice %b into %s[%i, 0, 0] [1, %batch, 8] [1, 1, 1] : tensor<?x8xf32> into tensor<?x?x8xf32>
    scf.yield %b, %t : tensor<?x8xf32>, tensor<?x?x8xf32>
  }
  return %r#1 : tensor<?x?x8xf32>
}

// -----

// no-match: a value that grows keeps its type, with casts at the edges of the loop.
// CHECK-LABEL: func.func @grown
// CHECK: %[[C:.*]] = tensor.cast %{{.*}} : tensor<4xf32> to tensor<?xf32>
// CHECK: scf.while (%{{.*}} = %{{.*}}, %[[A:.*]] = %[[C]]) : (index, tensor<?xf32>)
// CHECK: %[[B:.*]] = "dl.concat"({{.*}}) {axis = 0 : i64} : (tensor<?xf32>, tensor<4xf32>) -> tensor<?xf32>
// CHECK: scf.yield %{{.*}}, %[[B]] : index, tensor<?xf32>
func.func @grown(%x: tensor<?xf32> {dl.dims = ["batch"]}, %n: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.while (%i = %c0, %a = %x) : (index, tensor<?xf32>) -> (index, tensor<?xf32>) {
    %p = arith.cmpi slt, %i, %n : index
    scf.condition(%p) %i, %a : index, tensor<?xf32>
  } do {
  ^bb0(%i: index, %a: tensor<?xf32>):
    %b = "dl.concat"(%a, %x) {axis = 0} : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    %j = arith.addi %i, %c1 : index
    scf.yield %j, %b : index, tensor<?xf32>
  }
  return %r#1 : tensor<?xf32>
}
