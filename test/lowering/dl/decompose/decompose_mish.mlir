// RUN: dlc-opt %s --dl-decompose-mish | filecheck %s
// Mish becomes a product with tanh of softplus. The pass refuses nothing.

// CHECK-LABEL: func.func @mish(
// CHECK-NEXT: %[[V0:.*]] = "dl.softplus"(%arg0)
// CHECK-NEXT: %[[V1:.*]] = "dl.tanh"(%[[V0]])
// CHECK-NEXT: %[[V2:.*]] = "dl.mul"(%arg0, %[[V1]])
// CHECK-NEXT: return %[[V2]]
func.func @mish(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %0 = "dl.mish"(%x) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return %0 : tensor<2x3x4xf32>
}

// f16 computes in f32, as the op does.

// CHECK-LABEL: func.func @in_f32(
// CHECK: "dl.cast"(%arg0) {to = f32}
// CHECK-NOT: "dl.mish"
// CHECK: "dl.cast"(%{{.*}}) {to = f16}
func.func @in_f32(%x: tensor<2x3x4xf16>) -> tensor<2x3x4xf16> {
  %0 = "dl.mish"(%x) : (tensor<2x3x4xf16>) -> tensor<2x3x4xf16>
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
