// RUN: dlc-opt %s --dl-decompose-attention --split-input-file --verify-diagnostics | filecheck %s
// Attention becomes two products of matrices with a softmax between them.

// CHECK-LABEL: func.func @attention(
// CHECK-NEXT: %[[V0:.*]] = "dl.unsqueeze"(%arg1) {axes = array<i64: 2>}
// CHECK-NEXT: %[[V1:.*]] = "dl.expand"(%[[V0]]) {shape = array<i64: 1, 1, 2, 1, 1>}
// CHECK-NEXT: %[[V2:.*]] = "dl.reshape"(%[[V1]]) {copied = array<i64: 0, -1, 3, 4>, shape = array<i64: -1, 4, -1, -1>}
// CHECK-NEXT: %[[V3:.*]] = "dl.unsqueeze"(%arg2) {axes = array<i64: 2>}
// CHECK-NEXT: %[[V4:.*]] = "dl.expand"(%[[V3]]) {shape = array<i64: 1, 1, 2, 1, 1>}
// CHECK-NEXT: %[[V5:.*]] = "dl.reshape"(%[[V4]]) {copied = array<i64: 0, -1, 3, 4>, shape = array<i64: -1, 4, -1, -1>}
// CHECK-NEXT: %[[V6:.*]] = "dl.transpose"(%[[V2]]) {perm = array<i64: 0, 1, 3, 2>}
// CHECK-NEXT: %[[V7:.*]] = "dl.matmul"(%arg0, %[[V6]])
// CHECK-NEXT: %[[K0:.*]] = "dl.constant"() {value = dense<2.500000e-01> : tensor<f32>}
// CHECK-NEXT: %[[V8:.*]] = "dl.mul"(%[[V7]], %[[K0]])
// CHECK-NEXT: %[[V9:.*]] = "dl.add"(%[[V8]], %arg3)
// CHECK-NEXT: %[[V10:.*]] = "dl.softmax"(%[[V9]])
// CHECK-NEXT: %[[V11:.*]] = "dl.reduce_max"(%[[V9]]) {axes = array<i64: 3>, keepdims = true}
// CHECK-NEXT: %[[K1:.*]] = "dl.constant"() {value = dense<0xFF800000> : tensor<f32>}
// CHECK-NEXT: %[[V12:.*]] = "dl.equal"(%[[V11]], %[[K1]])
// CHECK-NEXT: %[[K2:.*]] = "dl.constant"() {value = dense<0.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[V13:.*]] = "dl.where"(%[[V12]], %[[K2]], %[[V10]])
// CHECK-NEXT: %[[V14:.*]] = "dl.matmul"(%[[V13]], %[[V5]])
// CHECK-NEXT: return %[[V14]]
func.func @attention(%x: tensor<2x4x5x16xf32>, %a: tensor<2x2x6x16xf32>, %b: tensor<2x2x6x16xf32>, %c: tensor<5x6xf32>) -> tensor<2x4x5x16xf32> {
  %0 = "dl.attention"(%x, %a, %b, %c) : (tensor<2x4x5x16xf32>, tensor<2x2x6x16xf32>, tensor<2x2x6x16xf32>, tensor<5x6xf32>) -> tensor<2x4x5x16xf32>
  return %0 : tensor<2x4x5x16xf32>
}

// no-match: another op.

// CHECK-LABEL: func.func @other(
// CHECK-NEXT: %[[Y:.*]] = "dl.tanh"(%arg0)
// CHECK-NEXT: return %[[Y]]
func.func @other(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "dl.tanh"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @dynamic_heads(%q: tensor<2x?x5x16xf32>, %k: tensor<2x?x6x16xf32>) -> tensor<2x?x5x16xf32> {
  // expected-error@+1 {{the number of heads is dynamic; give inputs a static number of heads}}
  %0 = "dl.attention"(%q, %k, %k) : (tensor<2x?x5x16xf32>, tensor<2x?x6x16xf32>, tensor<2x?x6x16xf32>) -> tensor<2x?x5x16xf32>
  return %0 : tensor<2x?x5x16xf32>
}

// -----

func.func @dynamic_scale(%q: tensor<2x4x5x?xf32>) -> tensor<2x4x5x?xf32> {
  // expected-error@+1 {{the scale depends on a dynamic size; give the attribute scale}}
  %0 = "dl.attention"(%q, %q, %q) : (tensor<2x4x5x?xf32>, tensor<2x4x5x?xf32>, tensor<2x4x5x?xf32>) -> tensor<2x4x5x?xf32>
  return %0 : tensor<2x4x5x?xf32>
}
