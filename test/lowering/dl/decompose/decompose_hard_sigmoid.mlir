// RUN: dlc-opt %s --dl-decompose-hard-sigmoid | filecheck %s
// Hard sigmoid becomes a line between bounds. The pass refuses nothing.

// CHECK-LABEL: func.func @hard_sigmoid(
// CHECK-NEXT: %[[K0:.*]] = "dl.constant"() {value = dense<2.000000e-01> : tensor<f32>}
// CHECK-NEXT: %[[V0:.*]] = "dl.mul"(%arg0, %[[K0]])
// CHECK-NEXT: %[[K1:.*]] = "dl.constant"() {value = dense<5.000000e-01> : tensor<f32>}
// CHECK-NEXT: %[[V1:.*]] = "dl.add"(%[[V0]], %[[K1]])
// CHECK-NEXT: %[[V2:.*]] = "dl.clip"(%[[V1]]) {high = 1.000000e+00 : f64, low = 0.000000e+00 : f64}
// CHECK-NEXT: return %[[V2]]
func.func @hard_sigmoid(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %0 = "dl.hard_sigmoid"(%x) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return %0 : tensor<2x3x4xf32>
}

// f16 computes in f32, as the op does.

// CHECK-LABEL: func.func @in_f32(
// CHECK: "dl.cast"(%arg0) {to = f32}
// CHECK-NOT: "dl.hard_sigmoid"
// CHECK: "dl.cast"(%{{.*}}) {to = f16}
func.func @in_f32(%x: tensor<2x3x4xf16>) -> tensor<2x3x4xf16> {
  %0 = "dl.hard_sigmoid"(%x) : (tensor<2x3x4xf16>) -> tensor<2x3x4xf16>
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
