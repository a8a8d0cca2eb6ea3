// RUN: dlc-opt %s --dl-recompose-attention | filecheck %s
// Attention is found in what exporters write. The pass refuses nothing.

// CHECK-LABEL: func.func @added_mask(
// CHECK: %[[V0:.*]] = "dl.attention"(%arg0, %arg1, %arg2, %arg3)
// CHECK: return %[[V0]]
func.func @added_mask(%q: tensor<2x4x5x16xf32>, %k: tensor<2x4x6x16xf32>, %v: tensor<2x4x6x16xf32>, %mask: tensor<2x1x1x6xf32>) -> tensor<2x4x5x16xf32> {
  %root = "dl.constant"() {value = dense<4.0> : tensor<f32>} : () -> tensor<f32>
  %t = "dl.transpose"(%k) {perm = array<i64: 0, 1, 3, 2>} : (tensor<2x4x6x16xf32>) -> tensor<2x4x16x6xf32>
  %p = "dl.matmul"(%q, %t) : (tensor<2x4x5x16xf32>, tensor<2x4x16x6xf32>) -> tensor<2x4x5x6xf32>
  %d = "dl.div"(%p, %root) : (tensor<2x4x5x6xf32>, tensor<f32>) -> tensor<2x4x5x6xf32>
  %s = "dl.add"(%d, %mask) : (tensor<2x4x5x6xf32>, tensor<2x1x1x6xf32>) -> tensor<2x4x5x6xf32>
  %w = "dl.softmax"(%s) : (tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  %y = "dl.matmul"(%w, %v) : (tensor<2x4x5x6xf32>, tensor<2x4x6x16xf32>) -> tensor<2x4x5x16xf32>
  return %y : tensor<2x4x5x16xf32>
}

// torch scales queries and keys, and guards rows that are hidden as a whole.

// CHECK-LABEL: func.func @guarded(
// CHECK: %[[V0:.*]] = "dl.attention"(%arg0, %arg1, %arg2, %arg3)
// CHECK: return %[[V0]]
func.func @guarded(%q: tensor<2x4x5x16xf32>, %k: tensor<2x4x6x16xf32>, %v: tensor<2x4x6x16xf32>, %mask: tensor<5x6xi1>) -> tensor<2x4x5x16xf32> {
  %root = "dl.constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %zero = "dl.constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %hidden = "dl.constant"() {value = dense<0xFF800000> : tensor<f32>} : () -> tensor<f32>
  %t = "dl.transpose"(%k) {perm = array<i64: 0, 1, 3, 2>} : (tensor<2x4x6x16xf32>) -> tensor<2x4x16x6xf32>
  %a = "dl.mul"(%q, %root) : (tensor<2x4x5x16xf32>, tensor<f32>) -> tensor<2x4x5x16xf32>
  %b = "dl.mul"(%t, %root) : (tensor<2x4x16x6xf32>, tensor<f32>) -> tensor<2x4x16x6xf32>
  %p = "dl.matmul"(%a, %b) : (tensor<2x4x5x16xf32>, tensor<2x4x16x6xf32>) -> tensor<2x4x5x6xf32>
  %m = "dl.where"(%mask, %zero, %hidden) : (tensor<5x6xi1>, tensor<f32>, tensor<f32>) -> tensor<5x6xf32>
  %s = "dl.add"(%p, %m) : (tensor<2x4x5x6xf32>, tensor<5x6xf32>) -> tensor<2x4x5x6xf32>
  %w = "dl.softmax"(%s) : (tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  %n = "dl.isnan"(%w) : (tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xi1>
  %g = "dl.where"(%n, %zero, %w) : (tensor<2x4x5x6xi1>, tensor<f32>, tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  %y = "dl.matmul"(%g, %v) : (tensor<2x4x5x6xf32>, tensor<2x4x6x16xf32>) -> tensor<2x4x5x16xf32>
  return %y : tensor<2x4x5x16xf32>
}

// The lowest number absorbs the scores: it may be added.

// CHECK-LABEL: func.func @lowest(
// CHECK: %[[V0:.*]] = "dl.where"(%arg3, %{{.*}}, %{{.*}})
// CHECK: %[[V1:.*]] = "dl.attention"(%arg0, %arg1, %arg2, %[[V0]])
// CHECK: return %[[V1]]
func.func @lowest(%q: tensor<2x4x5x16xf32>, %k: tensor<2x4x6x16xf32>, %v: tensor<2x4x6x16xf32>, %mask: tensor<1x1x5x6xi1>) -> tensor<2x4x5x16xf32> {
  %root = "dl.constant"() {value = dense<4.0> : tensor<f32>} : () -> tensor<f32>
  %least = "dl.constant"() {value = dense<-3.40282347e+38> : tensor<f32>} : () -> tensor<f32>
  %t = "dl.transpose"(%k) {perm = array<i64: 0, 1, 3, 2>} : (tensor<2x4x6x16xf32>) -> tensor<2x4x16x6xf32>
  %p = "dl.matmul"(%q, %t) : (tensor<2x4x5x16xf32>, tensor<2x4x16x6xf32>) -> tensor<2x4x5x6xf32>
  %d = "dl.div"(%p, %root) : (tensor<2x4x5x6xf32>, tensor<f32>) -> tensor<2x4x5x6xf32>
  %s = "dl.where"(%mask, %d, %least) : (tensor<1x1x5x6xi1>, tensor<2x4x5x6xf32>, tensor<f32>) -> tensor<2x4x5x6xf32>
  %w = "dl.softmax"(%s) : (tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  %y = "dl.matmul"(%w, %v) : (tensor<2x4x5x6xf32>, tensor<2x4x6x16xf32>) -> tensor<2x4x5x16xf32>
  return %y : tensor<2x4x5x16xf32>
}

// CHECK-LABEL: func.func @causal(
// CHECK: %[[V0:.*]] = "dl.attention"(%arg0, %arg1, %arg2) {is_causal = true}
// CHECK: return %[[V0]]
func.func @causal(%q: tensor<2x4x5x16xf32>, %k: tensor<2x4x5x16xf32>, %v: tensor<2x4x5x16xf32>) -> tensor<2x4x5x16xf32> {
  %root = "dl.constant"() {value = dense<4.0> : tensor<f32>} : () -> tensor<f32>
  %hidden = "dl.constant"() {value = dense<0xFF800000> : tensor<f32>} : () -> tensor<f32>
  %t = "dl.transpose"(%k) {perm = array<i64: 0, 1, 3, 2>} : (tensor<2x4x5x16xf32>) -> tensor<2x4x16x5xf32>
  %p = "dl.matmul"(%q, %t) : (tensor<2x4x5x16xf32>, tensor<2x4x16x5xf32>) -> tensor<2x4x5x5xf32>
  %d = "dl.div"(%p, %root) : (tensor<2x4x5x5xf32>, tensor<f32>) -> tensor<2x4x5x5xf32>
  %f = "dl.expand"(%hidden) {shape = array<i64: 5, 5>} : (tensor<f32>) -> tensor<5x5xf32>
  %m = "dl.trilu"(%f) {k = 1 : i64} : (tensor<5x5xf32>) -> tensor<5x5xf32>
  %s = "dl.add"(%d, %m) : (tensor<2x4x5x5xf32>, tensor<5x5xf32>) -> tensor<2x4x5x5xf32>
  %w = "dl.softmax"(%s) : (tensor<2x4x5x5xf32>) -> tensor<2x4x5x5xf32>
  %y = "dl.matmul"(%w, %v) : (tensor<2x4x5x5xf32>, tensor<2x4x5x16xf32>) -> tensor<2x4x5x16xf32>
  return %y : tensor<2x4x5x16xf32>
}

// Heads that share keys and values.

// CHECK-LABEL: func.func @grouped(
// CHECK: %[[V0:.*]] = "dl.attention"(%arg0, %arg1, %arg2)
// CHECK: return %[[V0]]
func.func @grouped(%q: tensor<2x4x5x16xf32>, %k: tensor<2x2x6x16xf32>, %v: tensor<2x2x6x16xf32>) -> tensor<2x4x5x16xf32> {
  %root = "dl.constant"() {value = dense<4.0> : tensor<f32>} : () -> tensor<f32>
  %a = "dl.unsqueeze"(%k) {axes = array<i64: 2>} : (tensor<2x2x6x16xf32>) -> tensor<2x2x1x6x16xf32>
  %b = "dl.expand"(%a) {shape = array<i64: 1, 1, 2, 1, 1>} : (tensor<2x2x1x6x16xf32>) -> tensor<2x2x2x6x16xf32>
  %r = "dl.reshape"(%b) {shape = array<i64: 2, 4, 6, 16>} : (tensor<2x2x2x6x16xf32>) -> tensor<2x4x6x16xf32>
  %e = "dl.unsqueeze"(%v) {axes = array<i64: 2>} : (tensor<2x2x6x16xf32>) -> tensor<2x2x1x6x16xf32>
  %f = "dl.expand"(%e) {shape = array<i64: 1, 1, 2, 1, 1>} : (tensor<2x2x1x6x16xf32>) -> tensor<2x2x2x6x16xf32>
  %u = "dl.reshape"(%f) {shape = array<i64: 2, 4, 6, 16>} : (tensor<2x2x2x6x16xf32>) -> tensor<2x4x6x16xf32>
  %t = "dl.transpose"(%r) {perm = array<i64: 0, 1, 3, 2>} : (tensor<2x4x6x16xf32>) -> tensor<2x4x16x6xf32>
  %p = "dl.matmul"(%q, %t) : (tensor<2x4x5x16xf32>, tensor<2x4x16x6xf32>) -> tensor<2x4x5x6xf32>
  %d = "dl.div"(%p, %root) : (tensor<2x4x5x6xf32>, tensor<f32>) -> tensor<2x4x5x6xf32>
  %w = "dl.softmax"(%d) : (tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  %y = "dl.matmul"(%w, %u) : (tensor<2x4x5x6xf32>, tensor<2x4x6x16xf32>) -> tensor<2x4x5x16xf32>
  return %y : tensor<2x4x5x16xf32>
}

// CHECK-LABEL: func.func @narrow_attention(
// CHECK: %[[V0:.*]] = "dl.attention"(%arg0, %arg1, %arg2)
// CHECK: return %[[V0]]
func.func @narrow_attention(%q: tensor<2x4x5x16xf16>, %k: tensor<2x4x6x16xf16>, %v: tensor<2x4x6x16xf16>) -> tensor<2x4x5x16xf16> {
  %a = "dl.cast"(%q) {to = f32} : (tensor<2x4x5x16xf16>) -> tensor<2x4x5x16xf32>
  %b = "dl.cast"(%k) {to = f32} : (tensor<2x4x6x16xf16>) -> tensor<2x4x6x16xf32>
  %d = "dl.cast"(%v) {to = f32} : (tensor<2x4x6x16xf16>) -> tensor<2x4x6x16xf32>
  %e = "dl.attention"(%a, %b, %d) : (tensor<2x4x5x16xf32>, tensor<2x4x6x16xf32>, tensor<2x4x6x16xf32>) -> tensor<2x4x5x16xf32>
  %y = "dl.cast"(%e) {to = f16} : (tensor<2x4x5x16xf32>) -> tensor<2x4x5x16xf16>
  return %y : tensor<2x4x5x16xf16>
}

// no-match: -10000 in place of scores is no mask that could be added, and weights that are a result.

// CHECK-LABEL: func.func @near_misses(
// CHECK: %[[V0:.*]] = "dl.transpose"(%arg1) {perm = array<i64: 0, 1, 3, 2>}
// CHECK: %[[V1:.*]] = "dl.matmul"(%arg0, %[[V0]])
// CHECK: %[[V2:.*]] = "dl.div"(%[[V1]], %{{.*}})
// CHECK: %[[V3:.*]] = "dl.where"(%arg3, %[[V2]], %{{.*}})
// CHECK: %[[V4:.*]] = "dl.softmax"(%[[V3]])
// CHECK: %[[V5:.*]] = "dl.matmul"(%[[V4]], %arg2)
// CHECK: %[[V6:.*]] = "dl.softmax"(%[[V2]])
// CHECK: %[[V7:.*]] = "dl.matmul"(%[[V6]], %arg2)
// CHECK: return %[[V5]], %[[V7]], %[[V6]]
func.func @near_misses(%q: tensor<2x4x5x16xf32>, %k: tensor<2x4x6x16xf32>, %v: tensor<2x4x6x16xf32>, %mask: tensor<2x1x5x6xi1>) -> (tensor<2x4x5x16xf32>, tensor<2x4x5x16xf32>, tensor<2x4x5x6xf32>) {
  %root = "dl.constant"() {value = dense<4.0> : tensor<f32>} : () -> tensor<f32>
  %low = "dl.constant"() {value = dense<-1.0e4> : tensor<f32>} : () -> tensor<f32>
  %t = "dl.transpose"(%k) {perm = array<i64: 0, 1, 3, 2>} : (tensor<2x4x6x16xf32>) -> tensor<2x4x16x6xf32>
  %p = "dl.matmul"(%q, %t) : (tensor<2x4x5x16xf32>, tensor<2x4x16x6xf32>) -> tensor<2x4x5x6xf32>
  %d = "dl.div"(%p, %root) : (tensor<2x4x5x6xf32>, tensor<f32>) -> tensor<2x4x5x6xf32>
  %s = "dl.where"(%mask, %d, %low) : (tensor<2x1x5x6xi1>, tensor<2x4x5x6xf32>, tensor<f32>) -> tensor<2x4x5x6xf32>
  %w = "dl.softmax"(%s) : (tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  %y = "dl.matmul"(%w, %v) : (tensor<2x4x5x6xf32>, tensor<2x4x6x16xf32>) -> tensor<2x4x5x16xf32>
  %x = "dl.softmax"(%d) : (tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  %z = "dl.matmul"(%x, %v) : (tensor<2x4x5x6xf32>, tensor<2x4x6x16xf32>) -> tensor<2x4x5x16xf32>
  return %y, %z, %x : tensor<2x4x5x16xf32>, tensor<2x4x5x16xf32>, tensor<2x4x5x6xf32>
}
