// RUN: dlc-opt %s --dl-decompose-instance-norm | filecheck %s
// Instance norm becomes means over the spatial axes, a root and a quotient. The pass refuses nothing.

// CHECK-LABEL: func.func @instance_norm(
// CHECK-NEXT: %[[V0:.*]] = "dl.reduce_mean"(%arg0) {axes = array<i64: 2>, keepdims = true}
// CHECK-NEXT: %[[V1:.*]] = "dl.sub"(%arg0, %[[V0]])
// CHECK-NEXT: %[[V2:.*]] = "dl.mul"(%[[V1]], %[[V1]])
// CHECK-NEXT: %[[V3:.*]] = "dl.reduce_mean"(%[[V2]]) {axes = array<i64: 2>, keepdims = true}
// CHECK-NEXT: %[[K0:.*]] = "dl.constant"() {value = dense<9.99999974E-6> : tensor<f32>}
// CHECK-NEXT: %[[V4:.*]] = "dl.add"(%[[V3]], %[[K0]])
// CHECK-NEXT: %[[V5:.*]] = "dl.sqrt"(%[[V4]])
// CHECK-NEXT: %[[V6:.*]] = "dl.div"(%[[V1]], %[[V5]])
// CHECK-NEXT: %[[V7:.*]] = "dl.unsqueeze"(%arg1) {axes = array<i64: 1>}
// CHECK-NEXT: %[[V8:.*]] = "dl.unsqueeze"(%arg2) {axes = array<i64: 1>}
// CHECK-NEXT: %[[V9:.*]] = "dl.mul"(%[[V6]], %[[V7]])
// CHECK-NEXT: %[[V10:.*]] = "dl.add"(%[[V9]], %[[V8]])
// CHECK-NEXT: return %[[V10]]
func.func @instance_norm(%x: tensor<2x3x4xf32>, %a: tensor<3xf32>, %b: tensor<3xf32>) -> tensor<2x3x4xf32> {
  %0 = "dl.instance_norm"(%x, %a, %b) : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x4xf32>
  return %0 : tensor<2x3x4xf32>
}

// f16 computes in f32, as the op does.

// CHECK-LABEL: func.func @in_f32(
// CHECK: "dl.cast"(%arg0) {to = f32}
// CHECK-NOT: "dl.instance_norm"
// CHECK: "dl.cast"(%{{.*}}) {to = f16}
func.func @in_f32(%x: tensor<2x3x4xf16>, %a: tensor<3xf16>, %b: tensor<3xf16>) -> tensor<2x3x4xf16> {
  %0 = "dl.instance_norm"(%x, %a, %b) : (tensor<2x3x4xf16>, tensor<3xf16>, tensor<3xf16>) -> tensor<2x3x4xf16>
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
