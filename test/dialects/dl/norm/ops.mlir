// RUN: dlc-opt %s | dlc-opt | filecheck %s
// Normalisations, static and dynamic.

// CHECK-LABEL: func.func @softmax(
// CHECK: "dl.softmax"(%arg0) {axis = 1 : i64} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT: "dl.softmax"(%arg1) : (tensor<?x?xf16>) -> tensor<?x?xf16>
func.func @softmax(%arg0: tensor<2x3x4xf32>, %arg1: tensor<?x?xf16>) -> (tensor<2x3x4xf32>, tensor<?x?xf16>) {
  %0 = "dl.softmax"(%arg0) {axis = 1 : i64} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %1 = "dl.softmax"(%arg1) : (tensor<?x?xf16>) -> tensor<?x?xf16>
  return %0, %1 : tensor<2x3x4xf32>, tensor<?x?xf16>
}

// CHECK-LABEL: func.func @log_softmax(
// CHECK: "dl.log_softmax"(%arg0) : (tensor<2x3xf64>) -> tensor<2x3xf64>
// CHECK-NEXT: "dl.log_softmax"(%arg1) {axis = 0 : i64} : (tensor<?x3xf32>) -> tensor<?x3xf32>
func.func @log_softmax(%arg0: tensor<2x3xf64>, %arg1: tensor<?x3xf32>) -> (tensor<2x3xf64>, tensor<?x3xf32>) {
  %0 = "dl.log_softmax"(%arg0) : (tensor<2x3xf64>) -> tensor<2x3xf64>
  %1 = "dl.log_softmax"(%arg1) {axis = 0 : i64} : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return %0, %1 : tensor<2x3xf64>, tensor<?x3xf32>
}

// CHECK-LABEL: func.func @batch_norm(
// CHECK: "dl.batch_norm"(%arg0, %arg1, %arg2, %arg3, %arg4) {epsilon = 1.000000e-03 : f64} : (tensor<2x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x4x4xf32>
// CHECK-NEXT: "dl.batch_norm"(%arg5, %arg6, %arg7, %arg8, %arg9) : (tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) -> tensor<?x?xf32>
func.func @batch_norm(
    %arg0: tensor<2x3x4x4xf32>, %arg1: tensor<3xf32>, %arg2: tensor<3xf32>, %arg3: tensor<3xf32>,
    %arg4: tensor<3xf32>, %arg5: tensor<?x?xf32>, %arg6: tensor<?xf32>, %arg7: tensor<?xf32>, %arg8: tensor<?xf32>,
    %arg9: tensor<?xf32>
) -> (tensor<2x3x4x4xf32>, tensor<?x?xf32>) {
  %0 = "dl.batch_norm"(%arg0, %arg1, %arg2, %arg3, %arg4) {epsilon = 1.000000e-03 : f64} : (tensor<2x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x4x4xf32>
  %1 = "dl.batch_norm"(%arg5, %arg6, %arg7, %arg8, %arg9) : (tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) -> tensor<?x?xf32>
  return %0, %1 : tensor<2x3x4x4xf32>, tensor<?x?xf32>
}

// CHECK-LABEL: func.func @layer_norm(
// CHECK: "dl.layer_norm"(%arg0, %arg1, %arg2) {axis = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1>} : (tensor<2x3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT: "dl.layer_norm"(%arg3, %arg4) {epsilon = 1.000000e-03 : f64, operandSegmentSizes = array<i32: 1, 0, 1>} : (tensor<?x?xf32>, tensor<?xf32>) -> tensor<?x?xf32>
// CHECK-NEXT: "dl.layer_norm"(%arg5) {operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<?x8xf32>) -> tensor<?x8xf32>
func.func @layer_norm(
    %arg0: tensor<2x3x4xf32>, %arg1: tensor<3x4xf32>, %arg2: tensor<3x4xf32>, %arg3: tensor<?x?xf32>,
    %arg4: tensor<?xf32>, %arg5: tensor<?x8xf32>
) -> (tensor<2x3x4xf32>, tensor<?x?xf32>, tensor<?x8xf32>) {
  %0 = "dl.layer_norm"(%arg0, %arg1, %arg2) {axis = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1>} : (tensor<2x3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<2x3x4xf32>
  %1 = "dl.layer_norm"(%arg3, %arg4) {epsilon = 1.000000e-03 : f64, operandSegmentSizes = array<i32: 1, 0, 1>} : (tensor<?x?xf32>, tensor<?xf32>) -> tensor<?x?xf32>
  %2 = "dl.layer_norm"(%arg5) {operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<?x8xf32>) -> tensor<?x8xf32>
  return %0, %1, %2 : tensor<2x3x4xf32>, tensor<?x?xf32>, tensor<?x8xf32>
}

// CHECK-LABEL: func.func @rms_norm(
// CHECK: "dl.rms_norm"(%arg0, %arg1) {epsilon = 1.000000e-03 : f64} : (tensor<2x3x4xf32>, tensor<4xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT: "dl.rms_norm"(%arg2) {axis = 0 : i64} : (tensor<?x?xbf16>) -> tensor<?x?xbf16>
func.func @rms_norm(
    %arg0: tensor<2x3x4xf32>, %arg1: tensor<4xf32>, %arg2: tensor<?x?xbf16>
) -> (tensor<2x3x4xf32>, tensor<?x?xbf16>) {
  %0 = "dl.rms_norm"(%arg0, %arg1) {epsilon = 1.000000e-03 : f64} : (tensor<2x3x4xf32>, tensor<4xf32>) -> tensor<2x3x4xf32>
  %1 = "dl.rms_norm"(%arg2) {axis = 0 : i64} : (tensor<?x?xbf16>) -> tensor<?x?xbf16>
  return %0, %1 : tensor<2x3x4xf32>, tensor<?x?xbf16>
}

// CHECK-LABEL: func.func @instance_norm(
// CHECK: "dl.instance_norm"(%arg0, %arg1, %arg2) : (tensor<2x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x4x4xf32>
// CHECK-NEXT: "dl.instance_norm"(%arg3, %arg4, %arg5) : (tensor<?x3x?xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<?x3x?xf32>
func.func @instance_norm(
    %arg0: tensor<2x3x4x4xf32>, %arg1: tensor<3xf32>, %arg2: tensor<3xf32>, %arg3: tensor<?x3x?xf32>,
    %arg4: tensor<3xf32>, %arg5: tensor<3xf32>
) -> (tensor<2x3x4x4xf32>, tensor<?x3x?xf32>) {
  %0 = "dl.instance_norm"(%arg0, %arg1, %arg2) : (tensor<2x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x4x4xf32>
  %1 = "dl.instance_norm"(%arg3, %arg4, %arg5) : (tensor<?x3x?xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<?x3x?xf32>
  return %0, %1 : tensor<2x3x4x4xf32>, tensor<?x3x?xf32>
}

// CHECK-LABEL: func.func @group_norm(
// CHECK: "dl.group_norm"(%arg0, %arg1, %arg2) {num_groups = 2 : i64} : (tensor<2x4x5xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4x5xf32>
// CHECK-NEXT: "dl.group_norm"(%arg3, %arg4, %arg5) {num_groups = 2 : i64} : (tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>) -> tensor<?x?xf32>
func.func @group_norm(
    %arg0: tensor<2x4x5xf32>, %arg1: tensor<4xf32>, %arg2: tensor<4xf32>, %arg3: tensor<?x?xf32>,
    %arg4: tensor<?xf32>, %arg5: tensor<?xf32>
) -> (tensor<2x4x5xf32>, tensor<?x?xf32>) {
  %0 = "dl.group_norm"(%arg0, %arg1, %arg2) {num_groups = 2 : i64} : (tensor<2x4x5xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4x5xf32>
  %1 = "dl.group_norm"(%arg3, %arg4, %arg5) {num_groups = 2 : i64} : (tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>) -> tensor<?x?xf32>
  return %0, %1 : tensor<2x4x5xf32>, tensor<?x?xf32>
}

// CHECK-LABEL: func.func @lrn(
// CHECK: "dl.lrn"(%arg0) {bias = 2.000000e+00 : f64, size = 5 : i64} : (tensor<1x5x4x4xf32>) -> tensor<1x5x4x4xf32>
// CHECK-NEXT: "dl.lrn"(%arg1) {alpha = 5.000000e-01 : f64, beta = 5.000000e-01 : f64, size = 3 : i64} : (tensor<?x5x?xf32>) -> tensor<?x5x?xf32>
func.func @lrn(%arg0: tensor<1x5x4x4xf32>, %arg1: tensor<?x5x?xf32>) -> (tensor<1x5x4x4xf32>, tensor<?x5x?xf32>) {
  %0 = "dl.lrn"(%arg0) {bias = 2.000000e+00 : f64, size = 5 : i64} : (tensor<1x5x4x4xf32>) -> tensor<1x5x4x4xf32>
  %1 = "dl.lrn"(%arg1) {alpha = 5.000000e-01 : f64, beta = 5.000000e-01 : f64, size = 3 : i64} : (tensor<?x5x?xf32>) -> tensor<?x5x?xf32>
  return %0, %1 : tensor<1x5x4x4xf32>, tensor<?x5x?xf32>
}
