// RUN: dlc-opt %s | dlc-opt | filecheck %s
// Resizes, static and dynamic.

// CHECK-LABEL: func.func @resize(
// CHECK: "dl.resize"(%arg0) {axes = array<i64: 2, 3>, scales = array<f64: 2.000000e+00, 2.000000e+00>} : (tensor<1x3x4x5xf32>) -> tensor<1x3x8x10xf32>
// CHECK-NEXT: "dl.resize"(%arg1) {axes = array<i64: 2, 3>, coordinates = "align_corners", mode = "linear", sizes = array<i64: 7, 9>} : (tensor<?x3x4x?xf32>) -> tensor<?x3x7x9xf32>
func.func @resize(%arg0: tensor<1x3x4x5xf32>, %arg1: tensor<?x3x4x?xf32>)
    -> (tensor<1x3x8x10xf32>, tensor<?x3x7x9xf32>) {
  %0 = "dl.resize"(%arg0) {axes = array<i64: 2, 3>, scales = array<f64: 2.000000e+00, 2.000000e+00>} : (tensor<1x3x4x5xf32>) -> tensor<1x3x8x10xf32>
  %1 = "dl.resize"(%arg1) {axes = array<i64: 2, 3>, coordinates = "align_corners", mode = "linear", sizes = array<i64: 7, 9>} : (tensor<?x3x4x?xf32>) -> tensor<?x3x7x9xf32>
  return %0, %1 : tensor<1x3x8x10xf32>, tensor<?x3x7x9xf32>
}

// CHECK-LABEL: func.func @resize_2(
// CHECK: "dl.resize"(%arg0) {axes = array<i64: -1>, coordinates = "asymmetric", rounding = "floor", sizes = array<i64: 2>} : (tensor<1x3x4x5xui8>) -> tensor<1x3x4x2xui8>
// CHECK-NEXT: "dl.resize"(%arg1) {axes = array<i64: 0>, cubic_coefficient = -5.000000e-01 : f64, exclude_outside = true, mode = "cubic", scales = array<f64: 1.500000e+00>} : (tensor<?x8xf16>) -> tensor<?x8xf16>
func.func @resize_2(%arg0: tensor<1x3x4x5xui8>, %arg1: tensor<?x8xf16>)
    -> (tensor<1x3x4x2xui8>, tensor<?x8xf16>) {
  %0 = "dl.resize"(%arg0) {axes = array<i64: -1>, coordinates = "asymmetric", rounding = "floor", sizes = array<i64: 2>} : (tensor<1x3x4x5xui8>) -> tensor<1x3x4x2xui8>
  %1 = "dl.resize"(%arg1) {axes = array<i64: 0>, cubic_coefficient = -5.000000e-01 : f64, exclude_outside = true, mode = "cubic", scales = array<f64: 1.500000e+00>} : (tensor<?x8xf16>) -> tensor<?x8xf16>
  return %0, %1 : tensor<1x3x4x2xui8>, tensor<?x8xf16>
}

// CHECK-LABEL: func.func @dynamic_resize(
// CHECK: "dl.dynamic_resize"(%arg0, %arg1, %arg2) {axes = array<i64: 1>, mode = "linear"} : (tensor<2x3xf32>, tensor<1xi64>, tensor<1xf32>) -> tensor<2x?xf32>
func.func @dynamic_resize(%arg0: tensor<2x3xf32>, %arg1: tensor<1xi64>, %arg2: tensor<1xf32>) -> tensor<2x?xf32> {
  %0 = "dl.dynamic_resize"(%arg0, %arg1, %arg2) {axes = array<i64: 1>, mode = "linear"} : (tensor<2x3xf32>, tensor<1xi64>, tensor<1xf32>) -> tensor<2x?xf32>
  return %0 : tensor<2x?xf32>
}
