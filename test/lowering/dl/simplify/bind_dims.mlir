// RUN: dlc-opt %s --dl-bind-dims=sizes=seq=128,1:0=2 --split-input-file | filecheck %s
// RUN: not dlc-opt %s --dl-bind-dims=sizes=seq=12 2>&1 | filecheck %s --check-prefix=BOUNDS
// RUN: not dlc-opt %s --dl-bind-dims=sizes=length=12 2>&1 | filecheck %s --check-prefix=NAME
// RUN: not dlc-opt %s --dl-bind-dims=sizes=seq 2>&1 | filecheck %s --check-prefix=PAIR
// RUN: echo 'func.func @f(%%x: tensor<f32>) { return }' | not dlc-opt --dl-bind-dims=sizes=0:0=3 2>&1 | filecheck %s --check-prefix=AXIS
// Sizes are written into arguments and what follows from them, and other dims stay as they are.

// BOUNDS: error: {{.*}}dim 'seq' is 12, and its bounds are 8..512, a multiple of 8; give a size within these
// NAME: error: {{.*}}no argument has a dim 'length' (dims: batch, seq); give the name of one, or argument:axis
// AXIS: error: an argument of rank 0 has no axis 0; count axes from 0
// PAIR: error: {{.*}}'seq' gives no dim a size; write seq=128, or 0:1=128 for axis 1 of argument 0

// CHECK-LABEL: func.func @heads(
// CHECK-SAME: %[[X:.*]]: tensor<?x128x12xf32> {dl.dims = ["batch", "", ""], dl.name = "x"}
// CHECK-SAME: %[[Y:.*]]: tensor<2xf32>) -> tensor<?x128x3x4xf32>
// CHECK-SAME: dl.bounds = {batch = array<i64: 1, 64, 1>}
// CHECK: "dl.reshape"(%[[X]], %{{.*}}) {{.*}} -> tensor<?x128x3x4xf32>
func.func @heads(%x: tensor<?x?x12xf32> {dl.dims = ["batch", "seq", ""], dl.name = "x"}, %y: tensor<?xf32>) -> tensor<?x?x?x?xf32>
    attributes {dl.bounds = {batch = array<i64: 1, 64, 1>, seq = array<i64: 8, 512, 8>}} {
  %rest = "dl.constant"() {value = dense<[3, 4]> : tensor<2xi64>} : () -> tensor<2xi64>
  %own = "dl.shape_of"(%x) {end = 2 : i64} : (tensor<?x?x12xf32>) -> tensor<2xi64>
  %sizes = "dl.concat"(%own, %rest) {axis = 0} : (tensor<2xi64>, tensor<2xi64>) -> tensor<4xi64>
  %r = "dl.reshape"(%x, %sizes) {shape = array<i64: -1, -1, -1, -1>} : (tensor<?x?x12xf32>, tensor<4xi64>) -> tensor<?x?x?x?xf32>
  return %r : tensor<?x?x?x?xf32>
}

// -----

// A branch keeps its types: what goes into it and comes out of it is cast.

// CHECK-LABEL: func.func @branch(
// CHECK: %[[R:.*]] = "dl.relu"(%{{.*}}) : (tensor<128xf32>) -> tensor<128xf32>
// CHECK: %[[IF:.*]] = scf.if
// CHECK: %[[C:.*]] = tensor.cast %[[R]] : tensor<128xf32> to tensor<?xf32>
// CHECK: scf.yield %[[C]]
// CHECK: return %[[IF]] : tensor<?xf32>
func.func @branch(%x: tensor<?xf32> {dl.dims = ["seq"]}, %z: tensor<?xf32>, %c: i1) -> tensor<?xf32> {
  %r = "dl.relu"(%x) : (tensor<?xf32>) -> tensor<?xf32>
  %y = scf.if %c -> tensor<?xf32> {
    scf.yield %r : tensor<?xf32>
  } else {
    %n = "dl.neg"(%x) : (tensor<?xf32>) -> tensor<?xf32>
    scf.yield %n : tensor<?xf32>
  }
  return %y : tensor<?xf32>
}

// -----

// no-match: a function that others call alone.
// CHECK-LABEL: func.func private @inner(%arg0: tensor<?xf32> {dl.dims = ["seq"]})
func.func private @inner(%x: tensor<?xf32> {dl.dims = ["seq"]}) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}
// CHECK-LABEL: func.func @outer(%arg0: tensor<128xf32>, %arg1: tensor<2xf32>)
// CHECK: %[[C:.*]] = tensor.cast %arg0 : tensor<128xf32> to tensor<?xf32>
// CHECK: call @inner(%[[C]])
func.func @outer(%x: tensor<?xf32> {dl.dims = ["seq"]}, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = call @inner(%x) : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
