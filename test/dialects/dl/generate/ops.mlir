// RUN: dlc-opt %s | dlc-opt | filecheck %s
// Ranges, triangles and one-hot vectors, static and dynamic.

// CHECK-LABEL: func.func @range(
// CHECK: "dl.range"(%arg0, %arg1, %arg2) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
// CHECK-NEXT: "dl.range"(%arg3, %arg4, %arg5) : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<?xf32>
func.func @range(%arg0: tensor<i64>, %arg1: tensor<i64>, %arg2: tensor<i64>,
    %arg3: tensor<f32>, %arg4: tensor<f32>, %arg5: tensor<f32>)
    -> (tensor<?xi64>, tensor<?xf32>) {
  %0 = "dl.range"(%arg0, %arg1, %arg2) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
  %1 = "dl.range"(%arg3, %arg4, %arg5) : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<?xf32>
  return %0, %1 : tensor<?xi64>, tensor<?xf32>
}

// CHECK-LABEL: func.func @trilu(
// CHECK: "dl.trilu"(%arg0) : (tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: "dl.trilu"(%arg1) {k = -1 : i64, upper = false} : (tensor<?x?x4xi1>) -> tensor<?x?x4xi1>
func.func @trilu(%arg0: tensor<3x4xf32>, %arg1: tensor<?x?x4xi1>)
    -> (tensor<3x4xf32>, tensor<?x?x4xi1>) {
  %0 = "dl.trilu"(%arg0) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %1 = "dl.trilu"(%arg1) {k = -1 : i64, upper = false} : (tensor<?x?x4xi1>) -> tensor<?x?x4xi1>
  return %0, %1 : tensor<3x4xf32>, tensor<?x?x4xi1>
}

// CHECK-LABEL: func.func @one_hot(
// CHECK: "dl.one_hot"(%arg0, %arg1) {depth = 5 : i64} : (tensor<3xi64>, tensor<2xf32>) -> tensor<3x5xf32>
// CHECK-NEXT: "dl.one_hot"(%arg2, %arg3) {axis = 0 : i64, depth = 4 : i64} : (tensor<?x?xi32>, tensor<?xi8>) -> tensor<4x?x?xi8>
func.func @one_hot(%arg0: tensor<3xi64>, %arg1: tensor<2xf32>, %arg2: tensor<?x?xi32>, %arg3: tensor<?xi8>)
    -> (tensor<3x5xf32>, tensor<4x?x?xi8>) {
  %0 = "dl.one_hot"(%arg0, %arg1) {depth = 5 : i64} : (tensor<3xi64>, tensor<2xf32>) -> tensor<3x5xf32>
  %1 = "dl.one_hot"(%arg2, %arg3) {axis = 0 : i64, depth = 4 : i64} : (tensor<?x?xi32>, tensor<?xi8>) -> tensor<4x?x?xi8>
  return %0, %1 : tensor<3x5xf32>, tensor<4x?x?xi8>
}

// CHECK-LABEL: func.func @one_hot_of_a_value(
// CHECK: "dl.one_hot"(%arg0, %arg1, %arg2) {axis = 0 : i64} : (tensor<3xi64>, tensor<2xf32>, tensor<i64>) -> tensor<?x3xf32>
func.func @one_hot_of_a_value(%arg0: tensor<3xi64>, %arg1: tensor<2xf32>, %arg2: tensor<i64>) -> tensor<?x3xf32> {
  %0 = "dl.one_hot"(%arg0, %arg1, %arg2) {axis = 0 : i64} : (tensor<3xi64>, tensor<2xf32>, tensor<i64>) -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}
