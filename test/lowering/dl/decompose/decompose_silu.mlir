// RUN: dlc-opt %s --dl-decompose-silu | filecheck %s
// SiLU becomes a product with the sigmoid. The pass refuses nothing.

// CHECK-LABEL: func.func @silu(
// CHECK-NEXT: %[[V0:.*]] = "dl.sigmoid"(%arg0)
// CHECK-NEXT: %[[V1:.*]] = "dl.mul"(%arg0, %[[V0]])
// CHECK-NEXT: return %[[V1]]
func.func @silu(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %0 = "dl.silu"(%x) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return %0 : tensor<2x3x4xf32>
}

// CHECK-LABEL: func.func @rate(
// CHECK-NEXT: %[[K0:.*]] = "dl.constant"() {value = dense<1.702000e+00> : tensor<f32>}
// CHECK-NEXT: %[[V0:.*]] = "dl.mul"(%arg0, %[[K0]])
// CHECK-NEXT: %[[V1:.*]] = "dl.sigmoid"(%[[V0]])
// CHECK-NEXT: %[[V2:.*]] = "dl.mul"(%arg0, %[[V1]])
// CHECK-NEXT: return %[[V2]]
func.func @rate(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %0 = "dl.silu"(%x) {alpha = 1.702 : f64} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return %0 : tensor<2x3x4xf32>
}

// f16 computes in f32, as the op does.

// CHECK-LABEL: func.func @in_f32(
// CHECK: "dl.cast"(%arg0) {to = f32}
// CHECK-NOT: "dl.silu"
// CHECK: "dl.cast"(%{{.*}}) {to = f16}
func.func @in_f32(%x: tensor<2x3x4xf16>) -> tensor<2x3x4xf16> {
  %0 = "dl.silu"(%x) : (tensor<2x3x4xf16>) -> tensor<2x3x4xf16>
  return %0 : tensor<2x3x4xf16>
}

// no-match: another op.

// CHECK-LABEL: func.func @other(
// CHECK-NEXT: %[[Y:.*]] = "dl.tanh"(%arg0)
// CHECK-NEXT: return %[[Y]]
func.func @other(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %0 = "dl.tanh"(%x) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return %0 : tensor<2x3x4xf32>
}
