// RUN: dlc-opt %s | dlc-opt | filecheck %s
// Convolutions with and without bias, static and dynamic.

// CHECK-LABEL: func.func @conv(
// CHECK: "dl.conv"(%arg0, %arg1, %arg2) {dilations = array<i64: 1, 2>, pads = array<i64: 1, 0, 1, 1>, strides = array<i64: 2, 1>} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>, tensor<4xf32>) -> tensor<1x4x4x5xf32>
// CHECK-NEXT: "dl.conv"(%arg3, %arg4) {groups = 2 : i64} : (tensor<?x4x?x?xf16>, tensor<6x2x1x3xf16>) -> tensor<?x6x?x?xf16>
// CHECK-NEXT: "dl.conv"(%arg5, %arg6) : (tensor<1x2x9xi8>, tensor<3x2x3xi8>) -> tensor<1x3x7xi8>
func.func @conv(
    %arg0: tensor<1x3x8x8xf32>, %arg1: tensor<4x3x3x3xf32>, %arg2: tensor<4xf32>, %arg3: tensor<?x4x?x?xf16>,
    %arg4: tensor<6x2x1x3xf16>, %arg5: tensor<1x2x9xi8>, %arg6: tensor<3x2x3xi8>
) -> (tensor<1x4x4x5xf32>, tensor<?x6x?x?xf16>, tensor<1x3x7xi8>) {
  %0 = "dl.conv"(%arg0, %arg1, %arg2) {dilations = array<i64: 1, 2>, pads = array<i64: 1, 0, 1, 1>, strides = array<i64: 2, 1>} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>, tensor<4xf32>) -> tensor<1x4x4x5xf32>
  %1 = "dl.conv"(%arg3, %arg4) {groups = 2 : i64} : (tensor<?x4x?x?xf16>, tensor<6x2x1x3xf16>) -> tensor<?x6x?x?xf16>
  %2 = "dl.conv"(%arg5, %arg6) : (tensor<1x2x9xi8>, tensor<3x2x3xi8>) -> tensor<1x3x7xi8>
  return %0, %1, %2 : tensor<1x4x4x5xf32>, tensor<?x6x?x?xf16>, tensor<1x3x7xi8>
}

// CHECK-LABEL: func.func @conv_transpose(
// CHECK: "dl.conv_transpose"(%arg0, %arg1, %arg2) {output_padding = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>} : (tensor<1x3x4x4xf32>, tensor<3x2x3x3xf32>, tensor<2xf32>) -> tensor<1x2x8x8xf32>
// CHECK-NEXT: "dl.conv_transpose"(%arg3, %arg4) {dilations = array<i64: 2>, groups = 2 : i64} : (tensor<?x4x?xbf16>, tensor<4x3x2xbf16>) -> tensor<?x6x?xbf16>
func.func @conv_transpose(
    %arg0: tensor<1x3x4x4xf32>, %arg1: tensor<3x2x3x3xf32>, %arg2: tensor<2xf32>, %arg3: tensor<?x4x?xbf16>,
    %arg4: tensor<4x3x2xbf16>
) -> (tensor<1x2x8x8xf32>, tensor<?x6x?xbf16>) {
  %0 = "dl.conv_transpose"(%arg0, %arg1, %arg2) {output_padding = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>} : (tensor<1x3x4x4xf32>, tensor<3x2x3x3xf32>, tensor<2xf32>) -> tensor<1x2x8x8xf32>
  %1 = "dl.conv_transpose"(%arg3, %arg4) {dilations = array<i64: 2>, groups = 2 : i64} : (tensor<?x4x?xbf16>, tensor<4x3x2xbf16>) -> tensor<?x6x?xbf16>
  return %0, %1 : tensor<1x2x8x8xf32>, tensor<?x6x?xbf16>
}

// CHECK-LABEL: func.func @channels_last(
// CHECK: "dl.conv"(%arg0, %arg1) {channels_last = true, groups = 2 : i64} : (tensor<?x8x?x4xf32>, tensor<3x1x2x6xf32>) -> tensor<?x6x?x6xf32>
// CHECK-NEXT: "dl.conv_transpose"(%arg2, %arg3) {channels_last = true, strides = array<i64: 2>} : (tensor<1x5x4xf32>, tensor<3x4x2xf32>) -> tensor<1x11x2xf32>
func.func @channels_last(
    %arg0: tensor<?x8x?x4xf32>, %arg1: tensor<3x1x2x6xf32>, %arg2: tensor<1x5x4xf32>, %arg3: tensor<3x4x2xf32>
) -> (tensor<?x6x?x6xf32>, tensor<1x11x2xf32>) {
  %0 = "dl.conv"(%arg0, %arg1) {channels_last = true, groups = 2 : i64} : (tensor<?x8x?x4xf32>, tensor<3x1x2x6xf32>) -> tensor<?x6x?x6xf32>
  %1 = "dl.conv_transpose"(%arg2, %arg3) {channels_last = true, strides = array<i64: 2>} : (tensor<1x5x4xf32>, tensor<3x4x2xf32>) -> tensor<1x11x2xf32>
  return %0, %1 : tensor<?x6x?x6xf32>, tensor<1x11x2xf32>
}

// CHECK-LABEL: func.func @blocked(
// CHECK: "dl.conv"(%arg0, %arg1) {channels_last = true} : (tensor<?x8x?x4xf32>, tensor<2x3x1x4x16xf32>) -> tensor<?x6x?x32xf32>
func.func @blocked(%arg0: tensor<?x8x?x4xf32>, %arg1: tensor<2x3x1x4x16xf32>) -> tensor<?x6x?x32xf32> {
  %0 = "dl.conv"(%arg0, %arg1) {channels_last = true} : (tensor<?x8x?x4xf32>, tensor<2x3x1x4x16xf32>) -> tensor<?x6x?x32xf32>
  return %0 : tensor<?x6x?x32xf32>
}

// CHECK-LABEL: func.func @blocked_groups(
// CHECK: "dl.conv"(%arg0, %arg1) {channels_last = true, groups = 2 : i64} : (tensor<1x8x8x4xf32>, tensor<4x3x3x2x16xf32>) -> tensor<1x6x6x64xf32>
func.func @blocked_groups(%arg0: tensor<1x8x8x4xf32>, %arg1: tensor<4x3x3x2x16xf32>) -> tensor<1x6x6x64xf32> {
  %0 = "dl.conv"(%arg0, %arg1) {channels_last = true, groups = 2 : i64} : (tensor<1x8x8x4xf32>, tensor<4x3x3x2x16xf32>) -> tensor<1x6x6x64xf32>
  return %0 : tensor<1x6x6x64xf32>
}

// An image in bf16 beside a kernel in f32.
// CHECK-LABEL: func.func @widened(
// CHECK: "dl.conv"(%arg0, %arg1) : (tensor<1x3x8xbf16>, tensor<4x3x3xf32>) -> tensor<1x4x6xf32>
func.func @widened(%arg0: tensor<1x3x8xbf16>, %arg1: tensor<4x3x3xf32>) -> tensor<1x4x6xf32> {
  %0 = "dl.conv"(%arg0, %arg1) : (tensor<1x3x8xbf16>, tensor<4x3x3xf32>) -> tensor<1x4x6xf32>
  return %0 : tensor<1x4x6xf32>
}
