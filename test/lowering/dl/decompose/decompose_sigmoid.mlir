// RUN: dlc-opt %s --dl-decompose-sigmoid | filecheck %s
// The sigmoid becomes the inverse of 1 + exp(-x). The pass refuses nothing.

// CHECK-LABEL: func.func @sigmoid(
// CHECK-NEXT: %[[V0:.*]] = "dl.neg"(%arg0)
// CHECK-NEXT: %[[V1:.*]] = "dl.exp"(%[[V0]])
// CHECK-NEXT: %[[K0:.*]] = "dl.constant"() {value = dense<1.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[V2:.*]] = "dl.add"(%[[V1]], %[[K0]])
// CHECK-NEXT: %[[V3:.*]] = "dl.reciprocal"(%[[V2]])
// CHECK-NEXT: return %[[V3]]
func.func @sigmoid(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %0 = "dl.sigmoid"(%x) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return %0 : tensor<2x3x4xf32>
}

// f16 computes in f32, as the op does.

// CHECK-LABEL: func.func @in_f32(
// CHECK: "dl.cast"(%arg0) {to = f32}
// CHECK-NOT: "dl.sigmoid"
// CHECK: "dl.cast"(%{{.*}}) {to = f16}
func.func @in_f32(%x: tensor<2x3x4xf16>) -> tensor<2x3x4xf16> {
  %0 = "dl.sigmoid"(%x) : (tensor<2x3x4xf16>) -> tensor<2x3x4xf16>
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
