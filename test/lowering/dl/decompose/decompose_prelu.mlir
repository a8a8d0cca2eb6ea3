// RUN: dlc-opt %s --dl-decompose-prelu | filecheck %s
// PReLU becomes a choice. The pass refuses nothing.

// CHECK-LABEL: func.func @prelu(
// CHECK-NEXT: %[[K0:.*]] = "dl.constant"() {value = dense<0.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[V0:.*]] = "dl.less"(%arg0, %[[K0]])
// CHECK-NEXT: %[[V1:.*]] = "dl.mul"(%arg0, %arg1)
// CHECK-NEXT: %[[V2:.*]] = "dl.where"(%[[V0]], %[[V1]], %arg0)
// CHECK-NEXT: return %[[V2]]
func.func @prelu(%x: tensor<2x3x4xf32>, %a: tensor<3x1xf32>) -> tensor<2x3x4xf32> {
  %0 = "dl.prelu"(%x, %a) : (tensor<2x3x4xf32>, tensor<3x1xf32>) -> tensor<2x3x4xf32>
  return %0 : tensor<2x3x4xf32>
}

// f16 computes in f32, as the op does.

// CHECK-LABEL: func.func @in_f32(
// CHECK: "dl.cast"(%arg0) {to = f32}
// CHECK-NOT: "dl.prelu"
// CHECK: "dl.cast"(%{{.*}}) {to = f16}
func.func @in_f32(%x: tensor<2x3x4xf16>, %a: tensor<3x1xf16>) -> tensor<2x3x4xf16> {
  %0 = "dl.prelu"(%x, %a) : (tensor<2x3x4xf16>, tensor<3x1xf16>) -> tensor<2x3x4xf16>
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
