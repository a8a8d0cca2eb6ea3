// RUN: dlc-opt %s --dl-fold-batch-norm | filecheck %s
// RUN: dlc-opt %s --dl-fold-batch-norm --dl-fold-batch-norm | filecheck %s
// Batch norms go into weights, or become scale and shift. The pass takes any module: it refuses nothing.

// CHECK-LABEL: func.func @after_conv(
// CHECK-SAME: %[[X:.*]]: tensor<2x3x5x5xf32>)
// CHECK-DAG: %[[W:.*]] = "dl.param"() {{.*}}key = "w"
// CHECK-DAG: %[[MEAN:.*]] = "dl.param"() {{.*}}key = "mean"
// CHECK: %[[F:.*]] = "dl.div"
// CHECK: %[[MF:.*]] = "dl.mul"(%[[MEAN]], %[[F]])
// CHECK: %[[T:.*]] = "dl.sub"(%{{.*}}, %[[MF]])
// CHECK: %[[F4:.*]] = "dl.reshape"(%[[F]]) {shape = array<i64: 4, 1, 1, 1>}
// CHECK: %[[FOLDED:.*]] = "dl.mul"(%[[W]], %[[F4]])
// CHECK: %[[Y:.*]] = "dl.conv"(%[[X]], %[[FOLDED]], %[[T]]) {pads = array<i64: 1, 1, 1, 1>}
// A scale and a shift, since a relu is in between.
// CHECK: %[[R:.*]] = "dl.relu"(%[[Y]])
// CHECK: %[[SCALED:.*]] = "dl.mul"(%[[R]], %{{.*}}) : (tensor<2x4x5x5xf32>, tensor<4x1x1xf32>)
// CHECK: %[[SHIFTED:.*]] = "dl.add"(%[[SCALED]],
// CHECK-NOT: dl.batch_norm
// CHECK: return %[[SHIFTED]]
func.func @after_conv(%x: tensor<2x3x5x5xf32>) -> tensor<2x4x5x5xf32> {
  %w = "dl.param"() {key = "w", shape = array<i64: 4, 3, 3, 3>, dtype = f32} : () -> tensor<4x3x3x3xf32>
  %s = "dl.param"() {key = "scale", shape = array<i64: 4>, dtype = f32} : () -> tensor<4xf32>
  %b = "dl.param"() {key = "bias", shape = array<i64: 4>, dtype = f32} : () -> tensor<4xf32>
  %m = "dl.param"() {key = "mean", shape = array<i64: 4>, dtype = f32} : () -> tensor<4xf32>
  %v = "dl.param"() {key = "var", shape = array<i64: 4>, dtype = f32} : () -> tensor<4xf32>
  %0 = "dl.conv"(%x, %w) {pads = array<i64: 1, 1, 1, 1>} : (tensor<2x3x5x5xf32>, tensor<4x3x3x3xf32>) -> tensor<2x4x5x5xf32>
  %1 = "dl.batch_norm"(%0, %s, %b, %m, %v) : (tensor<2x4x5x5xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4x5x5xf32>
  %2 = "dl.relu"(%1) : (tensor<2x4x5x5xf32>) -> tensor<2x4x5x5xf32>
  %3 = "dl.batch_norm"(%2, %s, %b, %m, %v) : (tensor<2x4x5x5xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4x5x5xf32>
  return %3 : tensor<2x4x5x5xf32>
}

// A bias meets the mean before the factor: their products with it may be infinite where they cancel.
// CHECK-LABEL: func.func @after_bias(
// CHECK-DAG: %[[B:.*]] = "dl.param"() {{.*}}key = "b"
// CHECK-DAG: %[[MEAN:.*]] = "dl.param"() {{.*}}key = "mean"
// CHECK: %[[F:.*]] = "dl.div"
// CHECK: %[[DIFF:.*]] = "dl.sub"(%[[B]], %[[MEAN]])
// CHECK: %[[PRODUCT:.*]] = "dl.mul"(%[[DIFF]], %[[F]])
// CHECK: %[[SHIFT:.*]] = "dl.add"(%{{.*}}, %[[PRODUCT]])
// CHECK: "dl.conv"(%{{.*}}, %{{.*}}, %[[SHIFT]])
func.func @after_bias(%x: tensor<2x3x5x5xf32>) -> tensor<2x4x5x5xf32> {
  %w = "dl.param"() {key = "w", shape = array<i64: 4, 3, 1, 1>, dtype = f32} : () -> tensor<4x3x1x1xf32>
  %b = "dl.param"() {key = "b", shape = array<i64: 4>, dtype = f32} : () -> tensor<4xf32>
  %m = "dl.param"() {key = "mean", shape = array<i64: 4>, dtype = f32} : () -> tensor<4xf32>
  %v = "dl.param"() {key = "var", shape = array<i64: 4>, dtype = f32} : () -> tensor<4xf32>
  %0 = "dl.conv"(%x, %w, %b) : (tensor<2x3x5x5xf32>, tensor<4x3x1x1xf32>, tensor<4xf32>) -> tensor<2x4x5x5xf32>
  %1 = "dl.batch_norm"(%0, %v, %v, %m, %v) : (tensor<2x4x5x5xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4x5x5xf32>
  return %1 : tensor<2x4x5x5xf32>
}

// Weights of f16 would round once more: factors are in f32, and the weights stay.
// CHECK-LABEL: func.func @short_floats(
// CHECK-SAME: %[[X:.*]]: tensor<2x4xf16>)
// CHECK: %[[Y:.*]] = "dl.matmul"
// CHECK: "dl.cast"(%{{.*}}) {to = f32} : (tensor<4xf16>)
// CHECK: %[[WIDE:.*]] = "dl.cast"(%[[Y]]) {to = f32} : (tensor<2x4xf16>)
// CHECK: "dl.mul"(%[[WIDE]]
// CHECK: "dl.cast"(%{{.*}}) {to = f16}
func.func @short_floats(%x: tensor<2x4xf16>) -> tensor<2x4xf16> {
  %s = "dl.param"() {key = "scale", shape = array<i64: 4>, dtype = f16} : () -> tensor<4xf16>
  %w = "dl.param"() {key = "w", shape = array<i64: 4, 4>, dtype = f16} : () -> tensor<4x4xf16>
  %0 = "dl.matmul"(%x, %w) : (tensor<2x4xf16>, tensor<4x4xf16>) -> tensor<2x4xf16>
  %1 = "dl.batch_norm"(%0, %s, %s, %s, %s) : (tensor<2x4xf16>, tensor<4xf16>, tensor<4xf16>, tensor<4xf16>, tensor<4xf16>) -> tensor<2x4xf16>
  return %1 : tensor<2x4xf16>
}

// no-match: statistics that are computed, and a number of channels that is not known.
// CHECK-LABEL: func.func @left(
// CHECK-COUNT-2: "dl.batch_norm"
func.func @left(%x: tensor<2x4xf32>, %y: tensor<2x?xf32>, %v: tensor<4xf32>) -> (tensor<2x4xf32>, tensor<2x?xf32>) {
  %s = "dl.param"() {key = "scale", shape = array<i64: 4>, dtype = f32} : () -> tensor<4xf32>
  %0 = "dl.batch_norm"(%x, %s, %s, %s, %v) : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %1 = "dl.batch_norm"(%y, %s, %s, %s, %s) : (tensor<2x?xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x?xf32>
  return %0, %1 : tensor<2x4xf32>, tensor<2x?xf32>
}
