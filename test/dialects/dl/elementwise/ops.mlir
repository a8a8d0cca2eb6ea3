// RUN: dlc-opt %s | dlc-opt | filecheck %s
// Elementwise arithmetic, static and dynamic.

// CHECK-LABEL: func.func @abs(
// CHECK: "dl.abs"(%arg0) : (tensor<2x3xi32>) -> tensor<2x3xi32>
// CHECK-NEXT: "dl.abs"(%arg1) : (tensor<?x3xi32>) -> tensor<?x3xi32>
func.func @abs(%arg0: tensor<2x3xi32>, %arg1: tensor<?x3xi32>) -> (tensor<2x3xi32>, tensor<?x3xi32>) {
  %0 = "dl.abs"(%arg0) : (tensor<2x3xi32>) -> tensor<2x3xi32>
  %1 = "dl.abs"(%arg1) : (tensor<?x3xi32>) -> tensor<?x3xi32>
  return %0, %1 : tensor<2x3xi32>, tensor<?x3xi32>
}

// CHECK-LABEL: func.func @neg(
// CHECK: "dl.neg"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: "dl.neg"(%arg1) : (tensor<?x3xf32>) -> tensor<?x3xf32>
func.func @neg(%arg0: tensor<2x3xf32>, %arg1: tensor<?x3xf32>) -> (tensor<2x3xf32>, tensor<?x3xf32>) {
  %0 = "dl.neg"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = "dl.neg"(%arg1) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return %0, %1 : tensor<2x3xf32>, tensor<?x3xf32>
}

// CHECK-LABEL: func.func @sign(
// CHECK: "dl.sign"(%arg0) : (tensor<2x3xbf16>) -> tensor<2x3xbf16>
// CHECK-NEXT: "dl.sign"(%arg1) : (tensor<?x3xbf16>) -> tensor<?x3xbf16>
func.func @sign(%arg0: tensor<2x3xbf16>, %arg1: tensor<?x3xbf16>) -> (tensor<2x3xbf16>, tensor<?x3xbf16>) {
  %0 = "dl.sign"(%arg0) : (tensor<2x3xbf16>) -> tensor<2x3xbf16>
  %1 = "dl.sign"(%arg1) : (tensor<?x3xbf16>) -> tensor<?x3xbf16>
  return %0, %1 : tensor<2x3xbf16>, tensor<?x3xbf16>
}

// CHECK-LABEL: func.func @floor(
// CHECK: "dl.floor"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: "dl.floor"(%arg1) : (tensor<?x3xf32>) -> tensor<?x3xf32>
func.func @floor(%arg0: tensor<2x3xf32>, %arg1: tensor<?x3xf32>) -> (tensor<2x3xf32>, tensor<?x3xf32>) {
  %0 = "dl.floor"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = "dl.floor"(%arg1) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return %0, %1 : tensor<2x3xf32>, tensor<?x3xf32>
}

// CHECK-LABEL: func.func @ceil(
// CHECK: "dl.ceil"(%arg0) : (tensor<2x3xf64>) -> tensor<2x3xf64>
// CHECK-NEXT: "dl.ceil"(%arg1) : (tensor<?x3xf64>) -> tensor<?x3xf64>
func.func @ceil(%arg0: tensor<2x3xf64>, %arg1: tensor<?x3xf64>) -> (tensor<2x3xf64>, tensor<?x3xf64>) {
  %0 = "dl.ceil"(%arg0) : (tensor<2x3xf64>) -> tensor<2x3xf64>
  %1 = "dl.ceil"(%arg1) : (tensor<?x3xf64>) -> tensor<?x3xf64>
  return %0, %1 : tensor<2x3xf64>, tensor<?x3xf64>
}

// CHECK-LABEL: func.func @round(
// CHECK: "dl.round"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: "dl.round"(%arg1) : (tensor<?x3xf32>) -> tensor<?x3xf32>
func.func @round(%arg0: tensor<2x3xf32>, %arg1: tensor<?x3xf32>) -> (tensor<2x3xf32>, tensor<?x3xf32>) {
  %0 = "dl.round"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = "dl.round"(%arg1) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return %0, %1 : tensor<2x3xf32>, tensor<?x3xf32>
}

// CHECK-LABEL: func.func @trunc(
// CHECK: "dl.trunc"(%arg0) : (tensor<2x3xf16>) -> tensor<2x3xf16>
// CHECK-NEXT: "dl.trunc"(%arg1) : (tensor<?x3xf16>) -> tensor<?x3xf16>
func.func @trunc(%arg0: tensor<2x3xf16>, %arg1: tensor<?x3xf16>) -> (tensor<2x3xf16>, tensor<?x3xf16>) {
  %0 = "dl.trunc"(%arg0) : (tensor<2x3xf16>) -> tensor<2x3xf16>
  %1 = "dl.trunc"(%arg1) : (tensor<?x3xf16>) -> tensor<?x3xf16>
  return %0, %1 : tensor<2x3xf16>, tensor<?x3xf16>
}

// CHECK-LABEL: func.func @clip(
// CHECK: "dl.clip"(%arg0) {high = 6.000000e+00 : f64, low = 0.000000e+00 : f64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: "dl.clip"(%arg1) {high = 6.000000e+00 : f64, low = 0.000000e+00 : f64} : (tensor<?x3xf32>) -> tensor<?x3xf32>
func.func @clip(%arg0: tensor<2x3xf32>, %arg1: tensor<?x3xf32>) -> (tensor<2x3xf32>, tensor<?x3xf32>) {
  %0 = "dl.clip"(%arg0) {high = 6.000000e+00 : f64, low = 0.000000e+00 : f64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = "dl.clip"(%arg1) {high = 6.000000e+00 : f64, low = 0.000000e+00 : f64} : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return %0, %1 : tensor<2x3xf32>, tensor<?x3xf32>
}

// CHECK-LABEL: func.func @cast(
// CHECK: "dl.cast"(%arg0) {to = f32} : (tensor<2x3xui8>) -> tensor<2x3xf32>
// CHECK-NEXT: "dl.cast"(%arg1) {to = f32} : (tensor<?x3xui8>) -> tensor<?x3xf32>
func.func @cast(%arg0: tensor<2x3xui8>, %arg1: tensor<?x3xui8>) -> (tensor<2x3xf32>, tensor<?x3xf32>) {
  %0 = "dl.cast"(%arg0) {to = f32} : (tensor<2x3xui8>) -> tensor<2x3xf32>
  %1 = "dl.cast"(%arg1) {to = f32} : (tensor<?x3xui8>) -> tensor<?x3xf32>
  return %0, %1 : tensor<2x3xf32>, tensor<?x3xf32>
}

// CHECK-LABEL: func.func @add(
// CHECK: "dl.add"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: "dl.add"(%arg2, %arg3) : (tensor<?x3xf32>, tensor<1x?xf32>) -> tensor<?x3xf32>
func.func @add(%arg0: tensor<2x3xf32>, %arg1: tensor<3xf32>, %arg2: tensor<?x3xf32>, %arg3: tensor<1x?xf32>) -> (tensor<2x3xf32>, tensor<?x3xf32>) {
  %0 = "dl.add"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %1 = "dl.add"(%arg2, %arg3) : (tensor<?x3xf32>, tensor<1x?xf32>) -> tensor<?x3xf32>
  return %0, %1 : tensor<2x3xf32>, tensor<?x3xf32>
}

// CHECK-LABEL: func.func @sub(
// CHECK: "dl.sub"(%arg0, %arg1) : (tensor<2x3xi64>, tensor<3xi64>) -> tensor<2x3xi64>
// CHECK-NEXT: "dl.sub"(%arg2, %arg3) : (tensor<?x3xi64>, tensor<1x?xi64>) -> tensor<?x3xi64>
func.func @sub(%arg0: tensor<2x3xi64>, %arg1: tensor<3xi64>, %arg2: tensor<?x3xi64>, %arg3: tensor<1x?xi64>) -> (tensor<2x3xi64>, tensor<?x3xi64>) {
  %0 = "dl.sub"(%arg0, %arg1) : (tensor<2x3xi64>, tensor<3xi64>) -> tensor<2x3xi64>
  %1 = "dl.sub"(%arg2, %arg3) : (tensor<?x3xi64>, tensor<1x?xi64>) -> tensor<?x3xi64>
  return %0, %1 : tensor<2x3xi64>, tensor<?x3xi64>
}

// CHECK-LABEL: func.func @mul(
// CHECK: "dl.mul"(%arg0, %arg1) : (tensor<2x3xf16>, tensor<3xf16>) -> tensor<2x3xf16>
// CHECK-NEXT: "dl.mul"(%arg2, %arg3) : (tensor<?x3xf16>, tensor<1x?xf16>) -> tensor<?x3xf16>
func.func @mul(%arg0: tensor<2x3xf16>, %arg1: tensor<3xf16>, %arg2: tensor<?x3xf16>, %arg3: tensor<1x?xf16>) -> (tensor<2x3xf16>, tensor<?x3xf16>) {
  %0 = "dl.mul"(%arg0, %arg1) : (tensor<2x3xf16>, tensor<3xf16>) -> tensor<2x3xf16>
  %1 = "dl.mul"(%arg2, %arg3) : (tensor<?x3xf16>, tensor<1x?xf16>) -> tensor<?x3xf16>
  return %0, %1 : tensor<2x3xf16>, tensor<?x3xf16>
}

// CHECK-LABEL: func.func @div(
// CHECK: "dl.div"(%arg0, %arg1) : (tensor<2x3xui8>, tensor<3xui8>) -> tensor<2x3xui8>
// CHECK-NEXT: "dl.div"(%arg2, %arg3) : (tensor<?x3xui8>, tensor<1x?xui8>) -> tensor<?x3xui8>
func.func @div(%arg0: tensor<2x3xui8>, %arg1: tensor<3xui8>, %arg2: tensor<?x3xui8>, %arg3: tensor<1x?xui8>) -> (tensor<2x3xui8>, tensor<?x3xui8>) {
  %0 = "dl.div"(%arg0, %arg1) : (tensor<2x3xui8>, tensor<3xui8>) -> tensor<2x3xui8>
  %1 = "dl.div"(%arg2, %arg3) : (tensor<?x3xui8>, tensor<1x?xui8>) -> tensor<?x3xui8>
  return %0, %1 : tensor<2x3xui8>, tensor<?x3xui8>
}

// CHECK-LABEL: func.func @mod(
// CHECK: "dl.mod"(%arg0, %arg1) {fmod = true} : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
// CHECK-NEXT: "dl.mod"(%arg2, %arg3) {fmod = true} : (tensor<?x3xi32>, tensor<1x?xi32>) -> tensor<?x3xi32>
func.func @mod(%arg0: tensor<2x3xi32>, %arg1: tensor<3xi32>, %arg2: tensor<?x3xi32>, %arg3: tensor<1x?xi32>) -> (tensor<2x3xi32>, tensor<?x3xi32>) {
  %0 = "dl.mod"(%arg0, %arg1) {fmod = true} : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  %1 = "dl.mod"(%arg2, %arg3) {fmod = true} : (tensor<?x3xi32>, tensor<1x?xi32>) -> tensor<?x3xi32>
  return %0, %1 : tensor<2x3xi32>, tensor<?x3xi32>
}

// CHECK-LABEL: func.func @pow(
// CHECK: "dl.pow"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<3xi64>) -> tensor<2x3xf32>
// CHECK-NEXT: "dl.pow"(%arg2, %arg3) : (tensor<?x3xf32>, tensor<f32>) -> tensor<?x3xf32>
func.func @pow(%arg0: tensor<2x3xf32>, %arg1: tensor<3xi64>, %arg2: tensor<?x3xf32>, %arg3: tensor<f32>) -> (tensor<2x3xf32>, tensor<?x3xf32>) {
  %0 = "dl.pow"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<3xi64>) -> tensor<2x3xf32>
  %1 = "dl.pow"(%arg2, %arg3) : (tensor<?x3xf32>, tensor<f32>) -> tensor<?x3xf32>
  return %0, %1 : tensor<2x3xf32>, tensor<?x3xf32>
}

// CHECK-LABEL: func.func @max(
// CHECK: "dl.max"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: "dl.max"(%arg2, %arg3) : (tensor<?x3xf32>, tensor<1x?xf32>) -> tensor<?x3xf32>
func.func @max(%arg0: tensor<2x3xf32>, %arg1: tensor<3xf32>, %arg2: tensor<?x3xf32>, %arg3: tensor<1x?xf32>) -> (tensor<2x3xf32>, tensor<?x3xf32>) {
  %0 = "dl.max"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %1 = "dl.max"(%arg2, %arg3) : (tensor<?x3xf32>, tensor<1x?xf32>) -> tensor<?x3xf32>
  return %0, %1 : tensor<2x3xf32>, tensor<?x3xf32>
}

// CHECK-LABEL: func.func @min(
// CHECK: "dl.min"(%arg0, %arg1) : (tensor<2x3xi8>, tensor<3xi8>) -> tensor<2x3xi8>
// CHECK-NEXT: "dl.min"(%arg2, %arg3) : (tensor<?x3xi8>, tensor<1x?xi8>) -> tensor<?x3xi8>
func.func @min(%arg0: tensor<2x3xi8>, %arg1: tensor<3xi8>, %arg2: tensor<?x3xi8>, %arg3: tensor<1x?xi8>) -> (tensor<2x3xi8>, tensor<?x3xi8>) {
  %0 = "dl.min"(%arg0, %arg1) : (tensor<2x3xi8>, tensor<3xi8>) -> tensor<2x3xi8>
  %1 = "dl.min"(%arg2, %arg3) : (tensor<?x3xi8>, tensor<1x?xi8>) -> tensor<?x3xi8>
  return %0, %1 : tensor<2x3xi8>, tensor<?x3xi8>
}

// Types that are only stored.
// CHECK-LABEL: func.func @stored
// CHECK: "dl.cast"(%{{.*}}) {saturate = false, to = f8E4M3FN} : (tensor<?xf32>) -> tensor<?xf8E4M3FN>
// CHECK: "dl.cast"(%{{.*}}) {rounding = "nearest", to = f8E8M0FNU} : (tensor<?xf32>) -> tensor<?xf8E8M0FNU>
// CHECK: "dl.cast"(%{{.*}}) {to = ui4} : (tensor<?xf32>) -> tensor<?xui4>
func.func @stored(%x: tensor<?xf32>) -> (tensor<?xf8E4M3FN>, tensor<?xf8E8M0FNU>, tensor<?xui4>) {
  %0 = "dl.cast"(%x) {saturate = false, to = f8E4M3FN} : (tensor<?xf32>) -> tensor<?xf8E4M3FN>
  %1 = "dl.cast"(%x) {rounding = "nearest", to = f8E8M0FNU} : (tensor<?xf32>) -> tensor<?xf8E8M0FNU>
  %2 = "dl.cast"(%x) {to = ui4} : (tensor<?xf32>) -> tensor<?xui4>
  return %0, %1, %2 : tensor<?xf8E4M3FN>, tensor<?xf8E8M0FNU>, tensor<?xui4>
}
