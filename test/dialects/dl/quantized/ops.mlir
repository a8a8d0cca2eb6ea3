// RUN: dlc-opt %s | dlc-opt | filecheck %s
// Products of bytes: dynamic rows, weights in blocks, a last block that is filled up, windows.

// CHECK-LABEL: func.func @byte_matmul(
// CHECK: "dl.byte_matmul"(%arg0, %arg1) : (tensor<4x8xui8>, tensor<3x2x16xi32>) -> tensor<4x48xi32>
// CHECK-NEXT: "dl.byte_matmul"(%arg2, %arg1) {columns = 33 : i64} : (tensor<?x5x8xui8>, tensor<3x2x16xi32>) -> tensor<?x5x33xi32>
func.func @byte_matmul(
    %arg0: tensor<4x8xui8>, %arg1: tensor<3x2x16xi32>, %arg2: tensor<?x5x8xui8>
) -> (tensor<4x48xi32>, tensor<?x5x33xi32>) {
  %0 = "dl.byte_matmul"(%arg0, %arg1) : (tensor<4x8xui8>, tensor<3x2x16xi32>) -> tensor<4x48xi32>
  %1 = "dl.byte_matmul"(%arg2, %arg1) {columns = 33 : i64} : (tensor<?x5x8xui8>, tensor<3x2x16xi32>) -> tensor<?x5x33xi32>
  return %0, %1 : tensor<4x48xi32>, tensor<?x5x33xi32>
}

// CHECK-LABEL: func.func @byte_conv(
// CHECK: "dl.byte_conv"(%arg0, %arg1) {dilations = array<i64: 1, 2>, strides = array<i64: 2, 1>}
// CHECK-SAME: (tensor<?x9x?x8xui8>, tensor<3x3x2x2x16xi32>) -> tensor<?x4x?x48xi32>
func.func @byte_conv(%arg0: tensor<?x9x?x8xui8>, %arg1: tensor<3x3x2x2x16xi32>) -> tensor<?x4x?x48xi32> {
  %0 = "dl.byte_conv"(%arg0, %arg1) {strides = array<i64: 2, 1>, dilations = array<i64: 1, 2>}
      : (tensor<?x9x?x8xui8>, tensor<3x3x2x2x16xi32>) -> tensor<?x4x?x48xi32>
  return %0 : tensor<?x4x?x48xi32>
}
