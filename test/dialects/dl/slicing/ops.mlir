// RUN: dlc-opt %s | dlc-opt | filecheck %s
// Joins, windows and pads, static and dynamic.

// CHECK-LABEL: func.func @concat(
// CHECK: "dl.concat"(%arg0, %arg1) {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x7xf32>
// CHECK-NEXT: "dl.concat"(%arg2, %arg3) {axis = 0 : i64} : (tensor<?x3xi64>, tensor<4x?xi64>) -> tensor<?x3xi64>
func.func @concat(%arg0: tensor<2x3xf32>, %arg1: tensor<2x4xf32>,
    %arg2: tensor<?x3xi64>, %arg3: tensor<4x?xi64>)
    -> (tensor<2x7xf32>, tensor<?x3xi64>) {
  %0 = "dl.concat"(%arg0, %arg1) {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x7xf32>
  %1 = "dl.concat"(%arg2, %arg3) {axis = 0 : i64} : (tensor<?x3xi64>, tensor<4x?xi64>) -> tensor<?x3xi64>
  return %0, %1 : tensor<2x7xf32>, tensor<?x3xi64>
}

// CHECK-LABEL: func.func @slice(
// CHECK: "dl.slice"(%arg0) {axes = array<i64: 0, 1>, ends = array<i64: 4, -9>, starts = array<i64: 1, -1>, steps = array<i64: 1, -2>} : (tensor<5x6xf32>) -> tensor<3x3xf32>
// CHECK-NEXT: "dl.slice"(%arg1) {axes = array<i64: 1>, ends = array<i64: 2>, starts = array<i64: 0>, steps = array<i64: 1>} : (tensor<?x6xf32>) -> tensor<?x2xf32>
func.func @slice(%arg0: tensor<5x6xf32>, %arg1: tensor<?x6xf32>)
    -> (tensor<3x3xf32>, tensor<?x2xf32>) {
  %0 = "dl.slice"(%arg0) {axes = array<i64: 0, 1>, ends = array<i64: 4, -9>, starts = array<i64: 1, -1>, steps = array<i64: 1, -2>} : (tensor<5x6xf32>) -> tensor<3x3xf32>
  %1 = "dl.slice"(%arg1) {axes = array<i64: 1>, ends = array<i64: 2>, starts = array<i64: 0>, steps = array<i64: 1>} : (tensor<?x6xf32>) -> tensor<?x2xf32>
  return %0, %1 : tensor<3x3xf32>, tensor<?x2xf32>
}

// CHECK-LABEL: func.func @slice_2(
// CHECK: "dl.slice"(%arg0, %arg1) {axes = array<i64: 0>, steps = array<i64: 1>} : (tensor<5x6xf32>, tensor<2xi64>) -> tensor<?x6xf32>
// CHECK-NEXT: "dl.slice"(%arg2, %arg3) {axes = array<i64: 0>, starts = array<i64: 1>, steps = array<i64: 2>} : (tensor<?x6xf32>, tensor<1xi64>) -> tensor<?x6xf32>
func.func @slice_2(%arg0: tensor<5x6xf32>, %arg1: tensor<2xi64>, %arg2: tensor<?x6xf32>, %arg3: tensor<1xi64>)
    -> (tensor<?x6xf32>, tensor<?x6xf32>) {
  %0 = "dl.slice"(%arg0, %arg1) {axes = array<i64: 0>, steps = array<i64: 1>} : (tensor<5x6xf32>, tensor<2xi64>) -> tensor<?x6xf32>
  %1 = "dl.slice"(%arg2, %arg3) {axes = array<i64: 0>, starts = array<i64: 1>, steps = array<i64: 2>} : (tensor<?x6xf32>, tensor<1xi64>) -> tensor<?x6xf32>
  return %0, %1 : tensor<?x6xf32>, tensor<?x6xf32>
}

// CHECK-LABEL: func.func @pad(
// CHECK: "dl.pad"(%arg0) {high = array<i64: -1, 2>, low = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<2x5xf32>
// CHECK-NEXT: "dl.pad"(%arg1, %arg2) {high = array<i64: 1, 2>, low = array<i64: 1, 0>} : (tensor<?x3xf32>, tensor<f32>) -> tensor<?x5xf32>
func.func @pad(%arg0: tensor<2x3xf32>, %arg1: tensor<?x3xf32>, %arg2: tensor<f32>)
    -> (tensor<2x5xf32>, tensor<?x5xf32>) {
  %0 = "dl.pad"(%arg0) {high = array<i64: -1, 2>, low = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<2x5xf32>
  %1 = "dl.pad"(%arg1, %arg2) {high = array<i64: 1, 2>, low = array<i64: 1, 0>} : (tensor<?x3xf32>, tensor<f32>) -> tensor<?x5xf32>
  return %0, %1 : tensor<2x5xf32>, tensor<?x5xf32>
}

// CHECK-LABEL: func.func @pad_2(
// CHECK: "dl.pad"(%arg0) {high = array<i64: 0, 2>, low = array<i64: 1, 0>, mode = "reflect"} : (tensor<2x3xi32>) -> tensor<3x5xi32>
// CHECK-NEXT: "dl.pad"(%arg1) {high = array<i64: 0, 2>, low = array<i64: 1, 0>, mode = "edge"} : (tensor<?x?xi1>) -> tensor<?x?xi1>
func.func @pad_2(%arg0: tensor<2x3xi32>, %arg1: tensor<?x?xi1>)
    -> (tensor<3x5xi32>, tensor<?x?xi1>) {
  %0 = "dl.pad"(%arg0) {high = array<i64: 0, 2>, low = array<i64: 1, 0>, mode = "reflect"} : (tensor<2x3xi32>) -> tensor<3x5xi32>
  %1 = "dl.pad"(%arg1) {high = array<i64: 0, 2>, low = array<i64: 1, 0>, mode = "edge"} : (tensor<?x?xi1>) -> tensor<?x?xi1>
  return %0, %1 : tensor<3x5xi32>, tensor<?x?xi1>
}

// CHECK-LABEL: func.func @dynamic_pad(
// CHECK: "dl.dynamic_pad"(%arg0, %arg1, %arg2) : (tensor<2x3xf32>, tensor<4xi64>, tensor<f32>) -> tensor<?x?xf32>
// CHECK-NEXT: "dl.dynamic_pad"(%arg0, %arg1) {mode = "edge"} : (tensor<2x3xf32>, tensor<4xi64>) -> tensor<?x?xf32>
func.func @dynamic_pad(%arg0: tensor<2x3xf32>, %arg1: tensor<4xi64>, %arg2: tensor<f32>) -> (tensor<?x?xf32>, tensor<?x?xf32>) {
  %0 = "dl.dynamic_pad"(%arg0, %arg1, %arg2) : (tensor<2x3xf32>, tensor<4xi64>, tensor<f32>) -> tensor<?x?xf32>
  %1 = "dl.dynamic_pad"(%arg0, %arg1) {mode = "edge"} : (tensor<2x3xf32>, tensor<4xi64>) -> tensor<?x?xf32>
  return %0, %1 : tensor<?x?xf32>, tensor<?x?xf32>
}
