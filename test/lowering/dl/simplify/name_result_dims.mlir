// RUN: dlc-opt %s --dl-name-result-dims --split-input-file | filecheck %s
// Results get the names of dims of arguments that their own dims equal. The pass refuses nothing.

// CHECK-LABEL: func.func @f(
// CHECK-SAME: -> (tensor<?x?xf32> {dl.dims = ["m", "n"], dl.name = "t"}, tensor<2x?xi64>, tensor<?xf32> {dl.dims = ["n"]})
func.func @f(%x: tensor<?x?xf32> {dl.dims = ["n", "m"]}) -> (tensor<?x?xf32> {dl.name = "t"}, tensor<2x?xi64>, tensor<?xf32>) {
  %t = "dl.transpose"(%x) {perm = array<i64: 1, 0>} : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %places = "dl.nonzero"(%x) : (tensor<?x?xf32>) -> tensor<2x?xi64>
  %sum = "dl.reduce_sum"(%x) {axes = array<i64: 1>, keepdims = false} : (tensor<?x?xf32>) -> tensor<?xf32>
  return %t, %places, %sum : tensor<?x?xf32>, tensor<2x?xi64>, tensor<?xf32>
}

// -----

// What a loop collects is as large as the tensor that it begins with, whose sizes are read of a shape.

// CHECK-LABEL: func.func @loop(
// CHECK-SAME: -> (tensor<4x?xf32> {dl.dims = ["", "n"]})
func.func @loop(%x: tensor<?xf32> {dl.dims = ["n"]}) -> tensor<4x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %s = "dl.shape_of"(%x) {end = 1 : i64} : (tensor<?xf32>) -> tensor<1xi64>
  %e = tensor.extract %s[%c0] : tensor<1xi64>
  %n = arith.index_cast %e : i64 to index
  %none = tensor.empty(%n) : tensor<4x?xf32>
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%rows = %none) -> tensor<4x?xf32> {
    %row = "dl.relu"(%x) : (tensor<?xf32>) -> tensor<?xf32>
    %more = tensor.insert_slice %row into %rows[%i, 0] [1, %n] [1, 1] : tensor<?xf32> into tensor<4x?xf32>
    scf.yield %more : tensor<4x?xf32>
  }
  return %r : tensor<4x?xf32>
}

// -----

// no-match: arguments without names, and a result that has names already.

// CHECK-LABEL: func.func @unnamed(
// CHECK-SAME: %{{.*}}: tensor<?xf32>) -> tensor<?xf32> {
func.func @unnamed(%x: tensor<?xf32>) -> tensor<?xf32> {
  %r = "dl.relu"(%x) : (tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// CHECK-LABEL: func.func @named(
// CHECK-SAME: -> (tensor<?xf32> {dl.dims = ["rows"]})
func.func @named(%x: tensor<?xf32> {dl.dims = ["n"]}) -> (tensor<?xf32> {dl.dims = ["rows"]}) {
  %r = "dl.relu"(%x) : (tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

// Names that are none are left to `dl-bind-params`, which refuses them.

// CHECK-LABEL: func.func @no_names(
// CHECK-SAME: {dl.dims = 3 : i64}, %{{.*}}: tensor<?xf32> {dl.dims = [4]}) -> tensor<?xf32> {
func.func @no_names(%x: tensor<?xf32> {dl.dims = 3}, %y: tensor<?xf32> {dl.dims = [4]}) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}
