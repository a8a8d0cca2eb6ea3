// RUN: dlc-opt %s --convert-dl-to-linalg --canonicalize --cse | filecheck %s
// Reshapes are views on the smallest groups of axes, with static and dynamic dims; repeats are broadcasts.

// CHECK-LABEL: func.func @static(
// CHECK-NEXT: %[[V:.*]] = tensor.collapse_shape %arg0 {{\[\[}}0], [1, 2]] : tensor<2x3x4xf32> into tensor<2x12xf32>
// CHECK-NEXT: return %[[V]]
func.func @static(%x: tensor<2x3x4xf32>) -> tensor<2x12xf32> {
  %0 = "dl.reshape"(%x) {shape = array<i64: 2, 12>} : (tensor<2x3x4xf32>) -> tensor<2x12xf32>
  return %0 : tensor<2x12xf32>
}

// CHECK-LABEL: func.func @copied_dims_stay_apart(
// CHECK: tensor.expand_shape %arg0 {{\[\[}}0], [1], [2, 3]] output_shape [%{{.*}}, %{{.*}}, 3, 4]
// CHECK-NOT: collapse_shape
func.func @copied_dims_stay_apart(%x: tensor<?x?x12xf32>) -> tensor<?x?x3x4xf32> {
  %0 = "dl.reshape"(%x) {shape = array<i64: -1, -1, 3, 4>, copied = array<i64: 0, 1, -1, -1>}
      : (tensor<?x?x12xf32>) -> tensor<?x?x3x4xf32>
  return %0 : tensor<?x?x3x4xf32>
}

// CHECK-LABEL: func.func @left_over(
// CHECK-NEXT: tensor.collapse_shape %arg0 {{\[\[}}0, 1], [2]] : tensor<?x?x4xf32> into tensor<?x4xf32>
func.func @left_over(%x: tensor<?x?x4xf32>) -> tensor<?x4xf32> {
  %0 = "dl.reshape"(%x) {shape = array<i64: -1, 4>} : (tensor<?x?x4xf32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @sizes_of_run_time(
// CHECK: %[[S:.*]] = tensor.extract %arg1[%{{.*}}] : tensor<2xi64>
// CHECK: %[[I:.*]] = arith.index_cast %[[S]] : i64 to index
// CHECK: arith.cmpi slt, %[[I]], %{{.*}} : index
// CHECK: %[[REST:.*]] = arith.floordivsi
// CHECK: arith.select %{{.*}}, %[[REST]], %[[I]] : index
// CHECK: tensor.expand_shape
func.func @sizes_of_run_time(%x: tensor<?x4xf32>, %s: tensor<2xi64>) -> tensor<?x?xf32> {
  %0 = "dl.reshape"(%x, %s) {shape = array<i64: -1, -1>} : (tensor<?x4xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @transpose(
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]} ins(%arg0
func.func @transpose(%x: tensor<?x3xf32>) -> tensor<3x?xf32> {
  %0 = "dl.transpose"(%x) {perm = array<i64: 1, 0>} : (tensor<?x3xf32>) -> tensor<3x?xf32>
  return %0 : tensor<3x?xf32>
}

// CHECK-LABEL: func.func @transpose_of_ones_moves_nothing(
// CHECK-NOT: linalg.generic
func.func @transpose_of_ones_moves_nothing(%x: tensor<2x1x4xf32>) -> tensor<1x2x4xf32> {
  %0 = "dl.transpose"(%x) {perm = array<i64: 1, 0, 2>} : (tensor<2x1x4xf32>) -> tensor<1x2x4xf32>
  return %0 : tensor<1x2x4xf32>
}

// CHECK-LABEL: func.func @expand_of_a_dim_that_may_be_one(
// CHECK: %[[ONE:.*]] = arith.cmpi eq, %{{.*}}, %{{.*}} : index
// CHECK: linalg.generic
// CHECK: %[[AT:.*]] = arith.select %[[ONE]], %{{.*}}, %{{.*}} : index
// CHECK: tensor.extract %arg0[%[[AT]]]
func.func @expand_of_a_dim_that_may_be_one(%x: tensor<?xf32>, %s: tensor<1xi64>) -> tensor<?xf32> {
  %0 = "dl.expand"(%x, %s) {shape = array<i64: -1>} : (tensor<?xf32>, tensor<1xi64>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: func.func @tile(
// CHECK: %[[W:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<2x4x3xf32>)
// CHECK: tensor.collapse_shape %[[W]] {{\[\[}}0], [1, 2]]
func.func @tile(%x: tensor<2x3xf32>) -> tensor<2x12xf32> {
  %0 = "dl.tile"(%x) {repeats = array<i64: 1, 4>} : (tensor<2x3xf32>) -> tensor<2x12xf32>
  return %0 : tensor<2x12xf32>
}

// CHECK-LABEL: func.func @shape_of(
// CHECK: tensor.from_elements %{{.*}}, %{{.*}} : tensor<2xi64>
func.func @shape_of(%x: tensor<?x3xf32>) -> tensor<2xi64> {
  %0 = "dl.shape_of"(%x) : (tensor<?x3xf32>) -> tensor<2xi64>
  return %0 : tensor<2xi64>
}
