// RUN: dlc-opt %s --dl-decompose-softplus | filecheck %s
// Softplus becomes a rectifier and a logarithm that can't overflow. The pass refuses nothing.

// CHECK-LABEL: func.func @softplus(
// CHECK-NEXT: %[[V0:.*]] = "dl.relu"(%arg0)
// CHECK-NEXT: %[[V1:.*]] = "dl.abs"(%arg0)
// CHECK-NEXT: %[[V2:.*]] = "dl.neg"(%[[V1]])
// CHECK-NEXT: %[[V3:.*]] = "dl.exp"(%[[V2]])
// CHECK-NEXT: %[[V4:.*]] = "dl.log1p"(%[[V3]])
// CHECK-NEXT: %[[V5:.*]] = "dl.add"(%[[V0]], %[[V4]])
// CHECK-NEXT: return %[[V5]]
func.func @softplus(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %0 = "dl.softplus"(%x) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return %0 : tensor<2x3x4xf32>
}

// f16 computes in f32, as the op does.

// CHECK-LABEL: func.func @in_f32(
// CHECK: "dl.cast"(%arg0) {to = f32}
// CHECK-NOT: "dl.softplus"
// CHECK: "dl.cast"(%{{.*}}) {to = f16}
func.func @in_f32(%x: tensor<2x3x4xf16>) -> tensor<2x3x4xf16> {
  %0 = "dl.softplus"(%x) : (tensor<2x3x4xf16>) -> tensor<2x3x4xf16>
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
