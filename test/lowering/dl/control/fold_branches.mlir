// RUN: dlc-opt %s --dl-fold-branches --split-input-file | filecheck %s
// Branches whose way is known go, and loops of no steps; the pass refuses nothing.

// CHECK-LABEL: func.func @known
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[Y:.*]] = "dl.relu"(%[[X]])
// CHECK-NEXT: return %[[Y]]
func.func @known(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = "dl.constant"() {value = dense<true> : tensor<i1>} : () -> tensor<i1>
  %p = tensor.extract %c[] : tensor<i1>
  %0 = scf.if %p -> (tensor<4xf32>) {
    %1 = "dl.relu"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  } else {
    %1 = "dl.exp"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

// Inside of a branch that is not known, one that compares known numbers.
// CHECK-LABEL: func.func @nested
// CHECK: scf.if
// CHECK-NEXT: "dl.exp"
// CHECK-NEXT: scf.yield
// CHECK-NEXT: } else {
// CHECK-NEXT: scf.yield %{{.*}} : tensor<4xf32>
func.func @nested(%x: tensor<4xf32>, %c: tensor<i1>) -> tensor<4xf32> {
  %n = "dl.constant"() {value = dense<[2]> : tensor<1xi64>} : () -> tensor<1xi64>
  %zero = arith.constant 0 : index
  %two = arith.constant 2 : index
  %p = tensor.extract %c[] : tensor<i1>
  %0 = scf.if %p -> (tensor<4xf32>) {
    %m = tensor.extract %n[%zero] : tensor<1xi64>
    %k = arith.index_cast %m : i64 to index
    %less = arith.cmpi slt, %k, %two : index
    %1 = scf.if %less -> (tensor<4xf32>) {
      %2 = "dl.relu"(%x) : (tensor<4xf32>) -> tensor<4xf32>
      scf.yield %2 : tensor<4xf32>
    } else {
      %2 = "dl.exp"(%x) : (tensor<4xf32>) -> tensor<4xf32>
      scf.yield %2 : tensor<4xf32>
    }
    scf.yield %1 : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @no_steps
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
// CHECK-NOT: scf.for
// CHECK: return %[[X]]
func.func @no_steps(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.for %i = %c1 to %c0 step %c1 iter_args(%a = %x) -> (tensor<4xf32>) {
    %1 = "dl.relu"(%a) : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

// no-match: the condition is an argument.
// CHECK-LABEL: func.func @unknown
// CHECK: scf.if
func.func @unknown(%x: tensor<4xf32>, %c: tensor<i1>) -> tensor<4xf32> {
  %p = tensor.extract %c[] : tensor<i1>
  %0 = scf.if %p -> (tensor<4xf32>) {
    %1 = "dl.relu"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

// Numbers wrap as their types do: the largest index and one are below one, and -1 of i32 is 4294967295 without its sign.
// CHECK-LABEL: func.func @wrapped
// CHECK-NEXT: "dl.relu"
func.func @wrapped(%x: tensor<4xf32>) -> tensor<4xf32> {
  %most = arith.constant 9223372036854775807 : index
  %one = arith.constant 1 : index
  %sum = arith.addi %most, %one : index
  %below = arith.cmpi slt, %sum, %one : index
  %minus = arith.constant -1 : i32
  %wide = arith.extui %minus : i32 to i64
  %zero = arith.constant 0 : i64
  %above = arith.cmpi sgt, %wide, %zero : i64
  %both = arith.andi %below, %above : i1
  %0 = scf.if %both -> (tensor<4xf32>) {
    %1 = "dl.relu"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  } else {
    %1 = "dl.exp"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
