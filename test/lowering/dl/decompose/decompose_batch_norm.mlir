// RUN: dlc-opt %s --dl-decompose-batch-norm | filecheck %s
// Batch norm becomes arithmetic with its weights. The pass refuses nothing.

// CHECK-LABEL: func.func @batch_norm(
// CHECK-NEXT: %[[V0:.*]] = "dl.unsqueeze"(%arg1) {axes = array<i64: 1>}
// CHECK-NEXT: %[[V1:.*]] = "dl.unsqueeze"(%arg2) {axes = array<i64: 1>}
// CHECK-NEXT: %[[V2:.*]] = "dl.unsqueeze"(%arg3) {axes = array<i64: 1>}
// CHECK-NEXT: %[[V3:.*]] = "dl.unsqueeze"(%arg4) {axes = array<i64: 1>}
// CHECK-NEXT: %[[V4:.*]] = "dl.sub"(%arg0, %[[V2]])
// CHECK-NEXT: %[[K0:.*]] = "dl.constant"() {value = dense<9.99999974E-6> : tensor<f32>}
// CHECK-NEXT: %[[V5:.*]] = "dl.add"(%[[V3]], %[[K0]])
// CHECK-NEXT: %[[V6:.*]] = "dl.sqrt"(%[[V5]])
// CHECK-NEXT: %[[V7:.*]] = "dl.div"(%[[V4]], %[[V6]])
// CHECK-NEXT: %[[V8:.*]] = "dl.mul"(%[[V7]], %[[V0]])
// CHECK-NEXT: %[[V9:.*]] = "dl.add"(%[[V8]], %[[V1]])
// CHECK-NEXT: return %[[V9]]
func.func @batch_norm(%x: tensor<2x3x4xf32>, %a: tensor<3xf32>, %b: tensor<3xf32>, %c: tensor<3xf32>, %d: tensor<3xf32>) -> tensor<2x3x4xf32> {
  %0 = "dl.batch_norm"(%x, %a, %b, %c, %d) : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x4xf32>
  return %0 : tensor<2x3x4xf32>
}

// f16 computes in f32, as the op does.

// CHECK-LABEL: func.func @in_f32(
// CHECK: "dl.cast"(%arg0) {to = f32}
// CHECK-NOT: "dl.batch_norm"
// CHECK: "dl.cast"(%{{.*}}) {to = f16}
func.func @in_f32(%x: tensor<2x3x4xf16>, %a: tensor<3xf16>, %b: tensor<3xf16>, %c: tensor<3xf16>, %d: tensor<3xf16>) -> tensor<2x3x4xf16> {
  %0 = "dl.batch_norm"(%x, %a, %b, %c, %d) : (tensor<2x3x4xf16>, tensor<3xf16>, tensor<3xf16>, tensor<3xf16>, tensor<3xf16>) -> tensor<2x3x4xf16>
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
