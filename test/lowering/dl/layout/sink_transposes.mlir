// RUN: dlc-opt %s --dl-sink-transposes --split-input-file | filecheck %s
// Transposes move to where they cancel, meet or end; the pass refuses nothing.

// CHECK-LABEL: func.func @cancel
// CHECK-SAME: %[[X:.*]]: tensor<2x3x4x5xf32>, %[[Y:.*]]: tensor<2x3x4x5xf32>
// CHECK-DAG: %[[W:.*]] = "dl.param"() {{.*}} -> tensor<3xf32>
// CHECK-NEXT: %[[R:.*]] = "dl.relu"(%[[X]])
// CHECK-NEXT: %[[V:.*]] = "dl.unsqueeze"(%[[W]]) {axes = array<i64: 0, 2, 3>}
// CHECK-NEXT: %[[M:.*]] = "dl.mul"(%[[R]], %[[V]])
// CHECK-NEXT: %[[S:.*]] = "dl.add"(%[[M]], %[[Y]])
// CHECK-NEXT: return %[[S]]
func.func @cancel(%x: tensor<2x3x4x5xf32>, %y: tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32> {
  %w = "dl.param"() {key = "w", shape = array<i64: 3>, dtype = f32} : () -> tensor<3xf32>
  %0 = "dl.transpose"(%x) {perm = array<i64: 0, 2, 3, 1>} : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
  %1 = "dl.relu"(%0) : (tensor<2x4x5x3xf32>) -> tensor<2x4x5x3xf32>
  %2 = "dl.mul"(%1, %w) : (tensor<2x4x5x3xf32>, tensor<3xf32>) -> tensor<2x4x5x3xf32>
  %3 = "dl.transpose"(%y) {perm = array<i64: 0, 2, 3, 1>} : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
  %4 = "dl.add"(%2, %3) : (tensor<2x4x5x3xf32>, tensor<2x4x5x3xf32>) -> tensor<2x4x5x3xf32>
  %5 = "dl.transpose"(%4) {perm = array<i64: 0, 3, 1, 2>} : (tensor<2x4x5x3xf32>) -> tensor<2x3x4x5xf32>
  return %5 : tensor<2x3x4x5xf32>
}

// -----

// Axes of attributes follow.
// CHECK-LABEL: func.func @axes
// CHECK-SAME: %[[X:.*]]: tensor<2x3x4x5xf32>
// CHECK-NEXT: %[[P:.*]] = "dl.pad"(%[[X]]) {high = array<i64: 0, 0, 1, 0>, low = array<i64: 0, 0, 0, 2>}
// CHECK-NEXT: %[[C:.*]] = "dl.concat"(%[[P]], %[[P]]) {axis = 1 : i64}
// CHECK-NEXT: %[[S:.*]] = "dl.slice"(%[[C]]) {axes = array<i64: 3, 2>, {{.*}}} : (tensor<2x6x5x7xf32>) -> tensor<2x6x2x3xf32>
// CHECK-NEXT: %[[M:.*]] = "dl.softmax"(%[[S]]) {axis = 1 : i64}
// CHECK-NEXT: %[[A:.*]] = "dl.max_pool"(%[[M]]) {kernel = array<i64: 2, 2>}
// CHECK-NEXT: %[[R:.*]] = "dl.reduce_sum"(%[[A]]) {axes = array<i64: 3>}
// CHECK-NEXT: return %[[R]]
func.func @axes(%x: tensor<2x3x4x5xf32>) -> tensor<2x6x1xf32> {
  %0 = "dl.transpose"(%x) {perm = array<i64: 0, 2, 3, 1>} : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
  %1 = "dl.pad"(%0) {low = array<i64: 0, 0, 2, 0>, high = array<i64: 0, 1, 0, 0>} : (tensor<2x4x5x3xf32>) -> tensor<2x5x7x3xf32>
  %2 = "dl.concat"(%1, %1) {axis = -1 : i64} : (tensor<2x5x7x3xf32>, tensor<2x5x7x3xf32>) -> tensor<2x5x7x6xf32>
  %3 = "dl.slice"(%2) {axes = array<i64: 2, 1>, starts = array<i64: 0, 1>, ends = array<i64: 3, 3>, steps = array<i64: 1, 1>}
      : (tensor<2x5x7x6xf32>) -> tensor<2x2x3x6xf32>
  %4 = "dl.softmax"(%3) {axis = -1 : i64} : (tensor<2x2x3x6xf32>) -> tensor<2x2x3x6xf32>
  %5 = "dl.max_pool"(%4) {channels_last = true, kernel = array<i64: 2, 2>} : (tensor<2x2x3x6xf32>) -> tensor<2x1x2x6xf32>
  %6 = "dl.reduce_sum"(%5) {axes = array<i64: 2>} : (tensor<2x1x2x6xf32>) -> tensor<2x1x6xf32>
  %7 = "dl.transpose"(%6) {perm = array<i64: 0, 2, 1>} : (tensor<2x1x6xf32>) -> tensor<2x6x1xf32>
  return %7 : tensor<2x6x1xf32>
}

// -----

// A channel shuffle of images with channels last moves channels alone.
// CHECK-LABEL: func.func @channel_shuffle
// CHECK-SAME: %[[X:.*]]: tensor<1x4x4x6xf32>
// CHECK-NEXT: %[[G:.*]] = "dl.reshape"(%[[X]]) {shape = array<i64: 1, 4, 4, 2, 3>}
// CHECK-NEXT: %[[T:.*]] = "dl.transpose"(%[[G]]) {perm = array<i64: 0, 1, 2, 4, 3>}
// CHECK-NEXT: %[[R:.*]] = "dl.reshape"(%[[T]]) {shape = array<i64: 1, 4, 4, 6>}
// CHECK-NEXT: return %[[R]]
func.func @channel_shuffle(%x: tensor<1x4x4x6xf32>) -> tensor<1x4x4x6xf32> {
  %0 = "dl.transpose"(%x) {perm = array<i64: 0, 3, 1, 2>} : (tensor<1x4x4x6xf32>) -> tensor<1x6x4x4xf32>
  %1 = "dl.reshape"(%0) {shape = array<i64: 1, 2, 3, 4, 4>} : (tensor<1x6x4x4xf32>) -> tensor<1x2x3x4x4xf32>
  %2 = "dl.transpose"(%1) {perm = array<i64: 0, 2, 1, 3, 4>} : (tensor<1x2x3x4x4xf32>) -> tensor<1x3x2x4x4xf32>
  %3 = "dl.reshape"(%2) {shape = array<i64: 1, 6, 4, 4>} : (tensor<1x3x2x4x4xf32>) -> tensor<1x6x4x4xf32>
  %4 = "dl.transpose"(%3) {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x6x4x4xf32>) -> tensor<1x4x4x6xf32>
  return %4 : tensor<1x4x4x6xf32>
}

// -----

// Two transposes merge; one that moves only axes of size 1 is a reshape, with dynamic dims a squeeze and an unsqueeze.
// CHECK-LABEL: func.func @merge
// CHECK: "dl.transpose"(%arg0) {perm = array<i64: 2, 0, 1>}
// CHECK: "dl.reshape"(%arg1) {shape = array<i64: 1, 1, 8>}
// CHECK: %[[S:.*]] = "dl.squeeze"(%arg2) {axes = array<i64: 1>}
// CHECK: "dl.unsqueeze"(%[[S]]) {axes = array<i64: 2>}
func.func @merge(%x: tensor<2x3x4xf32>, %y: tensor<1x8x1xf32>, %z: tensor<?x1x8xf32>)
    -> (tensor<4x2x3xf32>, tensor<1x1x8xf32>, tensor<?x8x1xf32>) {
  %0 = "dl.transpose"(%x) {perm = array<i64: 1, 2, 0>} : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
  %1 = "dl.transpose"(%0) {perm = array<i64: 1, 2, 0>} : (tensor<3x4x2xf32>) -> tensor<4x2x3xf32>
  %2 = "dl.transpose"(%y) {perm = array<i64: 0, 2, 1>} : (tensor<1x8x1xf32>) -> tensor<1x1x8xf32>
  %3 = "dl.transpose"(%z) {perm = array<i64: 0, 2, 1>} : (tensor<?x1x8xf32>) -> tensor<?x8x1xf32>
  return %1, %2, %3 : tensor<4x2x3xf32>, tensor<1x1x8xf32>, tensor<?x8x1xf32>
}

// -----

// An image that is flattened for a product keeps its order; the rows of the weight take it.
// CHECK-LABEL: func.func @flattened
// CHECK-DAG: %[[W:.*]] = "dl.param"()
// CHECK: %[[R:.*]] = "dl.reshape"(%[[W]]) {shape = array<i64: 2, 3, 4, 5>}
// CHECK: %[[T:.*]] = "dl.transpose"(%[[R]]) {perm = array<i64: 1, 2, 0, 3>}
// CHECK: %[[M:.*]] = "dl.reshape"(%[[T]]) {shape = array<i64: 24, 5>}
// CHECK: %[[F:.*]] = "dl.reshape"(%arg0) {copied = array<i64: 0, -1>, shape = array<i64: -1, 24>}
// CHECK: "dl.matmul"(%[[F]], %[[M]])
func.func @flattened(%x: tensor<?x3x4x2xf32>) -> tensor<?x5xf32> {
  %w = "dl.param"() {key = "w", shape = array<i64: 24, 5>, dtype = f32} : () -> tensor<24x5xf32>
  %0 = "dl.transpose"(%x) {perm = array<i64: 0, 3, 1, 2>} : (tensor<?x3x4x2xf32>) -> tensor<?x2x3x4xf32>
  %1 = "dl.reshape"(%0) {shape = array<i64: -1, 24>, copied = array<i64: 0, -1>} : (tensor<?x2x3x4xf32>) -> tensor<?x24xf32>
  %2 = "dl.matmul"(%1, %w) : (tensor<?x24xf32>, tensor<24x5xf32>) -> tensor<?x5xf32>
  return %2 : tensor<?x5xf32>
}

// -----

// no-match: one transpose is needed wherever it stands, and layer norm needs its axis last.
// CHECK-LABEL: func.func @stays
// CHECK-NEXT: %[[T:.*]] = "dl.transpose"(%arg0) {perm = array<i64: 0, 2, 1>}
// CHECK-NEXT: %[[N:.*]] = "dl.layer_norm"(%[[T]])
// CHECK-NEXT: return %[[N]]
func.func @stays(%x: tensor<2x3x4xf32>) -> tensor<2x4x3xf32> {
  %0 = "dl.transpose"(%x) {perm = array<i64: 0, 2, 1>} : (tensor<2x3x4xf32>) -> tensor<2x4x3xf32>
  %1 = "dl.layer_norm"(%0) {operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
  return %1 : tensor<2x4x3xf32>
}

// The function states less of its result than is known of the other transpose's operand: its own type stays.
// CHECK-LABEL: func.func @returned_type(
// CHECK: %[[Y:.*]] = "dl.transpose"(%{{.*}}) {{.*}} -> tensor<?x?x?x2xf32>
// CHECK-NEXT: return %[[Y]]
func.func @returned_type(%x: tensor<1x?x1x2xf32>) -> tensor<?x?x?x2xf32> {
  %0 = "dl.transpose"(%x) {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x?x1x2xf32>) -> tensor<1x1x2x?xf32>
  %1 = "dl.transpose"(%0) {perm = array<i64: 0, 3, 1, 2>} : (tensor<1x1x2x?xf32>) -> tensor<?x?x?x2xf32>
  return %1 : tensor<?x?x?x2xf32>
}
