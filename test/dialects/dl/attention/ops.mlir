// RUN: dlc-opt %s | dlc-opt | filecheck %s
// Attention and rotary embedding, static and dynamic.

// CHECK-LABEL: func.func @attention(
// CHECK: "dl.attention"(%arg0, %arg1, %arg2) {scale = 5.000000e-01 : f64} : (tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>) -> tensor<2x4x5x6xf32>
// CHECK-NEXT: "dl.attention"(%arg3, %arg4, %arg5, %arg6) {aligned_at_end = true, is_causal = true} : (tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>, tensor<5x7xi1>) -> tensor<2x4x5x6xf32>
// CHECK-NEXT: "dl.attention"(%arg7, %arg8, %arg9, %arg10) : (tensor<?x?x?x8xf16>, tensor<?x?x?x8xf16>, tensor<?x?x?x8xf16>, tensor<?x1x?x?xf16>) -> tensor<?x?x?x8xf16>
func.func @attention(
    %arg0: tensor<2x4x5x8xf32>, %arg1: tensor<2x2x7x8xf32>, %arg2: tensor<2x2x7x6xf32>, %arg3: tensor<2x4x5x8xf32>,
    %arg4: tensor<2x2x7x8xf32>, %arg5: tensor<2x2x7x6xf32>, %arg6: tensor<5x7xi1>, %arg7: tensor<?x?x?x8xf16>,
    %arg8: tensor<?x?x?x8xf16>, %arg9: tensor<?x?x?x8xf16>, %arg10: tensor<?x1x?x?xf16>
) -> (tensor<2x4x5x6xf32>, tensor<2x4x5x6xf32>, tensor<?x?x?x8xf16>) {
  %0 = "dl.attention"(%arg0, %arg1, %arg2) {scale = 5.000000e-01 : f64} : (tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>) -> tensor<2x4x5x6xf32>
  %1 = "dl.attention"(%arg3, %arg4, %arg5, %arg6) {aligned_at_end = true, is_causal = true} : (tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>, tensor<5x7xi1>) -> tensor<2x4x5x6xf32>
  %2 = "dl.attention"(%arg7, %arg8, %arg9, %arg10) : (tensor<?x?x?x8xf16>, tensor<?x?x?x8xf16>, tensor<?x?x?x8xf16>, tensor<?x1x?x?xf16>) -> tensor<?x?x?x8xf16>
  return %0, %1, %2 : tensor<2x4x5x6xf32>, tensor<2x4x5x6xf32>, tensor<?x?x?x8xf16>
}

// CHECK-LABEL: func.func @rotary_embedding(
// CHECK: "dl.rotary_embedding"(%arg0, %arg1, %arg2) {interleaved = true} : (tensor<2x4x5x8xf32>, tensor<1x5x4xf32>, tensor<1x5x4xf32>) -> tensor<2x4x5x8xf32>
// CHECK-NEXT: "dl.rotary_embedding"(%arg3, %arg4, %arg5) : (tensor<?x4x?x8xf16>, tensor<?x?x4xf16>, tensor<?x?x4xf16>) -> tensor<?x4x?x8xf16>
func.func @rotary_embedding(
    %arg0: tensor<2x4x5x8xf32>, %arg1: tensor<1x5x4xf32>, %arg2: tensor<1x5x4xf32>, %arg3: tensor<?x4x?x8xf16>,
    %arg4: tensor<?x?x4xf16>, %arg5: tensor<?x?x4xf16>
) -> (tensor<2x4x5x8xf32>, tensor<?x4x?x8xf16>) {
  %0 = "dl.rotary_embedding"(%arg0, %arg1, %arg2) {interleaved = true} : (tensor<2x4x5x8xf32>, tensor<1x5x4xf32>, tensor<1x5x4xf32>) -> tensor<2x4x5x8xf32>
  %1 = "dl.rotary_embedding"(%arg3, %arg4, %arg5) : (tensor<?x4x?x8xf16>, tensor<?x?x4xf16>, tensor<?x?x4xf16>) -> tensor<?x4x?x8xf16>
  return %0, %1 : tensor<2x4x5x8xf32>, tensor<?x4x?x8xf16>
}
