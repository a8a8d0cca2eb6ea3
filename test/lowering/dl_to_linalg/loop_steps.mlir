// RUN: dlc-opt %s --convert-dl-to-linalg --split-input-file --verify-diagnostics | filecheck %s
// A loop whose step is not positive would never end: refused where it is known, else checked before the loop.

// CHECK-LABEL: func.func @computed_step(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[S:.*]]: index)
// CHECK: %[[ONE:.*]] = arith.constant 1 : index
// CHECK: %[[HOLDS:.*]] = arith.cmpi sge, %[[S]], %[[ONE]] : index
// CHECK: cf.assert %[[HOLDS]], "'scf.for'{{.*}}: the step is {} but must be at least {}"
// CHECK-NEXT: scf.for %{{.*}} step %[[S]]
func.func @computed_step(%x: tensor<4xf32>, %s: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %0 = scf.for %i = %c0 to %c3 step %s iter_args(%a = %x) -> (tensor<4xf32>) {
    %1 = "dl.add"(%a, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @known_step(
// CHECK-NOT: cf.assert
func.func @known_step(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %0 = scf.for %i = %c0 to %c3 step %c2 iter_args(%a = %x) -> (tensor<4xf32>) {
    %1 = "dl.add"(%a, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @no_step(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  // expected-error@+1 {{the loop's step is 0, so it never ends; make it 1 or more}}
  %0 = scf.for %i = %c0 to %c3 step %c0 iter_args(%a = %x) -> (tensor<4xf32>) {
    %1 = "dl.add"(%a, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @too_many_steps(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c1 = arith.constant 1 : index
  %most = arith.constant 4398046511104 : index
  // expected-error@+1 {{the loop has 4398046511103 steps, which would take hours; make it 1099511627776 or fewer, or a condition end it}}
  %0 = scf.for %i = %c1 to %most step %c1 iter_args(%a = %x) -> (tensor<4xf32>) {
    %1 = "dl.add"(%a, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
