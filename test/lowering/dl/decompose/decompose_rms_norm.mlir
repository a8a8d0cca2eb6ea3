// RUN: dlc-opt %s --dl-decompose-rms-norm | filecheck %s
// RMS norm becomes a mean square, a root and a quotient. The pass refuses nothing.

// CHECK-LABEL: func.func @rms_norm(
// CHECK-NEXT: %[[V0:.*]] = "dl.mul"(%arg0, %arg0)
// CHECK-NEXT: %[[V1:.*]] = "dl.reduce_mean"(%[[V0]]) {axes = array<i64: 2>, keepdims = true}
// CHECK-NEXT: %[[K0:.*]] = "dl.constant"() {value = dense<9.99999974E-6> : tensor<f32>}
// CHECK-NEXT: %[[V2:.*]] = "dl.add"(%[[V1]], %[[K0]])
// CHECK-NEXT: %[[V3:.*]] = "dl.sqrt"(%[[V2]])
// CHECK-NEXT: %[[V4:.*]] = "dl.div"(%arg0, %[[V3]])
// CHECK-NEXT: %[[V5:.*]] = "dl.mul"(%[[V4]], %arg1)
// CHECK-NEXT: return %[[V5]]
func.func @rms_norm(%x: tensor<2x3x4xf32>, %a: tensor<4xf32>) -> tensor<2x3x4xf32> {
  %0 = "dl.rms_norm"(%x, %a) : (tensor<2x3x4xf32>, tensor<4xf32>) -> tensor<2x3x4xf32>
  return %0 : tensor<2x3x4xf32>
}

// f16 computes in f32, as the op does.

// CHECK-LABEL: func.func @in_f32(
// CHECK: "dl.cast"(%arg0) {to = f32}
// CHECK-NOT: "dl.rms_norm"
// CHECK: "dl.cast"(%{{.*}}) {to = f16}
func.func @in_f32(%x: tensor<2x3x4xf16>, %a: tensor<4xf16>) -> tensor<2x3x4xf16> {
  %0 = "dl.rms_norm"(%x, %a) : (tensor<2x3x4xf16>, tensor<4xf16>) -> tensor<2x3x4xf16>
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
