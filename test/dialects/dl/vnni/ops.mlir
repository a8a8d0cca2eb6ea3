// RUN: dlc-opt %s | dlc-opt | filecheck %s
// Pairs of bf16: an odd number of rows, both types of numbers, dynamic rows, a last block that is filled up, a window.

// CHECK-LABEL: func.func @bf16_pairs(
// CHECK: "dl.bf16_pairs"(%arg0) : (tensor<2x7x16xf32>) -> tensor<2x4x16xi32>
func.func @bf16_pairs(%arg0: tensor<2x7x16xf32>) -> tensor<2x4x16xi32> {
  %0 = "dl.bf16_pairs"(%arg0) : (tensor<2x7x16xf32>) -> tensor<2x4x16xi32>
  return %0 : tensor<2x4x16xi32>
}

// CHECK-LABEL: func.func @vnni_matmul(
// CHECK: "dl.vnni_matmul"(%arg0, %arg1) : (tensor<4x4xbf16>, tensor<3x2x16xi32>) -> tensor<4x48xf32>
// CHECK-NEXT: "dl.vnni_matmul"(%arg2, %arg1) {columns = 33 : i64} : (tensor<?x5x4xf32>, tensor<3x2x16xi32>) -> tensor<?x5x33xf32>
func.func @vnni_matmul(
    %arg0: tensor<4x4xbf16>, %arg1: tensor<3x2x16xi32>, %arg2: tensor<?x5x4xf32>
) -> (tensor<4x48xf32>, tensor<?x5x33xf32>) {
  %0 = "dl.vnni_matmul"(%arg0, %arg1) : (tensor<4x4xbf16>, tensor<3x2x16xi32>) -> tensor<4x48xf32>
  %1 = "dl.vnni_matmul"(%arg2, %arg1) {columns = 33 : i64} : (tensor<?x5x4xf32>, tensor<3x2x16xi32>) -> tensor<?x5x33xf32>
  return %0, %1 : tensor<4x48xf32>, tensor<?x5x33xf32>
}

// CHECK-LABEL: func.func @vnni_conv(
// CHECK: "dl.vnni_conv"(%arg0, %arg1) {pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>}
// CHECK-SAME: (tensor<?x8x8x4xbf16>, tensor<3x3x3x2x16xi32>) -> tensor<?x4x4x48xf32>
func.func @vnni_conv(%arg0: tensor<?x8x8x4xbf16>, %arg1: tensor<3x3x3x2x16xi32>) -> tensor<?x4x4x48xf32> {
  %0 = "dl.vnni_conv"(%arg0, %arg1) {pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>}
      : (tensor<?x8x8x4xbf16>, tensor<3x3x3x2x16xi32>) -> tensor<?x4x4x48xf32>
  return %0 : tensor<?x4x4x48xf32>
}

// CHECK-LABEL: func.func @vnni_matmul_bytes(
// CHECK: "dl.vnni_matmul"(%arg0, %arg1) : (tensor<4x8xui8>, tensor<3x2x16xi32>) -> tensor<4x48xi32>
// CHECK-NEXT: "dl.vnni_matmul"(%arg2, %arg1) {columns = 33 : i64} : (tensor<?x5x8xui8>, tensor<3x2x16xi32>) -> tensor<?x5x33xi32>
func.func @vnni_matmul_bytes(
    %arg0: tensor<4x8xui8>, %arg1: tensor<3x2x16xi32>, %arg2: tensor<?x5x8xui8>
) -> (tensor<4x48xi32>, tensor<?x5x33xi32>) {
  %0 = "dl.vnni_matmul"(%arg0, %arg1) : (tensor<4x8xui8>, tensor<3x2x16xi32>) -> tensor<4x48xi32>
  %1 = "dl.vnni_matmul"(%arg2, %arg1) {columns = 33 : i64} : (tensor<?x5x8xui8>, tensor<3x2x16xi32>) -> tensor<?x5x33xi32>
  return %0, %1 : tensor<4x48xi32>, tensor<?x5x33xi32>
}

// CHECK-LABEL: func.func @vnni_conv_bytes(
// CHECK: "dl.vnni_conv"(%arg0, %arg1) {dilations = array<i64: 1, 2>, strides = array<i64: 2, 1>}
// CHECK-SAME: (tensor<?x9x?x8xui8>, tensor<3x3x2x2x16xi32>) -> tensor<?x4x?x48xi32>
func.func @vnni_conv_bytes(%arg0: tensor<?x9x?x8xui8>, %arg1: tensor<3x3x2x2x16xi32>) -> tensor<?x4x?x48xi32> {
  %0 = "dl.vnni_conv"(%arg0, %arg1) {strides = array<i64: 2, 1>, dilations = array<i64: 1, 2>}
      : (tensor<?x9x?x8xui8>, tensor<3x3x2x2x16xi32>) -> tensor<?x4x?x48xi32>
  return %0 : tensor<?x4x?x48xi32>
}
