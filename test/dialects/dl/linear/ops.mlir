// RUN: dlc-opt %s | dlc-opt | filecheck %s
// Matrix products with broadcast batches, static and dynamic.

// CHECK-LABEL: func.func @matmul(
// CHECK: "dl.matmul"(%arg0, %arg1) : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
// CHECK-NEXT: "dl.matmul"(%arg2, %arg3) : (tensor<2x1x4x8xbf16>, tensor<3x8x6xbf16>) -> tensor<2x3x4x6xbf16>
// CHECK-NEXT: "dl.matmul"(%arg4, %arg5) : (tensor<?x?x8xi32>, tensor<8x?xi32>) -> tensor<?x?x?xi32>
func.func @matmul(
    %arg0: tensor<4x8xf32>, %arg1: tensor<8x16xf32>, %arg2: tensor<2x1x4x8xbf16>, %arg3: tensor<3x8x6xbf16>,
    %arg4: tensor<?x?x8xi32>, %arg5: tensor<8x?xi32>
) -> (tensor<4x16xf32>, tensor<2x3x4x6xbf16>, tensor<?x?x?xi32>) {
  %0 = "dl.matmul"(%arg0, %arg1) : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %1 = "dl.matmul"(%arg2, %arg3) : (tensor<2x1x4x8xbf16>, tensor<3x8x6xbf16>) -> tensor<2x3x4x6xbf16>
  %2 = "dl.matmul"(%arg4, %arg5) : (tensor<?x?x8xi32>, tensor<8x?xi32>) -> tensor<?x?x?xi32>
  return %0, %1, %2 : tensor<4x16xf32>, tensor<2x3x4x6xbf16>, tensor<?x?x?xi32>
}

// CHECK-LABEL: func.func @packed_matmul(
// CHECK: "dl.packed_matmul"(%arg0, %arg1) : (tensor<4x8xf32>, tensor<3x8x16xf32>) -> tensor<4x48xf32>
// CHECK-NEXT: "dl.packed_matmul"(%arg2, %arg3) : (tensor<?x4x?xbf16>, tensor<?x8x16xbf16>) -> tensor<?x4x?xbf16>
func.func @packed_matmul(
    %arg0: tensor<4x8xf32>, %arg1: tensor<3x8x16xf32>, %arg2: tensor<?x4x?xbf16>, %arg3: tensor<?x8x16xbf16>
) -> (tensor<4x48xf32>, tensor<?x4x?xbf16>) {
  %0 = "dl.packed_matmul"(%arg0, %arg1) : (tensor<4x8xf32>, tensor<3x8x16xf32>) -> tensor<4x48xf32>
  %1 = "dl.packed_matmul"(%arg2, %arg3) : (tensor<?x4x?xbf16>, tensor<?x8x16xbf16>) -> tensor<?x4x?xbf16>
  return %0, %1 : tensor<4x48xf32>, tensor<?x4x?xbf16>
}

// CHECK-LABEL: func.func @det(
// CHECK: "dl.det"(%arg0) : (tensor<2x3x3xf32>) -> tensor<2xf32>
// CHECK-NEXT: "dl.det"(%arg1) : (tensor<?x?xf16>) -> tensor<f16>
func.func @det(%arg0: tensor<2x3x3xf32>, %arg1: tensor<?x?xf16>) -> (tensor<2xf32>, tensor<f16>) {
  %0 = "dl.det"(%arg0) : (tensor<2x3x3xf32>) -> tensor<2xf32>
  %1 = "dl.det"(%arg1) : (tensor<?x?xf16>) -> tensor<f16>
  return %0, %1 : tensor<2xf32>, tensor<f16>
}
