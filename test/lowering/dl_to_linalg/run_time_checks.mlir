// RUN: dlc-opt %s --convert-dl-to-linalg --canonicalize --split-input-file --verify-diagnostics | filecheck %s
// Sizes that types leave open are asserted to fit each other; equal symbols and static sizes need no check.

// CHECK-LABEL: func.func @contraction(
// CHECK-SAME: %[[A:.*]]: tensor<3x?xf32>, %[[B:.*]]: tensor<?x5xf32>)
// CHECK-DAG: %[[K:.*]] = tensor.dim %[[A]]
// CHECK-DAG: %[[L:.*]] = tensor.dim %[[B]]
// CHECK: %[[SAME:.*]] = arith.cmpi eq, %[[K]], %[[L]] : index
// CHECK: cf.assert %[[SAME]], "'dl.matmul' at node 'product': lhs dim 1 is {} but rhs dim 0 is {}"
// CHECK: linalg.generic
func.func @contraction(%a: tensor<3x?xf32>, %b: tensor<?x5xf32>) -> tensor<3x5xf32> {
  %0 = "dl.matmul"(%a, %b) : (tensor<3x?xf32>, tensor<?x5xf32>) -> tensor<3x5xf32> loc("product")
  return %0 : tensor<3x5xf32>
}

// -----

// CHECK-LABEL: func.func @broadcast(
// CHECK-SAME: %[[A:.*]]: tensor<?xf32>
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[SIZE:.*]] = tensor.dim %[[A]]
// CHECK-DAG: %[[SAME:.*]] = arith.cmpi eq, %[[SIZE]], %{{c3.*}} : index
// CHECK-DAG: %[[SINGLE:.*]] = arith.cmpi eq, %[[SIZE]], %[[ONE]] : index
// CHECK: %[[FITS:.*]] = arith.ori %[[SAME]], %[[SINGLE]] : i1
// CHECK: cf.assert %[[FITS]], "'dl.add'{{.*}}: lhs dim 0 is {} but the result's is {}"
func.func @broadcast(%a: tensor<?xf32>, %b: tensor<3xf32>) -> tensor<3xf32> {
  %0 = "dl.add"(%a, %b) : (tensor<?xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

// A constant goes to the right of the comparison, and its name with it.
// CHECK-LABEL: func.func @static_channels(
// CHECK: cf.assert {{.*}}: weight dim 1 times groups is {} but x dim 1 is {}"
func.func @static_channels(%x: tensor<1x3x4x4xf32>, %w: tensor<2x?x1x1xf32>) -> tensor<1x2x4x4xf32> {
  %0 = "dl.conv"(%x, %w) {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>,
      groups = 1 : i64} : (tensor<1x3x4x4xf32>, tensor<2x?x1x1xf32>) -> tensor<1x2x4x4xf32>
  return %0 : tensor<1x2x4x4xf32>
}

// -----

// CHECK-LABEL: func.func @declared(
// CHECK: cf.assert {{.*}}: result dim 0 is {} but its declared size is {}"
func.func @declared(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<7xf32> {
  %0 = "dl.concat"(%a, %b) {axis = 0 : i64} : (tensor<?xf32>, tensor<?xf32>) -> tensor<7xf32>
  return %0 : tensor<7xf32>
}

// -----

// CHECK-LABEL: func.func @equal_symbols(
// CHECK-NOT: cf.assert
// CHECK: return
func.func @equal_symbols(%a: tensor<?x4xf32> {dl.dims = ["n", ""]}, %b: tensor<?x4xf32> {dl.dims = ["n", ""]}) -> tensor<?x2x4xf32> {
  %0 = "dl.add"(%a, %b) : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %1 = "dl.concat"(%0, %b) {axis = 1 : i64} : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x8xf32>
  %2 = "dl.reshape"(%1) {shape = array<i64: -1, 2, 4>} : (tensor<?x8xf32>) -> tensor<?x2x4xf32>
  return %2 : tensor<?x2x4xf32>
}

// -----

func.func @static_sizes(%a: tensor<3x4xf32>, %b: tensor<5x4xf32>) {
  // expected-error@+1 {{'dl.add' op}}
  %0 = "dl.add"(%a, %b) : (tensor<3x4xf32>, tensor<5x4xf32>) -> tensor<5x4xf32>
  return
}

// -----

// What a function states of its dims is checked at its head, once for equal names.

// CHECK-LABEL: func.func @stated(
// CHECK: %[[N:.*]] = tensor.dim %arg0, %{{.*}}
// CHECK: %[[LEAST:.*]] = arith.cmpi sge, %[[N]], %{{.*}}
// CHECK: cf.assert %[[LEAST]], "input 'x': dim 0, 'n', is {} but its least is {}"
// CHECK: %[[MOST:.*]] = arith.cmpi sle, %[[N]], %{{.*}}
// CHECK: cf.assert %[[MOST]], "input 'x': dim 0, 'n', is {} but its most is {}"
// CHECK: %[[PART:.*]] = arith.floordivsi %[[N]], %{{.*}}
// CHECK: %[[WHOLE:.*]] = arith.muli %[[PART]], %{{.*}}
// CHECK: %[[EQUAL:.*]] = arith.cmpi eq, %[[N]], %[[WHOLE]]
// CHECK: cf.assert %[[EQUAL]], "input 'x': dim 0, 'n', is {} but must be a multiple of 8, as {} is"
// CHECK-NOT: cf.assert
func.func @stated(%x: tensor<?xf32> {dl.dims = ["n"], dl.name = "x"}, %y: tensor<?xf32> {dl.dims = ["n"], dl.name = "y"})
    -> tensor<?xf32> attributes {dl.bounds = {n = array<i64: 8, 64, 8>, m = array<i64: 1, 2, 1>}} {
  %0 = "dl.add"(%x, %y) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @vast(%x: tensor<1x1x5xf64>, %w: tensor<1x1x3xf64>) -> tensor<1x1x5xf64> {
  // expected-error@+1 {{a size of 18446744073709551619 on the way is more than any machine can address; make sizes, pads and windows smaller}}
  %0 = "dl.conv"(%x, %w) {pads = array<i64: 9223372036854775807, 9223372036854775807>, dilations = array<i64: 9223372036854775807>}
      : (tensor<1x1x5xf64>, tensor<1x1x3xf64>) -> tensor<1x1x5xf64>
  return %0 : tensor<1x1x5xf64>
}

// -----

func.func @vast_pads_of_empty_images(%x: tensor<0x0x5xf64>, %w: tensor<0x0x?xf64>) -> tensor<0x0x5xf64> {
  // expected-error@+1 {{on the way is more than any machine can address; make sizes, pads and windows smaller}}
  %0 = "dl.conv"(%x, %w) {pads = array<i64: 9223372036854775807, 9223372036854775807>, dilations = array<i64: 9223372036854775807>}
      : (tensor<0x0x5xf64>, tensor<0x0x?xf64>) -> tensor<0x0x5xf64>
  return %0 : tensor<0x0x5xf64>
}

// -----

// The bytes of the padded tensor would wrap to 16.
func.func @vast_window_of_channels(%x: tensor<1x4xf32>) -> tensor<1x4xf32> {
  // expected-error@+1 {{a tensor of 4611686018427387907 elements on the way is more than any machine can address; make sizes, pads and windows smaller}}
  %0 = "dl.lrn"(%x) {size = 4611686018427387904 : i64} : (tensor<1x4xf32>) -> tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}
