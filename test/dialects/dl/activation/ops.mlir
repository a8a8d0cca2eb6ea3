// RUN: dlc-opt %s | dlc-opt | filecheck %s
// Activation functions with their attributes, static and dynamic.

// CHECK-LABEL: func.func @relu(
// CHECK: "dl.relu"(%arg0) : (tensor<2x3xi32>) -> tensor<2x3xi32>
// CHECK-NEXT: "dl.relu"(%arg1) : (tensor<?x3xi32>) -> tensor<?x3xi32>
func.func @relu(%arg0: tensor<2x3xi32>, %arg1: tensor<?x3xi32>) -> (tensor<2x3xi32>, tensor<?x3xi32>) {
  %0 = "dl.relu"(%arg0) : (tensor<2x3xi32>) -> tensor<2x3xi32>
  %1 = "dl.relu"(%arg1) : (tensor<?x3xi32>) -> tensor<?x3xi32>
  return %0, %1 : tensor<2x3xi32>, tensor<?x3xi32>
}

// CHECK-LABEL: func.func @leaky_relu(
// CHECK: "dl.leaky_relu"(%arg0) {alpha = 2.000000e-01 : f64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: "dl.leaky_relu"(%arg1) {alpha = 2.000000e-01 : f64} : (tensor<?x3xf32>) -> tensor<?x3xf32>
func.func @leaky_relu(%arg0: tensor<2x3xf32>, %arg1: tensor<?x3xf32>) -> (tensor<2x3xf32>, tensor<?x3xf32>) {
  %0 = "dl.leaky_relu"(%arg0) {alpha = 2.000000e-01 : f64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = "dl.leaky_relu"(%arg1) {alpha = 2.000000e-01 : f64} : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return %0, %1 : tensor<2x3xf32>, tensor<?x3xf32>
}

// CHECK-LABEL: func.func @prelu(
// CHECK: "dl.prelu"(%arg0, %arg1) : (tensor<2x3x5xf32>, tensor<3x1xf32>) -> tensor<2x3x5xf32>
// CHECK-NEXT: "dl.prelu"(%arg2, %arg3) : (tensor<?x3x?xf32>, tensor<3x1xf32>) -> tensor<?x3x?xf32>
func.func @prelu(%arg0: tensor<2x3x5xf32>, %arg1: tensor<3x1xf32>, %arg2: tensor<?x3x?xf32>, %arg3: tensor<3x1xf32>) -> (tensor<2x3x5xf32>, tensor<?x3x?xf32>) {
  %0 = "dl.prelu"(%arg0, %arg1) : (tensor<2x3x5xf32>, tensor<3x1xf32>) -> tensor<2x3x5xf32>
  %1 = "dl.prelu"(%arg2, %arg3) : (tensor<?x3x?xf32>, tensor<3x1xf32>) -> tensor<?x3x?xf32>
  return %0, %1 : tensor<2x3x5xf32>, tensor<?x3x?xf32>
}

// CHECK-LABEL: func.func @thresholded_relu(
// CHECK: "dl.thresholded_relu"(%arg0) : (tensor<2x3xf16>) -> tensor<2x3xf16>
// CHECK-NEXT: "dl.thresholded_relu"(%arg1) : (tensor<?x3xf16>) -> tensor<?x3xf16>
func.func @thresholded_relu(%arg0: tensor<2x3xf16>, %arg1: tensor<?x3xf16>) -> (tensor<2x3xf16>, tensor<?x3xf16>) {
  %0 = "dl.thresholded_relu"(%arg0) : (tensor<2x3xf16>) -> tensor<2x3xf16>
  %1 = "dl.thresholded_relu"(%arg1) : (tensor<?x3xf16>) -> tensor<?x3xf16>
  return %0, %1 : tensor<2x3xf16>, tensor<?x3xf16>
}

// CHECK-LABEL: func.func @elu(
// CHECK: "dl.elu"(%arg0) {alpha = 2.000000e+00 : f64, rate = 5.000000e-01 : f64, scale = 1.500000e+00 : f64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: "dl.elu"(%arg1) {alpha = 2.000000e+00 : f64, rate = 5.000000e-01 : f64, scale = 1.500000e+00 : f64} : (tensor<?x3xf32>) -> tensor<?x3xf32>
func.func @elu(%arg0: tensor<2x3xf32>, %arg1: tensor<?x3xf32>) -> (tensor<2x3xf32>, tensor<?x3xf32>) {
  %0 = "dl.elu"(%arg0) {alpha = 2.000000e+00 : f64, rate = 5.000000e-01 : f64, scale = 1.500000e+00 : f64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = "dl.elu"(%arg1) {alpha = 2.000000e+00 : f64, rate = 5.000000e-01 : f64, scale = 1.500000e+00 : f64} : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return %0, %1 : tensor<2x3xf32>, tensor<?x3xf32>
}

// CHECK-LABEL: func.func @sigmoid(
// CHECK: "dl.sigmoid"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: "dl.sigmoid"(%arg1) : (tensor<?x3xf32>) -> tensor<?x3xf32>
func.func @sigmoid(%arg0: tensor<2x3xf32>, %arg1: tensor<?x3xf32>) -> (tensor<2x3xf32>, tensor<?x3xf32>) {
  %0 = "dl.sigmoid"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = "dl.sigmoid"(%arg1) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return %0, %1 : tensor<2x3xf32>, tensor<?x3xf32>
}

// CHECK-LABEL: func.func @hard_sigmoid(
// CHECK: "dl.hard_sigmoid"(%arg0) {beta = 2.500000e-01 : f64} : (tensor<2x3xf64>) -> tensor<2x3xf64>
// CHECK-NEXT: "dl.hard_sigmoid"(%arg1) {beta = 2.500000e-01 : f64} : (tensor<?x3xf64>) -> tensor<?x3xf64>
func.func @hard_sigmoid(%arg0: tensor<2x3xf64>, %arg1: tensor<?x3xf64>) -> (tensor<2x3xf64>, tensor<?x3xf64>) {
  %0 = "dl.hard_sigmoid"(%arg0) {beta = 2.500000e-01 : f64} : (tensor<2x3xf64>) -> tensor<2x3xf64>
  %1 = "dl.hard_sigmoid"(%arg1) {beta = 2.500000e-01 : f64} : (tensor<?x3xf64>) -> tensor<?x3xf64>
  return %0, %1 : tensor<2x3xf64>, tensor<?x3xf64>
}

// CHECK-LABEL: func.func @hard_swish(
// CHECK: "dl.hard_swish"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: "dl.hard_swish"(%arg1) : (tensor<?x3xf32>) -> tensor<?x3xf32>
func.func @hard_swish(%arg0: tensor<2x3xf32>, %arg1: tensor<?x3xf32>) -> (tensor<2x3xf32>, tensor<?x3xf32>) {
  %0 = "dl.hard_swish"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = "dl.hard_swish"(%arg1) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return %0, %1 : tensor<2x3xf32>, tensor<?x3xf32>
}

// CHECK-LABEL: func.func @silu(
// CHECK: "dl.silu"(%arg0) {alpha = 1.702000e+00 : f64} : (tensor<2x3xbf16>) -> tensor<2x3xbf16>
// CHECK-NEXT: "dl.silu"(%arg1) {alpha = 1.702000e+00 : f64} : (tensor<?x3xbf16>) -> tensor<?x3xbf16>
func.func @silu(%arg0: tensor<2x3xbf16>, %arg1: tensor<?x3xbf16>) -> (tensor<2x3xbf16>, tensor<?x3xbf16>) {
  %0 = "dl.silu"(%arg0) {alpha = 1.702000e+00 : f64} : (tensor<2x3xbf16>) -> tensor<2x3xbf16>
  %1 = "dl.silu"(%arg1) {alpha = 1.702000e+00 : f64} : (tensor<?x3xbf16>) -> tensor<?x3xbf16>
  return %0, %1 : tensor<2x3xbf16>, tensor<?x3xbf16>
}

// CHECK-LABEL: func.func @softplus(
// CHECK: "dl.softplus"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: "dl.softplus"(%arg1) : (tensor<?x3xf32>) -> tensor<?x3xf32>
func.func @softplus(%arg0: tensor<2x3xf32>, %arg1: tensor<?x3xf32>) -> (tensor<2x3xf32>, tensor<?x3xf32>) {
  %0 = "dl.softplus"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = "dl.softplus"(%arg1) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return %0, %1 : tensor<2x3xf32>, tensor<?x3xf32>
}

// CHECK-LABEL: func.func @softsign(
// CHECK: "dl.softsign"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: "dl.softsign"(%arg1) : (tensor<?x3xf32>) -> tensor<?x3xf32>
func.func @softsign(%arg0: tensor<2x3xf32>, %arg1: tensor<?x3xf32>) -> (tensor<2x3xf32>, tensor<?x3xf32>) {
  %0 = "dl.softsign"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = "dl.softsign"(%arg1) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return %0, %1 : tensor<2x3xf32>, tensor<?x3xf32>
}

// CHECK-LABEL: func.func @mish(
// CHECK: "dl.mish"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: "dl.mish"(%arg1) : (tensor<?x3xf32>) -> tensor<?x3xf32>
func.func @mish(%arg0: tensor<2x3xf32>, %arg1: tensor<?x3xf32>) -> (tensor<2x3xf32>, tensor<?x3xf32>) {
  %0 = "dl.mish"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = "dl.mish"(%arg1) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return %0, %1 : tensor<2x3xf32>, tensor<?x3xf32>
}

// CHECK-LABEL: func.func @gelu(
// CHECK: "dl.gelu"(%arg0) {approximate = "tanh"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: "dl.gelu"(%arg1) {approximate = "tanh"} : (tensor<?x3xf32>) -> tensor<?x3xf32>
func.func @gelu(%arg0: tensor<2x3xf32>, %arg1: tensor<?x3xf32>) -> (tensor<2x3xf32>, tensor<?x3xf32>) {
  %0 = "dl.gelu"(%arg0) {approximate = "tanh"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = "dl.gelu"(%arg1) {approximate = "tanh"} : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return %0, %1 : tensor<2x3xf32>, tensor<?x3xf32>
}
