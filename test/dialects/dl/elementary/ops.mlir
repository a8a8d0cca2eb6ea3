// RUN: dlc-opt %s | dlc-opt | filecheck %s
// Elementary functions in each float type, static and dynamic.

// CHECK-LABEL: func.func @exp(
// CHECK: "dl.exp"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: "dl.exp"(%arg1) : (tensor<?x3xf32>) -> tensor<?x3xf32>
func.func @exp(%arg0: tensor<2x3xf32>, %arg1: tensor<?x3xf32>) -> (tensor<2x3xf32>, tensor<?x3xf32>) {
  %0 = "dl.exp"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = "dl.exp"(%arg1) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return %0, %1 : tensor<2x3xf32>, tensor<?x3xf32>
}

// CHECK-LABEL: func.func @log(
// CHECK: "dl.log"(%arg0) : (tensor<2x3xf64>) -> tensor<2x3xf64>
// CHECK-NEXT: "dl.log"(%arg1) : (tensor<?x3xf64>) -> tensor<?x3xf64>
func.func @log(%arg0: tensor<2x3xf64>, %arg1: tensor<?x3xf64>) -> (tensor<2x3xf64>, tensor<?x3xf64>) {
  %0 = "dl.log"(%arg0) : (tensor<2x3xf64>) -> tensor<2x3xf64>
  %1 = "dl.log"(%arg1) : (tensor<?x3xf64>) -> tensor<?x3xf64>
  return %0, %1 : tensor<2x3xf64>, tensor<?x3xf64>
}

// CHECK-LABEL: func.func @log1p(
// CHECK: "dl.log1p"(%arg0) : (tensor<2x3xf16>) -> tensor<2x3xf16>
// CHECK-NEXT: "dl.log1p"(%arg1) : (tensor<?x3xf16>) -> tensor<?x3xf16>
func.func @log1p(%arg0: tensor<2x3xf16>, %arg1: tensor<?x3xf16>) -> (tensor<2x3xf16>, tensor<?x3xf16>) {
  %0 = "dl.log1p"(%arg0) : (tensor<2x3xf16>) -> tensor<2x3xf16>
  %1 = "dl.log1p"(%arg1) : (tensor<?x3xf16>) -> tensor<?x3xf16>
  return %0, %1 : tensor<2x3xf16>, tensor<?x3xf16>
}

// CHECK-LABEL: func.func @sqrt(
// CHECK: "dl.sqrt"(%arg0) : (tensor<2x3xbf16>) -> tensor<2x3xbf16>
// CHECK-NEXT: "dl.sqrt"(%arg1) : (tensor<?x3xbf16>) -> tensor<?x3xbf16>
func.func @sqrt(%arg0: tensor<2x3xbf16>, %arg1: tensor<?x3xbf16>) -> (tensor<2x3xbf16>, tensor<?x3xbf16>) {
  %0 = "dl.sqrt"(%arg0) : (tensor<2x3xbf16>) -> tensor<2x3xbf16>
  %1 = "dl.sqrt"(%arg1) : (tensor<?x3xbf16>) -> tensor<?x3xbf16>
  return %0, %1 : tensor<2x3xbf16>, tensor<?x3xbf16>
}

// CHECK-LABEL: func.func @rsqrt(
// CHECK: "dl.rsqrt"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: "dl.rsqrt"(%arg1) : (tensor<?x3xf32>) -> tensor<?x3xf32>
func.func @rsqrt(%arg0: tensor<2x3xf32>, %arg1: tensor<?x3xf32>) -> (tensor<2x3xf32>, tensor<?x3xf32>) {
  %0 = "dl.rsqrt"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = "dl.rsqrt"(%arg1) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return %0, %1 : tensor<2x3xf32>, tensor<?x3xf32>
}

// CHECK-LABEL: func.func @reciprocal(
// CHECK: "dl.reciprocal"(%arg0) : (tensor<2x3xf64>) -> tensor<2x3xf64>
// CHECK-NEXT: "dl.reciprocal"(%arg1) : (tensor<?x3xf64>) -> tensor<?x3xf64>
func.func @reciprocal(%arg0: tensor<2x3xf64>, %arg1: tensor<?x3xf64>) -> (tensor<2x3xf64>, tensor<?x3xf64>) {
  %0 = "dl.reciprocal"(%arg0) : (tensor<2x3xf64>) -> tensor<2x3xf64>
  %1 = "dl.reciprocal"(%arg1) : (tensor<?x3xf64>) -> tensor<?x3xf64>
  return %0, %1 : tensor<2x3xf64>, tensor<?x3xf64>
}

// CHECK-LABEL: func.func @erf(
// CHECK: "dl.erf"(%arg0) : (tensor<2x3xf16>) -> tensor<2x3xf16>
// CHECK-NEXT: "dl.erf"(%arg1) : (tensor<?x3xf16>) -> tensor<?x3xf16>
func.func @erf(%arg0: tensor<2x3xf16>, %arg1: tensor<?x3xf16>) -> (tensor<2x3xf16>, tensor<?x3xf16>) {
  %0 = "dl.erf"(%arg0) : (tensor<2x3xf16>) -> tensor<2x3xf16>
  %1 = "dl.erf"(%arg1) : (tensor<?x3xf16>) -> tensor<?x3xf16>
  return %0, %1 : tensor<2x3xf16>, tensor<?x3xf16>
}

// CHECK-LABEL: func.func @sin(
// CHECK: "dl.sin"(%arg0) : (tensor<2x3xbf16>) -> tensor<2x3xbf16>
// CHECK-NEXT: "dl.sin"(%arg1) : (tensor<?x3xbf16>) -> tensor<?x3xbf16>
func.func @sin(%arg0: tensor<2x3xbf16>, %arg1: tensor<?x3xbf16>) -> (tensor<2x3xbf16>, tensor<?x3xbf16>) {
  %0 = "dl.sin"(%arg0) : (tensor<2x3xbf16>) -> tensor<2x3xbf16>
  %1 = "dl.sin"(%arg1) : (tensor<?x3xbf16>) -> tensor<?x3xbf16>
  return %0, %1 : tensor<2x3xbf16>, tensor<?x3xbf16>
}

// CHECK-LABEL: func.func @cos(
// CHECK: "dl.cos"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: "dl.cos"(%arg1) : (tensor<?x3xf32>) -> tensor<?x3xf32>
func.func @cos(%arg0: tensor<2x3xf32>, %arg1: tensor<?x3xf32>) -> (tensor<2x3xf32>, tensor<?x3xf32>) {
  %0 = "dl.cos"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = "dl.cos"(%arg1) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return %0, %1 : tensor<2x3xf32>, tensor<?x3xf32>
}

// CHECK-LABEL: func.func @tan(
// CHECK: "dl.tan"(%arg0) : (tensor<2x3xf64>) -> tensor<2x3xf64>
// CHECK-NEXT: "dl.tan"(%arg1) : (tensor<?x3xf64>) -> tensor<?x3xf64>
func.func @tan(%arg0: tensor<2x3xf64>, %arg1: tensor<?x3xf64>) -> (tensor<2x3xf64>, tensor<?x3xf64>) {
  %0 = "dl.tan"(%arg0) : (tensor<2x3xf64>) -> tensor<2x3xf64>
  %1 = "dl.tan"(%arg1) : (tensor<?x3xf64>) -> tensor<?x3xf64>
  return %0, %1 : tensor<2x3xf64>, tensor<?x3xf64>
}

// CHECK-LABEL: func.func @asin(
// CHECK: "dl.asin"(%arg0) : (tensor<2x3xf16>) -> tensor<2x3xf16>
// CHECK-NEXT: "dl.asin"(%arg1) : (tensor<?x3xf16>) -> tensor<?x3xf16>
func.func @asin(%arg0: tensor<2x3xf16>, %arg1: tensor<?x3xf16>) -> (tensor<2x3xf16>, tensor<?x3xf16>) {
  %0 = "dl.asin"(%arg0) : (tensor<2x3xf16>) -> tensor<2x3xf16>
  %1 = "dl.asin"(%arg1) : (tensor<?x3xf16>) -> tensor<?x3xf16>
  return %0, %1 : tensor<2x3xf16>, tensor<?x3xf16>
}

// CHECK-LABEL: func.func @acos(
// CHECK: "dl.acos"(%arg0) : (tensor<2x3xbf16>) -> tensor<2x3xbf16>
// CHECK-NEXT: "dl.acos"(%arg1) : (tensor<?x3xbf16>) -> tensor<?x3xbf16>
func.func @acos(%arg0: tensor<2x3xbf16>, %arg1: tensor<?x3xbf16>) -> (tensor<2x3xbf16>, tensor<?x3xbf16>) {
  %0 = "dl.acos"(%arg0) : (tensor<2x3xbf16>) -> tensor<2x3xbf16>
  %1 = "dl.acos"(%arg1) : (tensor<?x3xbf16>) -> tensor<?x3xbf16>
  return %0, %1 : tensor<2x3xbf16>, tensor<?x3xbf16>
}

// CHECK-LABEL: func.func @atan(
// CHECK: "dl.atan"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: "dl.atan"(%arg1) : (tensor<?x3xf32>) -> tensor<?x3xf32>
func.func @atan(%arg0: tensor<2x3xf32>, %arg1: tensor<?x3xf32>) -> (tensor<2x3xf32>, tensor<?x3xf32>) {
  %0 = "dl.atan"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = "dl.atan"(%arg1) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return %0, %1 : tensor<2x3xf32>, tensor<?x3xf32>
}

// CHECK-LABEL: func.func @sinh(
// CHECK: "dl.sinh"(%arg0) : (tensor<2x3xf64>) -> tensor<2x3xf64>
// CHECK-NEXT: "dl.sinh"(%arg1) : (tensor<?x3xf64>) -> tensor<?x3xf64>
func.func @sinh(%arg0: tensor<2x3xf64>, %arg1: tensor<?x3xf64>) -> (tensor<2x3xf64>, tensor<?x3xf64>) {
  %0 = "dl.sinh"(%arg0) : (tensor<2x3xf64>) -> tensor<2x3xf64>
  %1 = "dl.sinh"(%arg1) : (tensor<?x3xf64>) -> tensor<?x3xf64>
  return %0, %1 : tensor<2x3xf64>, tensor<?x3xf64>
}

// CHECK-LABEL: func.func @cosh(
// CHECK: "dl.cosh"(%arg0) : (tensor<2x3xf16>) -> tensor<2x3xf16>
// CHECK-NEXT: "dl.cosh"(%arg1) : (tensor<?x3xf16>) -> tensor<?x3xf16>
func.func @cosh(%arg0: tensor<2x3xf16>, %arg1: tensor<?x3xf16>) -> (tensor<2x3xf16>, tensor<?x3xf16>) {
  %0 = "dl.cosh"(%arg0) : (tensor<2x3xf16>) -> tensor<2x3xf16>
  %1 = "dl.cosh"(%arg1) : (tensor<?x3xf16>) -> tensor<?x3xf16>
  return %0, %1 : tensor<2x3xf16>, tensor<?x3xf16>
}

// CHECK-LABEL: func.func @tanh(
// CHECK: "dl.tanh"(%arg0) : (tensor<2x3xbf16>) -> tensor<2x3xbf16>
// CHECK-NEXT: "dl.tanh"(%arg1) : (tensor<?x3xbf16>) -> tensor<?x3xbf16>
func.func @tanh(%arg0: tensor<2x3xbf16>, %arg1: tensor<?x3xbf16>) -> (tensor<2x3xbf16>, tensor<?x3xbf16>) {
  %0 = "dl.tanh"(%arg0) : (tensor<2x3xbf16>) -> tensor<2x3xbf16>
  %1 = "dl.tanh"(%arg1) : (tensor<?x3xbf16>) -> tensor<?x3xbf16>
  return %0, %1 : tensor<2x3xbf16>, tensor<?x3xbf16>
}

// CHECK-LABEL: func.func @asinh(
// CHECK: "dl.asinh"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: "dl.asinh"(%arg1) : (tensor<?x3xf32>) -> tensor<?x3xf32>
func.func @asinh(%arg0: tensor<2x3xf32>, %arg1: tensor<?x3xf32>) -> (tensor<2x3xf32>, tensor<?x3xf32>) {
  %0 = "dl.asinh"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = "dl.asinh"(%arg1) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return %0, %1 : tensor<2x3xf32>, tensor<?x3xf32>
}

// CHECK-LABEL: func.func @acosh(
// CHECK: "dl.acosh"(%arg0) : (tensor<2x3xf64>) -> tensor<2x3xf64>
// CHECK-NEXT: "dl.acosh"(%arg1) : (tensor<?x3xf64>) -> tensor<?x3xf64>
func.func @acosh(%arg0: tensor<2x3xf64>, %arg1: tensor<?x3xf64>) -> (tensor<2x3xf64>, tensor<?x3xf64>) {
  %0 = "dl.acosh"(%arg0) : (tensor<2x3xf64>) -> tensor<2x3xf64>
  %1 = "dl.acosh"(%arg1) : (tensor<?x3xf64>) -> tensor<?x3xf64>
  return %0, %1 : tensor<2x3xf64>, tensor<?x3xf64>
}

// CHECK-LABEL: func.func @atanh(
// CHECK: "dl.atanh"(%arg0) : (tensor<2x3xf16>) -> tensor<2x3xf16>
// CHECK-NEXT: "dl.atanh"(%arg1) : (tensor<?x3xf16>) -> tensor<?x3xf16>
func.func @atanh(%arg0: tensor<2x3xf16>, %arg1: tensor<?x3xf16>) -> (tensor<2x3xf16>, tensor<?x3xf16>) {
  %0 = "dl.atanh"(%arg0) : (tensor<2x3xf16>) -> tensor<2x3xf16>
  %1 = "dl.atanh"(%arg1) : (tensor<?x3xf16>) -> tensor<?x3xf16>
  return %0, %1 : tensor<2x3xf16>, tensor<?x3xf16>
}
