// RUN: dlc-opt %s --dl-decompose-rotary-embedding --split-input-file --verify-diagnostics | filecheck %s
// Rotary embedding becomes slices, products and a concatenation.

// CHECK-LABEL: func.func @rotary_embedding(
// CHECK-NEXT: %[[V0:.*]] = "dl.slice"(%arg0) {axes = array<i64: 3>, ends = array<i64: 4>, starts = array<i64: 0>, steps = array<i64: 1>}
// CHECK-NEXT: %[[V1:.*]] = "dl.slice"(%arg0) {axes = array<i64: 3>, ends = array<i64: 8>, starts = array<i64: 4>, steps = array<i64: 1>}
// CHECK-NEXT: %[[V2:.*]] = "dl.unsqueeze"(%arg1) {axes = array<i64: 1>}
// CHECK-NEXT: %[[V3:.*]] = "dl.unsqueeze"(%arg2) {axes = array<i64: 1>}
// CHECK-NEXT: %[[V4:.*]] = "dl.mul"(%[[V0]], %[[V2]])
// CHECK-NEXT: %[[V5:.*]] = "dl.mul"(%[[V1]], %[[V3]])
// CHECK-NEXT: %[[V6:.*]] = "dl.sub"(%[[V4]], %[[V5]])
// CHECK-NEXT: %[[V7:.*]] = "dl.mul"(%[[V1]], %[[V2]])
// CHECK-NEXT: %[[V8:.*]] = "dl.mul"(%[[V0]], %[[V3]])
// CHECK-NEXT: %[[V9:.*]] = "dl.add"(%[[V7]], %[[V8]])
// CHECK-NEXT: %[[V10:.*]] = "dl.concat"(%[[V6]], %[[V9]]) {axis = 3 : i64}
// CHECK-NEXT: return %[[V10]]
func.func @rotary_embedding(%x: tensor<2x3x5x8xf32>, %a: tensor<1x5x4xf32>, %b: tensor<1x5x4xf32>) -> tensor<2x3x5x8xf32> {
  %0 = "dl.rotary_embedding"(%x, %a, %b) : (tensor<2x3x5x8xf32>, tensor<1x5x4xf32>, tensor<1x5x4xf32>) -> tensor<2x3x5x8xf32>
  return %0 : tensor<2x3x5x8xf32>
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

func.func @dynamic_features(%x: tensor<2x3x5x?xf32>, %c: tensor<1x5x?xf32>) -> tensor<2x3x5x?xf32> {
  // expected-error@+1 {{its number of features is dynamic; give an input with a static size}}
  %0 = "dl.rotary_embedding"(%x, %c, %c) : (tensor<2x3x5x?xf32>, tensor<1x5x?xf32>, tensor<1x5x?xf32>) -> tensor<2x3x5x?xf32>
  return %0 : tensor<2x3x5x?xf32>
}
