// RUN: dlc-opt %s --dl-decompose-hard-swish | filecheck %s
// Hard-swish becomes a product with a line between bounds. The pass refuses nothing.

// CHECK-LABEL: func.func @hard_swish(
// CHECK-NEXT: %[[K0:.*]] = "dl.constant"() {value = dense<3.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[V0:.*]] = "dl.add"(%arg0, %[[K0]])
// CHECK-NEXT: %[[V1:.*]] = "dl.clip"(%[[V0]]) {high = 6.000000e+00 : f64, low = 0.000000e+00 : f64}
// CHECK-NEXT: %[[K1:.*]] = "dl.constant"() {value = dense<6.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[V2:.*]] = "dl.div"(%[[V1]], %[[K1]])
// CHECK-NEXT: %[[V3:.*]] = "dl.mul"(%arg0, %[[V2]])
// CHECK-NEXT: return %[[V3]]
func.func @hard_swish(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %0 = "dl.hard_swish"(%x) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return %0 : tensor<2x3x4xf32>
}

// f16 computes in f32, as the op does.

// CHECK-LABEL: func.func @in_f32(
// CHECK: "dl.cast"(%arg0) {to = f32}
// CHECK-NOT: "dl.hard_swish"
// CHECK: "dl.cast"(%{{.*}}) {to = f16}
func.func @in_f32(%x: tensor<2x3x4xf16>) -> tensor<2x3x4xf16> {
  %0 = "dl.hard_swish"(%x) : (tensor<2x3x4xf16>) -> tensor<2x3x4xf16>
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
