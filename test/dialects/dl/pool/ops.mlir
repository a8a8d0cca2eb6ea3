// RUN: dlc-opt %s | dlc-opt | filecheck %s
// Poolings, static and dynamic.

// CHECK-LABEL: func.func @max_pool(
// CHECK: "dl.max_pool"(%arg0) {kernel = array<i64: 3, 2>, pads = array<i64: 1, 0, 1, 0>, strides = array<i64: 2, 1>} : (tensor<1x3x8x8xf32>) -> tensor<1x3x4x7xf32>
// CHECK-NEXT: "dl.max_pool"(%arg1) {ceil_mode = true, kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<?x3x?x8xui8>) -> tensor<?x3x?x4xui8>
func.func @max_pool(
    %arg0: tensor<1x3x8x8xf32>, %arg1: tensor<?x3x?x8xui8>
) -> (tensor<1x3x4x7xf32>, tensor<?x3x?x4xui8>) {
  %0 = "dl.max_pool"(%arg0) {kernel = array<i64: 3, 2>, pads = array<i64: 1, 0, 1, 0>, strides = array<i64: 2, 1>} : (tensor<1x3x8x8xf32>) -> tensor<1x3x4x7xf32>
  %1 = "dl.max_pool"(%arg1) {ceil_mode = true, kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<?x3x?x8xui8>) -> tensor<?x3x?x4xui8>
  return %0, %1 : tensor<1x3x4x7xf32>, tensor<?x3x?x4xui8>
}

// CHECK-LABEL: func.func @avg_pool(
// CHECK: "dl.avg_pool"(%arg0) {count_include_pad = true, kernel = array<i64: 3, 2>, pads = array<i64: 1, 0, 1, 0>, strides = array<i64: 2, 1>} : (tensor<1x3x8x8xf32>) -> tensor<1x3x4x7xf32>
// CHECK-NEXT: "dl.avg_pool"(%arg1) {dilations = array<i64: 2>, kernel = array<i64: 3>} : (tensor<?x3x?xf16>) -> tensor<?x3x?xf16>
func.func @avg_pool(
    %arg0: tensor<1x3x8x8xf32>, %arg1: tensor<?x3x?xf16>
) -> (tensor<1x3x4x7xf32>, tensor<?x3x?xf16>) {
  %0 = "dl.avg_pool"(%arg0) {count_include_pad = true, kernel = array<i64: 3, 2>, pads = array<i64: 1, 0, 1, 0>, strides = array<i64: 2, 1>} : (tensor<1x3x8x8xf32>) -> tensor<1x3x4x7xf32>
  %1 = "dl.avg_pool"(%arg1) {dilations = array<i64: 2>, kernel = array<i64: 3>} : (tensor<?x3x?xf16>) -> tensor<?x3x?xf16>
  return %0, %1 : tensor<1x3x4x7xf32>, tensor<?x3x?xf16>
}

// CHECK-LABEL: func.func @channels_last(
// CHECK: "dl.max_pool"(%arg0) {channels_last = true, kernel = array<i64: 3, 2>} : (tensor<?x8x8x3xf32>) -> tensor<?x6x7x3xf32>
func.func @channels_last(%arg0: tensor<?x8x8x3xf32>) -> tensor<?x6x7x3xf32> {
  %0 = "dl.max_pool"(%arg0) {channels_last = true, kernel = array<i64: 3, 2>} : (tensor<?x8x8x3xf32>) -> tensor<?x6x7x3xf32>
  return %0 : tensor<?x6x7x3xf32>
}

// CHECK-LABEL: func.func @arg_max_pool(
// CHECK: "dl.arg_max_pool"(%arg0) {column_major = true, kernel = array<i64: 2, 2>} : (tensor<1x3x4x5xf32>) -> tensor<1x3x3x4xi64>
// CHECK-NEXT: "dl.arg_max_pool"(%arg1) {channels_last = true, kernel = array<i64: 2>} : (tensor<?x?x3xui8>) -> tensor<?x?x3xi64>
func.func @arg_max_pool(%arg0: tensor<1x3x4x5xf32>, %arg1: tensor<?x?x3xui8>) -> (tensor<1x3x3x4xi64>, tensor<?x?x3xi64>) {
  %0 = "dl.arg_max_pool"(%arg0) {column_major = true, kernel = array<i64: 2, 2>} : (tensor<1x3x4x5xf32>) -> tensor<1x3x3x4xi64>
  %1 = "dl.arg_max_pool"(%arg1) {channels_last = true, kernel = array<i64: 2>} : (tensor<?x?x3xui8>) -> tensor<?x?x3xi64>
  return %0, %1 : tensor<1x3x3x4xi64>, tensor<?x?x3xi64>
}
