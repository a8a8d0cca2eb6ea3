// RUN: dlc-opt %s --dl-count-loops --split-input-file | filecheck %s
// RUN: not dlc-opt %s --dl-count-loops=limit=1 --split-input-file 2>&1 | filecheck %s --check-prefix=OPTION
// A loop that counts, and carries what keeps its shape, is an scf.for.

// OPTION: has no option 'limit'

// CHECK-LABEL: func.func @counted
// CHECK-SAME: (%[[X:.*]]: tensor<?xf32>, %[[N:.*]]: index)
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK: %[[R:.*]] = scf.for %[[I:.*]] = %{{.*}} to %[[N]] step %{{.*}} iter_args(%[[A:.*]] = %[[X]]) -> (tensor<?xf32>)
// CHECK: %[[B:.*]] = "dl.relu"(%[[A]])
// CHECK: scf.yield %[[B]] : tensor<?xf32>
// CHECK: %[[K:.*]] = arith.maxsi %[[N]], %{{.*}} : index
// CHECK: return %[[K]], %[[R]]
func.func @counted(%x: tensor<?xf32>, %n: index) -> (index, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %true = arith.constant true
  %r:3 = scf.while (%i = %c0, %a = %x, %g = %true) : (index, tensor<?xf32>, i1) -> (index, tensor<?xf32>, i1) {
    %p = arith.cmpi slt, %i, %n : index
    %q = arith.andi %p, %g : i1
    scf.condition(%q) %i, %a, %g : index, tensor<?xf32>, i1
  } do {
  ^bb0(%i: index, %a: tensor<?xf32>, %g: i1):
    %b = "dl.relu"(%a) : (tensor<?xf32>) -> tensor<?xf32>
    %j = arith.addi %i, %c1 : index
    scf.yield %j, %b, %true : index, tensor<?xf32>, i1
  }
  return %r#0, %r#1 : index, tensor<?xf32>
}

// -----

// no-match: what it carries grows.
// CHECK-LABEL: func.func @growing
// CHECK: scf.while
func.func @growing(%x: tensor<?xf32>, %y: tensor<2xf32>, %n: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %true = arith.constant true
  %r:3 = scf.while (%i = %c0, %a = %x, %g = %true) : (index, tensor<?xf32>, i1) -> (index, tensor<?xf32>, i1) {
    %p = arith.cmpi slt, %i, %n : index
    %q = arith.andi %p, %g : i1
    scf.condition(%q) %i, %a, %g : index, tensor<?xf32>, i1
  } do {
  ^bb0(%i: index, %a: tensor<?xf32>, %g: i1):
    %b = "dl.concat"(%a, %y) {axis = 0} : (tensor<?xf32>, tensor<2xf32>) -> tensor<?xf32>
    %j = arith.addi %i, %c1 : index
    scf.yield %j, %b, %true : index, tensor<?xf32>, i1
  }
  return %r#1 : tensor<?xf32>
}

// -----

// no-match: a step decides whether another one follows.
// CHECK-LABEL: func.func @asked
// CHECK: scf.while
func.func @asked(%x: tensor<4xf32>, %more: i1, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %true = arith.constant true
  %r:3 = scf.while (%i = %c0, %a = %x, %g = %true) : (index, tensor<4xf32>, i1) -> (index, tensor<4xf32>, i1) {
    %p = arith.cmpi slt, %i, %n : index
    %q = arith.andi %p, %g : i1
    scf.condition(%q) %i, %a, %g : index, tensor<4xf32>, i1
  } do {
  ^bb0(%i: index, %a: tensor<4xf32>, %g: i1):
    %b = "dl.relu"(%a) : (tensor<4xf32>) -> tensor<4xf32>
    %j = arith.addi %i, %c1 : index
    scf.yield %j, %b, %more : index, tensor<4xf32>, i1
  }
  return %r#1 : tensor<4xf32>
}

// -----

// no-match: a loop without end, which is left by cancelling the call. What takes an index is not run by the tests of lit files.
// CHECK-LABEL: func.func @endless
// CHECK: scf.while
func.func @endless(%x: tensor<4xf32>, %m: index) -> (index, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 9223372036854775807 : index
  %true = arith.constant true
  %r:3 = scf.while (%i = %c0, %a = %x, %g = %true) : (index, tensor<4xf32>, i1) -> (index, tensor<4xf32>, i1) {
    %p = arith.cmpi slt, %i, %n : index
    %q = arith.andi %p, %g : i1
    scf.condition(%q) %i, %a, %g : index, tensor<4xf32>, i1
  } do {
  ^bb0(%i: index, %a: tensor<4xf32>, %g: i1):
    %b = "dl.relu"(%a) : (tensor<4xf32>) -> tensor<4xf32>
    %j = arith.addi %i, %c1 : index
    scf.yield %j, %b, %true : index, tensor<4xf32>, i1
  }
  %k = arith.addi %r#0, %m : index
  return %k, %r#1 : index, tensor<4xf32>
}
