// RUN: dlc-opt %s --dl-decompose-group-norm | filecheck %s
// Group norm becomes means over groups between two reshapes. The pass refuses nothing.

// CHECK-LABEL: func.func @group_norm(
// CHECK-NEXT: %[[V0:.*]] = "dl.reshape"(%arg0) {copied = array<i64: 0, -1, -1, 2>, shape = array<i64: -1, 2, 3, -1>}
// CHECK-NEXT: %[[V1:.*]] = "dl.reduce_mean"(%[[V0]]) {axes = array<i64: 2, 3>, keepdims = true}
// CHECK-NEXT: %[[V2:.*]] = "dl.sub"(%[[V0]], %[[V1]])
// CHECK-NEXT: %[[V3:.*]] = "dl.mul"(%[[V2]], %[[V2]])
// CHECK-NEXT: %[[V4:.*]] = "dl.reduce_mean"(%[[V3]]) {axes = array<i64: 2, 3>, keepdims = true}
// CHECK-NEXT: %[[K0:.*]] = "dl.constant"() {value = dense<9.99999974E-6> : tensor<f32>}
// CHECK-NEXT: %[[V5:.*]] = "dl.add"(%[[V4]], %[[K0]])
// CHECK-NEXT: %[[V6:.*]] = "dl.sqrt"(%[[V5]])
// CHECK-NEXT: %[[V7:.*]] = "dl.div"(%[[V2]], %[[V6]])
// CHECK-NEXT: %[[V8:.*]] = "dl.reshape"(%[[V7]]) {copied = array<i64: 0, -1, 3>, shape = array<i64: -1, 6, -1>}
// CHECK-NEXT: %[[V9:.*]] = "dl.unsqueeze"(%arg1) {axes = array<i64: 1>}
// CHECK-NEXT: %[[V10:.*]] = "dl.unsqueeze"(%arg2) {axes = array<i64: 1>}
// CHECK-NEXT: %[[V11:.*]] = "dl.mul"(%[[V8]], %[[V9]])
// CHECK-NEXT: %[[V12:.*]] = "dl.add"(%[[V11]], %[[V10]])
// CHECK-NEXT: return %[[V12]]
func.func @group_norm(%x: tensor<2x6x4xf32>, %a: tensor<6xf32>, %b: tensor<6xf32>) -> tensor<2x6x4xf32> {
  %0 = "dl.group_norm"(%x, %a, %b) {num_groups = 2 : i64} : (tensor<2x6x4xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<2x6x4xf32>
  return %0 : tensor<2x6x4xf32>
}

// f16 computes in f32, as the op does.

// CHECK-LABEL: func.func @in_f32(
// CHECK: "dl.cast"(%arg0) {to = f32}
// CHECK-NOT: "dl.group_norm"
// CHECK: "dl.cast"(%{{.*}}) {to = f16}
func.func @in_f32(%x: tensor<2x6x4xf16>, %a: tensor<6xf16>, %b: tensor<6xf16>) -> tensor<2x6x4xf16> {
  %0 = "dl.group_norm"(%x, %a, %b) {num_groups = 2 : i64} : (tensor<2x6x4xf16>, tensor<6xf16>, tensor<6xf16>) -> tensor<2x6x4xf16>
  return %0 : tensor<2x6x4xf16>
}

// no-match: another op.

// CHECK-LABEL: func.func @other(
// CHECK-NEXT: %[[Y:.*]] = "dl.tanh"(%arg0)
// CHECK-NEXT: return %[[Y]]
func.func @other(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %0 = "dl.tanh"(%x) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return %0 : tensor<2x3x4xf32>
}
