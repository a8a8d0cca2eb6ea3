// RUN: dlc-opt %s | dlc-opt | filecheck %s
// Reductions over axes given from either end, static and dynamic.

// CHECK-LABEL: func.func @reduce_sum(
// CHECK: "dl.reduce_sum"(%arg0) {axes = array<i64: 0, -1>, keepdims = true} : (tensor<2x3x4xf32>) -> tensor<1x3x1xf32>
// CHECK-NEXT: "dl.reduce_sum"(%arg1) {axes = array<i64: 0, -1>, keepdims = true} : (tensor<?x?x4xf32>) -> tensor<1x?x1xf32>
func.func @reduce_sum(%arg0: tensor<2x3x4xf32>, %arg1: tensor<?x?x4xf32>) -> (tensor<1x3x1xf32>, tensor<1x?x1xf32>) {
  %0 = "dl.reduce_sum"(%arg0) {axes = array<i64: 0, -1>, keepdims = true} : (tensor<2x3x4xf32>) -> tensor<1x3x1xf32>
  %1 = "dl.reduce_sum"(%arg1) {axes = array<i64: 0, -1>, keepdims = true} : (tensor<?x?x4xf32>) -> tensor<1x?x1xf32>
  return %0, %1 : tensor<1x3x1xf32>, tensor<1x?x1xf32>
}

// CHECK-LABEL: func.func @reduce_mean(
// CHECK: "dl.reduce_mean"(%arg0) {axes = array<i64: 0, -1>, keepdims = true} : (tensor<2x3x4xbf16>) -> tensor<1x3x1xbf16>
// CHECK-NEXT: "dl.reduce_mean"(%arg1) {axes = array<i64: 0, -1>, keepdims = true} : (tensor<?x?x4xbf16>) -> tensor<1x?x1xbf16>
func.func @reduce_mean(%arg0: tensor<2x3x4xbf16>, %arg1: tensor<?x?x4xbf16>) -> (tensor<1x3x1xbf16>, tensor<1x?x1xbf16>) {
  %0 = "dl.reduce_mean"(%arg0) {axes = array<i64: 0, -1>, keepdims = true} : (tensor<2x3x4xbf16>) -> tensor<1x3x1xbf16>
  %1 = "dl.reduce_mean"(%arg1) {axes = array<i64: 0, -1>, keepdims = true} : (tensor<?x?x4xbf16>) -> tensor<1x?x1xbf16>
  return %0, %1 : tensor<1x3x1xbf16>, tensor<1x?x1xbf16>
}

// CHECK-LABEL: func.func @reduce_max(
// CHECK: "dl.reduce_max"(%arg0) {axes = array<i64: 0, -1>, keepdims = true} : (tensor<2x3x4xi1>) -> tensor<1x3x1xi1>
// CHECK-NEXT: "dl.reduce_max"(%arg1) {axes = array<i64: 0, -1>, keepdims = true} : (tensor<?x?x4xi1>) -> tensor<1x?x1xi1>
func.func @reduce_max(%arg0: tensor<2x3x4xi1>, %arg1: tensor<?x?x4xi1>) -> (tensor<1x3x1xi1>, tensor<1x?x1xi1>) {
  %0 = "dl.reduce_max"(%arg0) {axes = array<i64: 0, -1>, keepdims = true} : (tensor<2x3x4xi1>) -> tensor<1x3x1xi1>
  %1 = "dl.reduce_max"(%arg1) {axes = array<i64: 0, -1>, keepdims = true} : (tensor<?x?x4xi1>) -> tensor<1x?x1xi1>
  return %0, %1 : tensor<1x3x1xi1>, tensor<1x?x1xi1>
}

// CHECK-LABEL: func.func @reduce_min(
// CHECK: "dl.reduce_min"(%arg0) {axes = array<i64: 0, -1>, keepdims = true} : (tensor<2x3x4xi64>) -> tensor<1x3x1xi64>
// CHECK-NEXT: "dl.reduce_min"(%arg1) {axes = array<i64: 0, -1>, keepdims = true} : (tensor<?x?x4xi64>) -> tensor<1x?x1xi64>
func.func @reduce_min(%arg0: tensor<2x3x4xi64>, %arg1: tensor<?x?x4xi64>) -> (tensor<1x3x1xi64>, tensor<1x?x1xi64>) {
  %0 = "dl.reduce_min"(%arg0) {axes = array<i64: 0, -1>, keepdims = true} : (tensor<2x3x4xi64>) -> tensor<1x3x1xi64>
  %1 = "dl.reduce_min"(%arg1) {axes = array<i64: 0, -1>, keepdims = true} : (tensor<?x?x4xi64>) -> tensor<1x?x1xi64>
  return %0, %1 : tensor<1x3x1xi64>, tensor<1x?x1xi64>
}

// CHECK-LABEL: func.func @reduce_prod(
// CHECK: "dl.reduce_prod"(%arg0) {axes = array<i64: 0, -1>, keepdims = true} : (tensor<2x3x4xf64>) -> tensor<1x3x1xf64>
// CHECK-NEXT: "dl.reduce_prod"(%arg1) {axes = array<i64: 0, -1>, keepdims = true} : (tensor<?x?x4xf64>) -> tensor<1x?x1xf64>
func.func @reduce_prod(%arg0: tensor<2x3x4xf64>, %arg1: tensor<?x?x4xf64>) -> (tensor<1x3x1xf64>, tensor<1x?x1xf64>) {
  %0 = "dl.reduce_prod"(%arg0) {axes = array<i64: 0, -1>, keepdims = true} : (tensor<2x3x4xf64>) -> tensor<1x3x1xf64>
  %1 = "dl.reduce_prod"(%arg1) {axes = array<i64: 0, -1>, keepdims = true} : (tensor<?x?x4xf64>) -> tensor<1x?x1xf64>
  return %0, %1 : tensor<1x3x1xf64>, tensor<1x?x1xf64>
}

// CHECK-LABEL: func.func @arg_max(
// CHECK: "dl.arg_max"(%arg0) {axis = -1 : i64, keepdims = true, select_last_index = true} : (tensor<2x3xf32>) -> tensor<2x1xi64>
// CHECK-NEXT: "dl.arg_max"(%arg1) {axis = -1 : i64, keepdims = true, select_last_index = true} : (tensor<?x?xf32>) -> tensor<?x1xi64>
func.func @arg_max(%arg0: tensor<2x3xf32>, %arg1: tensor<?x?xf32>) -> (tensor<2x1xi64>, tensor<?x1xi64>) {
  %0 = "dl.arg_max"(%arg0) {axis = -1 : i64, keepdims = true, select_last_index = true} : (tensor<2x3xf32>) -> tensor<2x1xi64>
  %1 = "dl.arg_max"(%arg1) {axis = -1 : i64, keepdims = true, select_last_index = true} : (tensor<?x?xf32>) -> tensor<?x1xi64>
  return %0, %1 : tensor<2x1xi64>, tensor<?x1xi64>
}

// CHECK-LABEL: func.func @arg_min(
// CHECK: "dl.arg_min"(%arg0) {axis = -1 : i64, keepdims = true, select_last_index = true} : (tensor<2x3xf32>) -> tensor<2x1xi64>
// CHECK-NEXT: "dl.arg_min"(%arg1) {axis = -1 : i64, keepdims = true, select_last_index = true} : (tensor<?x?xf32>) -> tensor<?x1xi64>
func.func @arg_min(%arg0: tensor<2x3xf32>, %arg1: tensor<?x?xf32>) -> (tensor<2x1xi64>, tensor<?x1xi64>) {
  %0 = "dl.arg_min"(%arg0) {axis = -1 : i64, keepdims = true, select_last_index = true} : (tensor<2x3xf32>) -> tensor<2x1xi64>
  %1 = "dl.arg_min"(%arg1) {axis = -1 : i64, keepdims = true, select_last_index = true} : (tensor<?x?xf32>) -> tensor<?x1xi64>
  return %0, %1 : tensor<2x1xi64>, tensor<?x1xi64>
}

// CHECK-LABEL: func.func @cumsum(
// CHECK: "dl.cumsum"(%arg0) {axis = 1 : i64, exclusive = true, reverse = true} : (tensor<2x3xi32>) -> tensor<2x3xi32>
// CHECK-NEXT: "dl.cumsum"(%arg1) {axis = 1 : i64, exclusive = true, reverse = true} : (tensor<?x3xi32>) -> tensor<?x3xi32>
func.func @cumsum(%arg0: tensor<2x3xi32>, %arg1: tensor<?x3xi32>) -> (tensor<2x3xi32>, tensor<?x3xi32>) {
  %0 = "dl.cumsum"(%arg0) {axis = 1 : i64, exclusive = true, reverse = true} : (tensor<2x3xi32>) -> tensor<2x3xi32>
  %1 = "dl.cumsum"(%arg1) {axis = 1 : i64, exclusive = true, reverse = true} : (tensor<?x3xi32>) -> tensor<?x3xi32>
  return %0, %1 : tensor<2x3xi32>, tensor<?x3xi32>
}

// CHECK-LABEL: func.func @cumprod(
// CHECK: "dl.cumprod"(%arg0) {axis = -1 : i64, exclusive = true} : (tensor<2x3xf16>) -> tensor<2x3xf16>
// CHECK-NEXT: "dl.cumprod"(%arg1) {axis = 0 : i64, reverse = true} : (tensor<?x3xi32>) -> tensor<?x3xi32>
func.func @cumprod(%arg0: tensor<2x3xf16>, %arg1: tensor<?x3xi32>) -> (tensor<2x3xf16>, tensor<?x3xi32>) {
  %0 = "dl.cumprod"(%arg0) {axis = -1 : i64, exclusive = true} : (tensor<2x3xf16>) -> tensor<2x3xf16>
  %1 = "dl.cumprod"(%arg1) {axis = 0 : i64, reverse = true} : (tensor<?x3xi32>) -> tensor<?x3xi32>
  return %0, %1 : tensor<2x3xf16>, tensor<?x3xi32>
}
