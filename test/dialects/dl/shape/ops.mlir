// RUN: dlc-opt %s | dlc-opt | filecheck %s
// Reshapes, permutations, broadcasts, repeats and sizes, static and dynamic.

// CHECK-LABEL: func.func @reshape(
// CHECK: "dl.reshape"(%arg0) {shape = array<i64: 6, 4>} : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
// CHECK-NEXT: "dl.reshape"(%arg1) {copied = array<i64: 0, 1, -1, -1>, shape = array<i64: -1, -1, 3, 4>} : (tensor<?x?x12xf32>) -> tensor<?x?x3x4xf32>
func.func @reshape(%arg0: tensor<2x3x4xf32>, %arg1: tensor<?x?x12xf32>)
    -> (tensor<6x4xf32>, tensor<?x?x3x4xf32>) {
  %0 = "dl.reshape"(%arg0) {shape = array<i64: 6, 4>} : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  %1 = "dl.reshape"(%arg1) {copied = array<i64: 0, 1, -1, -1>, shape = array<i64: -1, -1, 3, 4>} : (tensor<?x?x12xf32>) -> tensor<?x?x3x4xf32>
  return %0, %1 : tensor<6x4xf32>, tensor<?x?x3x4xf32>
}

// CHECK-LABEL: func.func @reshape_2(
// CHECK: "dl.reshape"(%arg0, %arg1) {shape = array<i64: -1, 4>} : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<?x4xf32>
// CHECK-NEXT: "dl.reshape"(%arg2, %arg3) {shape = array<i64: -1, -1, -1>, zero_copies = true} : (tensor<?x4xf32>, tensor<?xi64>) -> tensor<?x?x?xf32>
func.func @reshape_2(%arg0: tensor<2x3x4xf32>, %arg1: tensor<2xi64>,
    %arg2: tensor<?x4xf32>, %arg3: tensor<?xi64>)
    -> (tensor<?x4xf32>, tensor<?x?x?xf32>) {
  %0 = "dl.reshape"(%arg0, %arg1) {shape = array<i64: -1, 4>} : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<?x4xf32>
  %1 = "dl.reshape"(%arg2, %arg3) {shape = array<i64: -1, -1, -1>, zero_copies = true} : (tensor<?x4xf32>, tensor<?xi64>) -> tensor<?x?x?xf32>
  return %0, %1 : tensor<?x4xf32>, tensor<?x?x?xf32>
}

// CHECK-LABEL: func.func @transpose(
// CHECK: "dl.transpose"(%arg0) {perm = array<i64: 0, 2, 1>} : (tensor<2x3x4xf32>) -> tensor<2x4x3xf32>
// CHECK-NEXT: "dl.transpose"(%arg1) {perm = array<i64: 2, 0, 1>} : (tensor<?x3x?xi8>) -> tensor<?x?x3xi8>
func.func @transpose(%arg0: tensor<2x3x4xf32>, %arg1: tensor<?x3x?xi8>)
    -> (tensor<2x4x3xf32>, tensor<?x?x3xi8>) {
  %0 = "dl.transpose"(%arg0) {perm = array<i64: 0, 2, 1>} : (tensor<2x3x4xf32>) -> tensor<2x4x3xf32>
  %1 = "dl.transpose"(%arg1) {perm = array<i64: 2, 0, 1>} : (tensor<?x3x?xi8>) -> tensor<?x?x3xi8>
  return %0, %1 : tensor<2x4x3xf32>, tensor<?x?x3xi8>
}

// CHECK-LABEL: func.func @expand(
// CHECK: "dl.expand"(%arg0) {shape = array<i64: 2, 3, 4>} : (tensor<3x1xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT: "dl.expand"(%arg1, %arg2) {shape = array<i64: -1, 8>} : (tensor<?x1xf32>, tensor<2xi64>) -> tensor<?x8xf32>
func.func @expand(%arg0: tensor<3x1xf32>, %arg1: tensor<?x1xf32>, %arg2: tensor<2xi64>)
    -> (tensor<2x3x4xf32>, tensor<?x8xf32>) {
  %0 = "dl.expand"(%arg0) {shape = array<i64: 2, 3, 4>} : (tensor<3x1xf32>) -> tensor<2x3x4xf32>
  %1 = "dl.expand"(%arg1, %arg2) {shape = array<i64: -1, 8>} : (tensor<?x1xf32>, tensor<2xi64>) -> tensor<?x8xf32>
  return %0, %1 : tensor<2x3x4xf32>, tensor<?x8xf32>
}

// CHECK-LABEL: func.func @squeeze(
// CHECK: "dl.squeeze"(%arg0) {axes = array<i64: 0, -1>} : (tensor<1x3x1xf32>) -> tensor<3xf32>
// CHECK-NEXT: "dl.squeeze"(%arg1) {axes = array<i64: 1>} : (tensor<?x1x?xi1>) -> tensor<?x?xi1>
func.func @squeeze(%arg0: tensor<1x3x1xf32>, %arg1: tensor<?x1x?xi1>)
    -> (tensor<3xf32>, tensor<?x?xi1>) {
  %0 = "dl.squeeze"(%arg0) {axes = array<i64: 0, -1>} : (tensor<1x3x1xf32>) -> tensor<3xf32>
  %1 = "dl.squeeze"(%arg1) {axes = array<i64: 1>} : (tensor<?x1x?xi1>) -> tensor<?x?xi1>
  return %0, %1 : tensor<3xf32>, tensor<?x?xi1>
}

// CHECK-LABEL: func.func @unsqueeze(
// CHECK: "dl.unsqueeze"(%arg0) {axes = array<i64: 0, -1>} : (tensor<3x4xf32>) -> tensor<1x3x4x1xf32>
// CHECK-NEXT: "dl.unsqueeze"(%arg1) {axes = array<i64: 1>} : (tensor<?x4xf16>) -> tensor<?x1x4xf16>
func.func @unsqueeze(%arg0: tensor<3x4xf32>, %arg1: tensor<?x4xf16>)
    -> (tensor<1x3x4x1xf32>, tensor<?x1x4xf16>) {
  %0 = "dl.unsqueeze"(%arg0) {axes = array<i64: 0, -1>} : (tensor<3x4xf32>) -> tensor<1x3x4x1xf32>
  %1 = "dl.unsqueeze"(%arg1) {axes = array<i64: 1>} : (tensor<?x4xf16>) -> tensor<?x1x4xf16>
  return %0, %1 : tensor<1x3x4x1xf32>, tensor<?x1x4xf16>
}

// CHECK-LABEL: func.func @tile(
// CHECK: "dl.tile"(%arg0) {repeats = array<i64: 2, 1>} : (tensor<2x3xf32>) -> tensor<4x3xf32>
// CHECK-NEXT: "dl.tile"(%arg1) {repeats = array<i64: 1, 4>} : (tensor<?x3xui8>) -> tensor<?x12xui8>
func.func @tile(%arg0: tensor<2x3xf32>, %arg1: tensor<?x3xui8>)
    -> (tensor<4x3xf32>, tensor<?x12xui8>) {
  %0 = "dl.tile"(%arg0) {repeats = array<i64: 2, 1>} : (tensor<2x3xf32>) -> tensor<4x3xf32>
  %1 = "dl.tile"(%arg1) {repeats = array<i64: 1, 4>} : (tensor<?x3xui8>) -> tensor<?x12xui8>
  return %0, %1 : tensor<4x3xf32>, tensor<?x12xui8>
}

// CHECK-LABEL: func.func @shape_of(
// CHECK: "dl.shape_of"(%arg0) : (tensor<2x3x4xf32>) -> tensor<3xi64>
// CHECK-NEXT: "dl.shape_of"(%arg1) {end = -1 : i64, start = 1 : i64} : (tensor<?x3x?xf32>) -> tensor<1xi64>
func.func @shape_of(%arg0: tensor<2x3x4xf32>, %arg1: tensor<?x3x?xf32>)
    -> (tensor<3xi64>, tensor<1xi64>) {
  %0 = "dl.shape_of"(%arg0) : (tensor<2x3x4xf32>) -> tensor<3xi64>
  %1 = "dl.shape_of"(%arg1) {end = -1 : i64, start = 1 : i64} : (tensor<?x3x?xf32>) -> tensor<1xi64>
  return %0, %1 : tensor<3xi64>, tensor<1xi64>
}

// CHECK-LABEL: func.func @size(
// CHECK: "dl.size"(%arg0) : (tensor<2x3xf32>) -> tensor<i64>
// CHECK-NEXT: "dl.size"(%arg1) : (tensor<?x3xbf16>) -> tensor<i64>
func.func @size(%arg0: tensor<2x3xf32>, %arg1: tensor<?x3xbf16>)
    -> (tensor<i64>, tensor<i64>) {
  %0 = "dl.size"(%arg0) : (tensor<2x3xf32>) -> tensor<i64>
  %1 = "dl.size"(%arg1) : (tensor<?x3xbf16>) -> tensor<i64>
  return %0, %1 : tensor<i64>, tensor<i64>
}
