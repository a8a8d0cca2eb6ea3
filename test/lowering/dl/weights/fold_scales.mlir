// RUN: dlc-opt %s --dl-fold-scales | filecheck %s
// RUN: dlc-opt %s --dl-fold-scales --dl-fold-scales | filecheck %s
// Factors and shifts go into weights, biases and scales. The pass takes any module: it refuses nothing.

// CHECK-LABEL: func.func @after_conv(
// CHECK-SAME: %[[X:.*]]: tensor<2x3x5x5xf32>)
// CHECK-DAG: %[[W:.*]] = "dl.param"() {{.*}}key = "w"
// CHECK-DAG: %[[F:.*]] = "dl.param"() {{.*}}key = "factor"
// CHECK: %[[F1:.*]] = "dl.reshape"(%[[F]]) {shape = array<i64: 4>}
// CHECK: %[[F4:.*]] = "dl.reshape"(%[[F1]]) {shape = array<i64: 4, 1, 1, 1>}
// CHECK: %[[FOLDED:.*]] = "dl.mul"(%[[W]], %[[F4]])
// CHECK: %[[T:.*]] = "dl.param"() {{.*}}key = "shift"
// CHECK: %[[T1:.*]] = "dl.reshape"(%[[T]]) {shape = array<i64: 4>}
// CHECK: %[[Y:.*]] = "dl.conv"(%[[X]], %[[FOLDED]], %[[T1]])
// CHECK-NEXT: return %[[Y]]
func.func @after_conv(%x: tensor<2x3x5x5xf32>) -> tensor<2x4x5x5xf32> {
  %w = "dl.param"() {key = "w", shape = array<i64: 4, 3, 1, 1>, dtype = f32} : () -> tensor<4x3x1x1xf32>
  %f = "dl.param"() {key = "factor", shape = array<i64: 1, 4, 1, 1>, dtype = f32} : () -> tensor<1x4x1x1xf32>
  %0 = "dl.conv"(%x, %w) : (tensor<2x3x5x5xf32>, tensor<4x3x1x1xf32>) -> tensor<2x4x5x5xf32>
  %1 = "dl.mul"(%0, %f) : (tensor<2x4x5x5xf32>, tensor<1x4x1x1xf32>) -> tensor<2x4x5x5xf32>
  %t = "dl.param"() {key = "shift", shape = array<i64: 4, 1, 1>, dtype = f32} : () -> tensor<4x1x1xf32>
  %2 = "dl.add"(%1, %t) : (tensor<2x4x5x5xf32>, tensor<4x1x1xf32>) -> tensor<2x4x5x5xf32>
  return %2 : tensor<2x4x5x5xf32>
}

// CHECK-LABEL: func.func @before_conv(
// CHECK-SAME: %[[X:.*]]: tensor<2x3x5x5xf32>)
// CHECK: %[[SUM:.*]] = "dl.reduce_sum"(%{{.*}}) {axes = array<i64: 1, 2, 3>}
// CHECK: "dl.conv"(%[[X]], %{{.*}}, %[[SUM]])
func.func @before_conv(%x: tensor<2x3x5x5xf32>) -> tensor<2x4x5x5xf32> {
  %w = "dl.param"() {key = "w", shape = array<i64: 4, 3, 1, 1>, dtype = f32} : () -> tensor<4x3x1x1xf32>
  %t = "dl.param"() {key = "t", shape = array<i64: 3, 1, 1>, dtype = f32} : () -> tensor<3x1x1xf32>
  %0 = "dl.mul"(%x, %t) : (tensor<2x3x5x5xf32>, tensor<3x1x1xf32>) -> tensor<2x3x5x5xf32>
  %1 = "dl.add"(%0, %t) : (tensor<2x3x5x5xf32>, tensor<3x1x1xf32>) -> tensor<2x3x5x5xf32>
  %2 = "dl.conv"(%1, %w) : (tensor<2x3x5x5xf32>, tensor<4x3x1x1xf32>) -> tensor<2x4x5x5xf32>
  return %2 : tensor<2x4x5x5xf32>
}

// A factor moves before the bias, a shift behind the product.
// CHECK-LABEL: func.func @dense(
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf32>)
// CHECK: %[[ROW:.*]] = "dl.matmul"(%{{.*}}, %{{.*}}) : (tensor<1x3xf32>, tensor<3x4xf32>)
// CHECK: %[[Y:.*]] = "dl.matmul"(%[[X]], %{{.*}}) : (tensor<?x3xf32>, tensor<3x4xf32>)
// CHECK: %[[R:.*]] = "dl.add"(%[[Y]], %{{.*}})
// CHECK-NEXT: return %[[R]]
func.func @dense(%x: tensor<?x3xf32>) -> tensor<?x4xf32> {
  %w = "dl.param"() {key = "w", shape = array<i64: 3, 4>, dtype = f32} : () -> tensor<3x4xf32>
  %t = "dl.param"() {key = "t", shape = array<i64: 3>, dtype = f32} : () -> tensor<3xf32>
  %b = "dl.param"() {key = "b", shape = array<i64: 4>, dtype = f32} : () -> tensor<4xf32>
  %0 = "dl.add"(%x, %t) : (tensor<?x3xf32>, tensor<3xf32>) -> tensor<?x3xf32>
  %1 = "dl.matmul"(%0, %w) : (tensor<?x3xf32>, tensor<3x4xf32>) -> tensor<?x4xf32>
  %2 = "dl.add"(%1, %b) : (tensor<?x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  %3 = "dl.mul"(%2, %b) : (tensor<?x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  return %3 : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @chains(
// CHECK-SAME: %[[X:.*]]: tensor<2x4xf32>)
// CHECK: %[[F:.*]] = "dl.div"(%[[B:.*]], %[[B]])
// CHECK: %[[SCALED:.*]] = "dl.mul"(%[[X]], %[[F]])
// CHECK: %[[T:.*]] = "dl.sub"(%[[B]], %[[B]])
// CHECK: "dl.add"(%[[SCALED]], %[[T]])
func.func @chains(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %b = "dl.param"() {key = "b", shape = array<i64: 4>, dtype = f32} : () -> tensor<4xf32>
  %0 = "dl.mul"(%x, %b) : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %1 = "dl.div"(%0, %b) : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %2 = "dl.add"(%1, %b) : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %3 = "dl.sub"(%2, %b) : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return %3 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @attention(
// CHECK-SAME: %[[Q:.*]]: tensor<1x2x3x4xf32>)
// CHECK: "dl.attention"(%[[Q]], %[[Q]], %[[Q]]) {scale = 1.250000e-01 : f64}
func.func @attention(%q: tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32> {
  %c = "dl.constant"() {value = dense<0.25> : tensor<f32>} : () -> tensor<f32>
  %0 = "dl.mul"(%q, %c) : (tensor<1x2x3x4xf32>, tensor<f32>) -> tensor<1x2x3x4xf32>
  %1 = "dl.attention"(%0, %q, %q) : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  return %1 : tensor<1x2x3x4xf32>
}

// A factor of a product goes up to the weights that one side is computed by.
// CHECK-LABEL: func.func @product(
// CHECK: %[[Y:.*]] = "dl.matmul"(%{{.*}}, %{{.*}}) : (tensor<6x4xf32>, tensor<4x4xf32>)
// CHECK: %[[V:.*]] = "dl.reshape"(%[[Y]])
// CHECK: %[[P:.*]] = "dl.matmul"(%[[V]],
// CHECK-NEXT: return %[[P]]
func.func @product(%x: tensor<6x4xf32>, %k: tensor<2x4x3xf32>) -> tensor<2x3x3xf32> {
  %w = "dl.param"() {key = "w", shape = array<i64: 4, 4>, dtype = f32} : () -> tensor<4x4xf32>
  %c = "dl.constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %0 = "dl.matmul"(%x, %w) : (tensor<6x4xf32>, tensor<4x4xf32>) -> tensor<6x4xf32>
  %1 = "dl.reshape"(%0) {shape = array<i64: 2, 3, 4>} : (tensor<6x4xf32>) -> tensor<2x3x4xf32>
  %2 = "dl.matmul"(%1, %k) : (tensor<2x3x4xf32>, tensor<2x4x3xf32>) -> tensor<2x3x3xf32>
  %3 = "dl.mul"(%2, %c) : (tensor<2x3x3xf32>, tensor<f32>) -> tensor<2x3x3xf32>
  return %3 : tensor<2x3x3xf32>
}

// no-match: a product with another user, a factor that would add rows, a shift of a conv that pads, and weights of f16.
// CHECK-LABEL: func.func @left(
// CHECK-COUNT-2: "dl.mul"
// CHECK: "dl.add"
// CHECK: "dl.conv"
// CHECK: "dl.mul"
func.func @left(%x: tensor<1x4xf32>, %i: tensor<2x3x5x5xf32>, %h: tensor<2x4xf16>)
    -> (tensor<1x4xf32>, tensor<1x4xf32>, tensor<2x4xf32>, tensor<2x4x7x7xf32>, tensor<2x4xf16>) {
  %w = "dl.param"() {key = "w", shape = array<i64: 4, 4>, dtype = f32} : () -> tensor<4x4xf32>
  %b = "dl.param"() {key = "b", shape = array<i64: 4>, dtype = f32} : () -> tensor<4xf32>
  %r = "dl.param"() {key = "r", shape = array<i64: 2, 1>, dtype = f32} : () -> tensor<2x1xf32>
  %0 = "dl.matmul"(%x, %w) : (tensor<1x4xf32>, tensor<4x4xf32>) -> tensor<1x4xf32>
  %1 = "dl.mul"(%0, %b) : (tensor<1x4xf32>, tensor<4xf32>) -> tensor<1x4xf32>
  %2 = "dl.matmul"(%x, %w) : (tensor<1x4xf32>, tensor<4x4xf32>) -> tensor<1x4xf32>
  %3 = "dl.mul"(%2, %r) : (tensor<1x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  %k = "dl.param"() {key = "k", shape = array<i64: 4, 3, 1, 1>, dtype = f32} : () -> tensor<4x3x1x1xf32>
  %t = "dl.param"() {key = "t", shape = array<i64: 3, 1, 1>, dtype = f32} : () -> tensor<3x1x1xf32>
  %4 = "dl.add"(%i, %t) : (tensor<2x3x5x5xf32>, tensor<3x1x1xf32>) -> tensor<2x3x5x5xf32>
  %5 = "dl.conv"(%4, %k) {pads = array<i64: 1, 1, 1, 1>} : (tensor<2x3x5x5xf32>, tensor<4x3x1x1xf32>) -> tensor<2x4x7x7xf32>
  %wh = "dl.param"() {key = "wh", shape = array<i64: 4, 4>, dtype = f16} : () -> tensor<4x4xf16>
  %bh = "dl.param"() {key = "bh", shape = array<i64: 4>, dtype = f16} : () -> tensor<4xf16>
  %6 = "dl.matmul"(%h, %wh) : (tensor<2x4xf16>, tensor<4x4xf16>) -> tensor<2x4xf16>
  %7 = "dl.mul"(%6, %bh) : (tensor<2x4xf16>, tensor<4xf16>) -> tensor<2x4xf16>
  return %0, %1, %3, %5, %7 : tensor<1x4xf32>, tensor<1x4xf32>, tensor<2x4xf32>, tensor<2x4x7x7xf32>, tensor<2x4xf16>
}
