// RUN: dlc-opt %s | dlc-opt | filecheck %s
// Products of f16 and bf16 give f32: dynamic rows, batches that broadcast, a window.

// CHECK-LABEL: func.func @widening_matmul(
// CHECK: "dl.widening_matmul"(%arg0, %arg1) : (tensor<?x4xbf16>, tensor<4x16xbf16>) -> tensor<?x16xf32>
// CHECK-NEXT: "dl.widening_matmul"(%arg2, %arg3) : (tensor<2x3x4xf16>, tensor<4x5xf16>) -> tensor<2x3x5xf32>
func.func @widening_matmul(
    %arg0: tensor<?x4xbf16>, %arg1: tensor<4x16xbf16>, %arg2: tensor<2x3x4xf16>, %arg3: tensor<4x5xf16>
) -> (tensor<?x16xf32>, tensor<2x3x5xf32>) {
  %0 = "dl.widening_matmul"(%arg0, %arg1) : (tensor<?x4xbf16>, tensor<4x16xbf16>) -> tensor<?x16xf32>
  %1 = "dl.widening_matmul"(%arg2, %arg3) : (tensor<2x3x4xf16>, tensor<4x5xf16>) -> tensor<2x3x5xf32>
  return %0, %1 : tensor<?x16xf32>, tensor<2x3x5xf32>
}

// CHECK-LABEL: func.func @widening_conv(
// CHECK: "dl.widening_conv"(%arg0, %arg1) {pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>}
// CHECK-SAME: (tensor<?x8x8x4xbf16>, tensor<3x3x4x16xbf16>) -> tensor<?x4x4x16xf32>
func.func @widening_conv(%arg0: tensor<?x8x8x4xbf16>, %arg1: tensor<3x3x4x16xbf16>) -> tensor<?x4x4x16xf32> {
  %0 = "dl.widening_conv"(%arg0, %arg1) {pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>}
      : (tensor<?x8x8x4xbf16>, tensor<3x3x4x16xbf16>) -> tensor<?x4x4x16xf32>
  return %0 : tensor<?x4x4x16xf32>
}
