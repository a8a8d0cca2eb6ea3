// RUN: dlc-opt %s --dl-fuse-siblings --split-input-file | filecheck %s
// RUN: dlc-opt %s --dl-fuse-siblings=most-columns=4 --split-input-file | filecheck %s --check-prefix=FEW
// Products and convolutions of one input become one; the pass refuses nothing.

// FEW-LABEL: func.func @matmuls
// FEW-NOT: dl.concat
// CHECK-LABEL: func.func @matmuls
// CHECK-SAME: %[[X:.*]]: tensor<?x5x4xf32>
// CHECK-DAG: %[[W1:.*]] = "dl.param"() {{.*}}key = "w1"
// CHECK-DAG: %[[W2:.*]] = "dl.param"() {{.*}}key = "w2"
// CHECK-DAG: %[[B1:.*]] = "dl.param"() {{.*}}key = "b1"
// CHECK-DAG: %[[B2:.*]] = "dl.param"() {{.*}}key = "b2"
// CHECK: %[[W:.*]] = "dl.concat"(%[[W1]], %[[W2]]) {axis = 1 : i64} : (tensor<4x6xf32>, tensor<4x2xf32>)
// CHECK: %[[WHOLE:.*]] = "dl.matmul"(%[[X]], %[[W]]) : (tensor<?x5x4xf32>, tensor<4x8xf32>)
// CHECK: %[[B:.*]] = "dl.concat"({{.*}}) {axis = 0 : i64} : (tensor<6xf32>, tensor<2xf32>)
// CHECK: %[[SUM:.*]] = "dl.add"(%[[WHOLE]], %[[B]])
// CHECK: %[[ACT:.*]] = "dl.relu"(%[[SUM]])
// CHECK: %[[LEFT:.*]] = "dl.slice"(%[[ACT]]) {axes = array<i64: 2>, ends = array<i64: 6>, starts = array<i64: 0>,
// CHECK: %[[RIGHT:.*]] = "dl.slice"(%[[ACT]]) {axes = array<i64: 2>, ends = array<i64: 8>, starts = array<i64: 6>,
// CHECK: return %[[LEFT]], %[[RIGHT]]
func.func @matmuls(%x: tensor<?x5x4xf32>) -> (tensor<?x5x6xf32>, tensor<?x5x2xf32>) {
  %w1 = "dl.param"() {key = "w1", shape = array<i64: 4, 6>, dtype = f32} : () -> tensor<4x6xf32>
  %b1 = "dl.param"() {key = "b1", shape = array<i64: 6>, dtype = f32} : () -> tensor<6xf32>
  %0 = "dl.matmul"(%x, %w1) : (tensor<?x5x4xf32>, tensor<4x6xf32>) -> tensor<?x5x6xf32>
  %1 = "dl.add"(%b1, %0) : (tensor<6xf32>, tensor<?x5x6xf32>) -> tensor<?x5x6xf32>
  %2 = "dl.relu"(%1) : (tensor<?x5x6xf32>) -> tensor<?x5x6xf32>
  %w2 = "dl.param"() {key = "w2", shape = array<i64: 4, 2>, dtype = f32} : () -> tensor<4x2xf32>
  %b2 = "dl.param"() {key = "b2", shape = array<i64: 1, 1, 2>, dtype = f32} : () -> tensor<1x1x2xf32>
  %3 = "dl.matmul"(%x, %w2) : (tensor<?x5x4xf32>, tensor<4x2xf32>) -> tensor<?x5x2xf32>
  %4 = "dl.add"(%3, %b2) : (tensor<?x5x2xf32>, tensor<1x1x2xf32>) -> tensor<?x5x2xf32>
  %5 = "dl.relu"(%4) : (tensor<?x5x2xf32>) -> tensor<?x5x2xf32>
  return %2, %5 : tensor<?x5x6xf32>, tensor<?x5x2xf32>
}

// -----

// Only one has a bias, and they have other activations: these stay apart.
// CHECK-LABEL: func.func @gate
// CHECK: %[[WHOLE:.*]] = "dl.matmul"
// CHECK: %[[GATE:.*]] = "dl.slice"(%[[WHOLE]])
// CHECK: %[[UP:.*]] = "dl.slice"(%[[WHOLE]])
// CHECK: %[[SILU:.*]] = "dl.silu"(%[[GATE]])
// CHECK: "dl.mul"(%[[SILU]], %[[UP]])
func.func @gate(%x: tensor<3x4xf16>) -> tensor<3x8xf16> {
  %w1 = "dl.param"() {key = "w1", shape = array<i64: 4, 8>, dtype = f16} : () -> tensor<4x8xf16>
  %w2 = "dl.param"() {key = "w2", shape = array<i64: 4, 8>, dtype = f16} : () -> tensor<4x8xf16>
  %0 = "dl.matmul"(%x, %w1) : (tensor<3x4xf16>, tensor<4x8xf16>) -> tensor<3x8xf16>
  %1 = "dl.silu"(%0) : (tensor<3x8xf16>) -> tensor<3x8xf16>
  %2 = "dl.matmul"(%x, %w2) : (tensor<3x4xf16>, tensor<4x8xf16>) -> tensor<3x8xf16>
  %3 = "dl.mul"(%1, %2) : (tensor<3x8xf16>, tensor<3x8xf16>) -> tensor<3x8xf16>
  return %3 : tensor<3x8xf16>
}

// -----

// CHECK-LABEL: func.func @convolutions
// CHECK: "dl.concat"({{.*}}) {axis = 0 : i64} : (tensor<6x3x1x1xf32>, tensor<2x3x1x1xf32>)
// CHECK: "dl.concat"({{.*}}) {axis = 0 : i64} : (tensor<6xf32>, tensor<2xf32>)
// CHECK: %[[WHOLE:.*]] = "dl.conv"(%arg0, {{.*}}) {strides = array<i64: 2, 2>} : {{.*}} -> tensor<1x8x4x4xf32>
// CHECK: "dl.slice"(%[[WHOLE]]) {axes = array<i64: 1>, ends = array<i64: 6>
// CHECK: "dl.slice"(%[[WHOLE]]) {axes = array<i64: 1>, ends = array<i64: 8>
// CHECK: "dl.conv"(%arg0, {{.*}}) : {{.*}} -> tensor<1x2x8x8xf32>
func.func @convolutions(%x: tensor<1x3x8x8xf32>) -> (tensor<1x6x4x4xf32>, tensor<1x2x4x4xf32>, tensor<1x2x8x8xf32>) {
  %w1 = "dl.param"() {key = "w1", shape = array<i64: 6, 3, 1, 1>, dtype = f32} : () -> tensor<6x3x1x1xf32>
  %b1 = "dl.param"() {key = "b1", shape = array<i64: 6>, dtype = f32} : () -> tensor<6xf32>
  %w2 = "dl.param"() {key = "w2", shape = array<i64: 2, 3, 1, 1>, dtype = f32} : () -> tensor<2x3x1x1xf32>
  %b2 = "dl.param"() {key = "b2", shape = array<i64: 2>, dtype = f32} : () -> tensor<2xf32>
  %0 = "dl.conv"(%x, %w1, %b1) {strides = array<i64: 2, 2>}
      : (tensor<1x3x8x8xf32>, tensor<6x3x1x1xf32>, tensor<6xf32>) -> tensor<1x6x4x4xf32>
  %1 = "dl.conv"(%x, %w2, %b2) {strides = array<i64: 2, 2>}
      : (tensor<1x3x8x8xf32>, tensor<2x3x1x1xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
  %2 = "dl.conv"(%x, %w2) : (tensor<1x3x8x8xf32>, tensor<2x3x1x1xf32>) -> tensor<1x2x8x8xf32>
  return %0, %1, %2 : tensor<1x6x4x4xf32>, tensor<1x2x4x4xf32>, tensor<1x2x8x8xf32>
}

// -----

// no-match: a right-hand side that is no weight, inputs that differ, products of bytes.
// CHECK-LABEL: func.func @apart
// CHECK-NOT: dl.concat
func.func @apart(
    %x: tensor<3x4xf32>, %y: tensor<3x4xf32>, %v: tensor<4x8xf32>, %p: tensor<3x4xi32>
) -> (tensor<3x8xf32>, tensor<3x8xf32>, tensor<3x8xf32>, tensor<3x8xi32>, tensor<3x8xi32>) {
  %w = "dl.param"() {key = "w", shape = array<i64: 4, 8>, dtype = f32} : () -> tensor<4x8xf32>
  %0 = "dl.matmul"(%x, %w) : (tensor<3x4xf32>, tensor<4x8xf32>) -> tensor<3x8xf32>
  %1 = "dl.matmul"(%x, %v) : (tensor<3x4xf32>, tensor<4x8xf32>) -> tensor<3x8xf32>
  %2 = "dl.matmul"(%y, %w) : (tensor<3x4xf32>, tensor<4x8xf32>) -> tensor<3x8xf32>
  %b = "dl.param"() {key = "b", shape = array<i64: 4, 8>, dtype = i8} : () -> tensor<4x8xi8>
  %c = "dl.cast"(%b) {to = i32} : (tensor<4x8xi8>) -> tensor<4x8xi32>
  %3 = "dl.matmul"(%p, %c) : (tensor<3x4xi32>, tensor<4x8xi32>) -> tensor<3x8xi32>
  %4 = "dl.matmul"(%p, %c) : (tensor<3x4xi32>, tensor<4x8xi32>) -> tensor<3x8xi32>
  return %0, %1, %2, %3, %4 : tensor<3x8xf32>, tensor<3x8xf32>, tensor<3x8xf32>, tensor<3x8xi32>, tensor<3x8xi32>
}

// -----

// Kernels of two types are no one kernel.
// CHECK-LABEL: func.func @two_types(
// CHECK-COUNT-2: "dl.conv"
func.func @two_types(%x: tensor<1x6x6x3xbf16>) -> (tensor<1x6x6x4xbf16>, tensor<1x6x6x5xf32>) {
  %w = "dl.param"() {key = "w", shape = array<i64: 1, 1, 3, 4>, dtype = bf16} : () -> tensor<1x1x3x4xbf16>
  %v = "dl.param"() {key = "v", shape = array<i64: 1, 1, 3, 5>, dtype = f32} : () -> tensor<1x1x3x5xf32>
  %0 = "dl.conv"(%x, %w) {channels_last = true} : (tensor<1x6x6x3xbf16>, tensor<1x1x3x4xbf16>) -> tensor<1x6x6x4xbf16>
  %1 = "dl.conv"(%x, %v) {channels_last = true} : (tensor<1x6x6x3xbf16>, tensor<1x1x3x5xf32>) -> tensor<1x6x6x5xf32>
  return %0, %1 : tensor<1x6x6x4xbf16>, tensor<1x6x6x5xf32>
}
