// RUN: dlc-opt %s | dlc-opt | filecheck %s
// Comparisons, logic on bits and selection, static and dynamic.

// CHECK-LABEL: func.func @equal(
// CHECK: "dl.equal"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>
// CHECK-NEXT: "dl.equal"(%arg2, %arg3) : (tensor<?x3xf32>, tensor<1x?xf32>) -> tensor<?x3xi1>
func.func @equal(%arg0: tensor<2x3xf32>, %arg1: tensor<3xf32>, %arg2: tensor<?x3xf32>, %arg3: tensor<1x?xf32>) -> (tensor<2x3xi1>, tensor<?x3xi1>) {
  %0 = "dl.equal"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>
  %1 = "dl.equal"(%arg2, %arg3) : (tensor<?x3xf32>, tensor<1x?xf32>) -> tensor<?x3xi1>
  return %0, %1 : tensor<2x3xi1>, tensor<?x3xi1>
}

// CHECK-LABEL: func.func @not_equal(
// CHECK: "dl.not_equal"(%arg0, %arg1) : (tensor<2x3xi1>, tensor<3xi1>) -> tensor<2x3xi1>
// CHECK-NEXT: "dl.not_equal"(%arg2, %arg3) : (tensor<?x3xi1>, tensor<1x?xi1>) -> tensor<?x3xi1>
func.func @not_equal(%arg0: tensor<2x3xi1>, %arg1: tensor<3xi1>, %arg2: tensor<?x3xi1>, %arg3: tensor<1x?xi1>) -> (tensor<2x3xi1>, tensor<?x3xi1>) {
  %0 = "dl.not_equal"(%arg0, %arg1) : (tensor<2x3xi1>, tensor<3xi1>) -> tensor<2x3xi1>
  %1 = "dl.not_equal"(%arg2, %arg3) : (tensor<?x3xi1>, tensor<1x?xi1>) -> tensor<?x3xi1>
  return %0, %1 : tensor<2x3xi1>, tensor<?x3xi1>
}

// CHECK-LABEL: func.func @less(
// CHECK: "dl.less"(%arg0, %arg1) : (tensor<2x3xui8>, tensor<3xui8>) -> tensor<2x3xi1>
// CHECK-NEXT: "dl.less"(%arg2, %arg3) : (tensor<?x3xui8>, tensor<1x?xui8>) -> tensor<?x3xi1>
func.func @less(%arg0: tensor<2x3xui8>, %arg1: tensor<3xui8>, %arg2: tensor<?x3xui8>, %arg3: tensor<1x?xui8>) -> (tensor<2x3xi1>, tensor<?x3xi1>) {
  %0 = "dl.less"(%arg0, %arg1) : (tensor<2x3xui8>, tensor<3xui8>) -> tensor<2x3xi1>
  %1 = "dl.less"(%arg2, %arg3) : (tensor<?x3xui8>, tensor<1x?xui8>) -> tensor<?x3xi1>
  return %0, %1 : tensor<2x3xi1>, tensor<?x3xi1>
}

// CHECK-LABEL: func.func @less_equal(
// CHECK: "dl.less_equal"(%arg0, %arg1) : (tensor<2x3xbf16>, tensor<3xbf16>) -> tensor<2x3xi1>
// CHECK-NEXT: "dl.less_equal"(%arg2, %arg3) : (tensor<?x3xbf16>, tensor<1x?xbf16>) -> tensor<?x3xi1>
func.func @less_equal(%arg0: tensor<2x3xbf16>, %arg1: tensor<3xbf16>, %arg2: tensor<?x3xbf16>, %arg3: tensor<1x?xbf16>) -> (tensor<2x3xi1>, tensor<?x3xi1>) {
  %0 = "dl.less_equal"(%arg0, %arg1) : (tensor<2x3xbf16>, tensor<3xbf16>) -> tensor<2x3xi1>
  %1 = "dl.less_equal"(%arg2, %arg3) : (tensor<?x3xbf16>, tensor<1x?xbf16>) -> tensor<?x3xi1>
  return %0, %1 : tensor<2x3xi1>, tensor<?x3xi1>
}

// CHECK-LABEL: func.func @isnan(
// CHECK: "dl.isnan"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xi1>
// CHECK-NEXT: "dl.isnan"(%arg1) : (tensor<?x3xf32>) -> tensor<?x3xi1>
func.func @isnan(%arg0: tensor<2x3xf32>, %arg1: tensor<?x3xf32>) -> (tensor<2x3xi1>, tensor<?x3xi1>) {
  %0 = "dl.isnan"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xi1>
  %1 = "dl.isnan"(%arg1) : (tensor<?x3xf32>) -> tensor<?x3xi1>
  return %0, %1 : tensor<2x3xi1>, tensor<?x3xi1>
}

// CHECK-LABEL: func.func @isinf(
// CHECK: "dl.isinf"(%arg0) {detect_negative = false} : (tensor<2x3xf64>) -> tensor<2x3xi1>
// CHECK-NEXT: "dl.isinf"(%arg1) {detect_negative = false} : (tensor<?x3xf64>) -> tensor<?x3xi1>
func.func @isinf(%arg0: tensor<2x3xf64>, %arg1: tensor<?x3xf64>) -> (tensor<2x3xi1>, tensor<?x3xi1>) {
  %0 = "dl.isinf"(%arg0) {detect_negative = false} : (tensor<2x3xf64>) -> tensor<2x3xi1>
  %1 = "dl.isinf"(%arg1) {detect_negative = false} : (tensor<?x3xf64>) -> tensor<?x3xi1>
  return %0, %1 : tensor<2x3xi1>, tensor<?x3xi1>
}

// CHECK-LABEL: func.func @and(
// CHECK: "dl.and"(%arg0, %arg1) : (tensor<2x3xi1>, tensor<3xi1>) -> tensor<2x3xi1>
// CHECK-NEXT: "dl.and"(%arg2, %arg3) : (tensor<?x3xi1>, tensor<1x?xi1>) -> tensor<?x3xi1>
func.func @and(%arg0: tensor<2x3xi1>, %arg1: tensor<3xi1>, %arg2: tensor<?x3xi1>, %arg3: tensor<1x?xi1>) -> (tensor<2x3xi1>, tensor<?x3xi1>) {
  %0 = "dl.and"(%arg0, %arg1) : (tensor<2x3xi1>, tensor<3xi1>) -> tensor<2x3xi1>
  %1 = "dl.and"(%arg2, %arg3) : (tensor<?x3xi1>, tensor<1x?xi1>) -> tensor<?x3xi1>
  return %0, %1 : tensor<2x3xi1>, tensor<?x3xi1>
}

// CHECK-LABEL: func.func @or(
// CHECK: "dl.or"(%arg0, %arg1) : (tensor<2x3xi8>, tensor<3xi8>) -> tensor<2x3xi8>
// CHECK-NEXT: "dl.or"(%arg2, %arg3) : (tensor<?x3xi8>, tensor<1x?xi8>) -> tensor<?x3xi8>
func.func @or(%arg0: tensor<2x3xi8>, %arg1: tensor<3xi8>, %arg2: tensor<?x3xi8>, %arg3: tensor<1x?xi8>) -> (tensor<2x3xi8>, tensor<?x3xi8>) {
  %0 = "dl.or"(%arg0, %arg1) : (tensor<2x3xi8>, tensor<3xi8>) -> tensor<2x3xi8>
  %1 = "dl.or"(%arg2, %arg3) : (tensor<?x3xi8>, tensor<1x?xi8>) -> tensor<?x3xi8>
  return %0, %1 : tensor<2x3xi8>, tensor<?x3xi8>
}

// CHECK-LABEL: func.func @xor(
// CHECK: "dl.xor"(%arg0, %arg1) : (tensor<2x3xi64>, tensor<3xi64>) -> tensor<2x3xi64>
// CHECK-NEXT: "dl.xor"(%arg2, %arg3) : (tensor<?x3xi64>, tensor<1x?xi64>) -> tensor<?x3xi64>
func.func @xor(%arg0: tensor<2x3xi64>, %arg1: tensor<3xi64>, %arg2: tensor<?x3xi64>, %arg3: tensor<1x?xi64>) -> (tensor<2x3xi64>, tensor<?x3xi64>) {
  %0 = "dl.xor"(%arg0, %arg1) : (tensor<2x3xi64>, tensor<3xi64>) -> tensor<2x3xi64>
  %1 = "dl.xor"(%arg2, %arg3) : (tensor<?x3xi64>, tensor<1x?xi64>) -> tensor<?x3xi64>
  return %0, %1 : tensor<2x3xi64>, tensor<?x3xi64>
}

// CHECK-LABEL: func.func @not(
// CHECK: "dl.not"(%arg0) : (tensor<2x3xi1>) -> tensor<2x3xi1>
// CHECK-NEXT: "dl.not"(%arg1) : (tensor<?x3xi1>) -> tensor<?x3xi1>
func.func @not(%arg0: tensor<2x3xi1>, %arg1: tensor<?x3xi1>) -> (tensor<2x3xi1>, tensor<?x3xi1>) {
  %0 = "dl.not"(%arg0) : (tensor<2x3xi1>) -> tensor<2x3xi1>
  %1 = "dl.not"(%arg1) : (tensor<?x3xi1>) -> tensor<?x3xi1>
  return %0, %1 : tensor<2x3xi1>, tensor<?x3xi1>
}

// CHECK-LABEL: func.func @shift_left(
// CHECK: "dl.shift_left"(%arg0, %arg1) : (tensor<2x3xui8>, tensor<3xui8>) -> tensor<2x3xui8>
// CHECK-NEXT: "dl.shift_left"(%arg2, %arg3) : (tensor<?x3xui8>, tensor<1x?xui8>) -> tensor<?x3xui8>
func.func @shift_left(%arg0: tensor<2x3xui8>, %arg1: tensor<3xui8>, %arg2: tensor<?x3xui8>, %arg3: tensor<1x?xui8>) -> (tensor<2x3xui8>, tensor<?x3xui8>) {
  %0 = "dl.shift_left"(%arg0, %arg1) : (tensor<2x3xui8>, tensor<3xui8>) -> tensor<2x3xui8>
  %1 = "dl.shift_left"(%arg2, %arg3) : (tensor<?x3xui8>, tensor<1x?xui8>) -> tensor<?x3xui8>
  return %0, %1 : tensor<2x3xui8>, tensor<?x3xui8>
}

// CHECK-LABEL: func.func @shift_right(
// CHECK: "dl.shift_right"(%arg0, %arg1) : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
// CHECK-NEXT: "dl.shift_right"(%arg2, %arg3) : (tensor<?x3xi32>, tensor<1x?xi32>) -> tensor<?x3xi32>
func.func @shift_right(%arg0: tensor<2x3xi32>, %arg1: tensor<3xi32>, %arg2: tensor<?x3xi32>, %arg3: tensor<1x?xi32>) -> (tensor<2x3xi32>, tensor<?x3xi32>) {
  %0 = "dl.shift_right"(%arg0, %arg1) : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  %1 = "dl.shift_right"(%arg2, %arg3) : (tensor<?x3xi32>, tensor<1x?xi32>) -> tensor<?x3xi32>
  return %0, %1 : tensor<2x3xi32>, tensor<?x3xi32>
}

// CHECK-LABEL: func.func @where(
// CHECK: "dl.where"(%arg0, %arg1, %arg2) : (tensor<2x1xi1>, tensor<3xf32>, tensor<f32>) -> tensor<2x3xf32>
// CHECK-NEXT: "dl.where"(%arg3, %arg4, %arg5) : (tensor<?x1xi1>, tensor<?x3xf32>, tensor<f32>) -> tensor<?x3xf32>
func.func @where(%arg0: tensor<2x1xi1>, %arg1: tensor<3xf32>, %arg2: tensor<f32>, %arg3: tensor<?x1xi1>, %arg4: tensor<?x3xf32>, %arg5: tensor<f32>) -> (tensor<2x3xf32>, tensor<?x3xf32>) {
  %0 = "dl.where"(%arg0, %arg1, %arg2) : (tensor<2x1xi1>, tensor<3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %1 = "dl.where"(%arg3, %arg4, %arg5) : (tensor<?x1xi1>, tensor<?x3xf32>, tensor<f32>) -> tensor<?x3xf32>
  return %0, %1 : tensor<2x3xf32>, tensor<?x3xf32>
}

// CHECK-LABEL: func.func @assert(
// CHECK: "dl.assert"(%arg0, %arg1) {message = "no"} : (tensor<3xf32>, tensor<2x1xi1>) -> tensor<3xf32>
// CHECK-NEXT: "dl.assert"(%arg2, %arg3) {message = "no"} : (tensor<?xi64>, tensor<?xi1>) -> tensor<?xi64>
func.func @assert(%arg0: tensor<3xf32>, %arg1: tensor<2x1xi1>, %arg2: tensor<?xi64>, %arg3: tensor<?xi1>) -> (tensor<3xf32>, tensor<?xi64>) {
  %0 = "dl.assert"(%arg0, %arg1) {message = "no"} : (tensor<3xf32>, tensor<2x1xi1>) -> tensor<3xf32>
  %1 = "dl.assert"(%arg2, %arg3) {message = "no"} : (tensor<?xi64>, tensor<?xi1>) -> tensor<?xi64>
  return %0, %1 : tensor<3xf32>, tensor<?xi64>
}
