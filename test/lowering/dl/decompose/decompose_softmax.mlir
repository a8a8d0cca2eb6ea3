// RUN: dlc-opt %s --dl-decompose-softmax | filecheck %s
// Softmax becomes exponentials over their sum. The pass refuses nothing.

// CHECK-LABEL: func.func @softmax(
// CHECK-NEXT: %[[V0:.*]] = "dl.reduce_max"(%arg0) {axes = array<i64: 1>, keepdims = true}
// CHECK-NEXT: %[[V1:.*]] = "dl.sub"(%arg0, %[[V0]])
// CHECK-NEXT: %[[V2:.*]] = "dl.exp"(%[[V1]])
// CHECK-NEXT: %[[V3:.*]] = "dl.reduce_sum"(%[[V2]]) {axes = array<i64: 1>, keepdims = true}
// CHECK-NEXT: %[[V4:.*]] = "dl.div"(%[[V2]], %[[V3]])
// CHECK-NEXT: return %[[V4]]
func.func @softmax(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %0 = "dl.softmax"(%x) {axis = 1 : i64} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return %0 : tensor<2x3x4xf32>
}

// f16 computes in f32, as the op does.

// CHECK-LABEL: func.func @in_f32(
// CHECK: "dl.cast"(%arg0) {to = f32}
// CHECK-NOT: "dl.softmax"
// CHECK: "dl.cast"(%{{.*}}) {to = f16}
func.func @in_f32(%x: tensor<2x3x4xf16>) -> tensor<2x3x4xf16> {
  %0 = "dl.softmax"(%x) {axis = 1 : i64} : (tensor<2x3x4xf16>) -> tensor<2x3x4xf16>
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
