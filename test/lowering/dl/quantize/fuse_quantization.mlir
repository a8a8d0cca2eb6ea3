// RUN: dlc-opt %s --dl-fuse-quantization | filecheck %s
// RUN: dlc-opt %s --dl-fuse-quantization --dl-fuse-quantization | filecheck %s
// Floats between DequantizeLinear and QuantizeLinear become bytes and sums of i32. The pass refuses nothing.

// A convolution sums in i32 with one factor per channel; relu and the bias take the scale of what is rounded.
// CHECK-LABEL: func.func @conv(
// CHECK-SAME: %[[X:.*]]: tensor<2x3x5x5xui8>)
// CHECK: %[[WIDE:.*]] = "dl.cast"(%[[X]]) {to = i32}
// CHECK: %[[INTS:.*]] = "dl.sub"(%[[WIDE]], %{{.*}}) : (tensor<2x3x5x5xi32>, tensor<i32>)
// CHECK: %[[W:.*]] = "dl.cast"(%{{.*}}) {to = i32} : (tensor<4x3x3x3xi8>)
// CHECK: %[[SUMS:.*]] = "dl.conv"(%[[INTS]], %[[W]]) {{.*}}pads = array<i64: 1, 1, 1, 1>{{.*}} -> tensor<2x4x5x5xi32>
// CHECK: %[[F:.*]] = "dl.cast"(%[[SUMS]]) {to = f32}
// CHECK: %[[FACTOR:.*]] = "dl.div"(%{{.*}}, %{{.*}}) : (tensor<4x1x1xf32>, tensor<f32>)
// CHECK: %[[SCALED:.*]] = "dl.mul"(%[[F]], %[[FACTOR]])
// CHECK: %[[SHIFT:.*]] = "dl.div"(%{{.*}}, %{{.*}}) : (tensor<4x1x1xf32>, tensor<f32>)
// CHECK: %[[SUM:.*]] = "dl.add"(%[[SCALED]], %[[SHIFT]])
// CHECK: %[[RELU:.*]] = "dl.relu"(%[[SUM]])
// CHECK: "dl.round"(%[[RELU]])
func.func @conv(%x: tensor<2x3x5x5xui8>) -> tensor<2x4x5x5xui8> {
  %w = "dl.param"() {key = "w", shape = array<i64: 4, 3, 3, 3>, dtype = i8} : () -> tensor<4x3x3x3xi8>
  %s = "dl.constant"() {value = dense<[[[[0.015625]]], [[[0.25]]], [[[0.5]]], [[[0.125]]]]> : tensor<4x1x1x1xf32>} : () -> tensor<4x1x1x1xf32>
  %b = "dl.constant"() {value = dense<[1.0, -2.0, 3.0, 0.5]> : tensor<4xf32>} : () -> tensor<4xf32>
  %z = "dl.constant"() {value = dense<7> : tensor<i32>} : () -> tensor<i32>
  %t = "dl.constant"() {value = dense<16.0> : tensor<f32>} : () -> tensor<f32>
  %0 = "dl.cast"(%x) {to = i32} : (tensor<2x3x5x5xui8>) -> tensor<2x3x5x5xi32>
  %1 = "dl.sub"(%0, %z) : (tensor<2x3x5x5xi32>, tensor<i32>) -> tensor<2x3x5x5xi32>
  %2 = "dl.cast"(%1) {to = f32} : (tensor<2x3x5x5xi32>) -> tensor<2x3x5x5xf32>
  %3 = "dl.cast"(%w) {to = f32} : (tensor<4x3x3x3xi8>) -> tensor<4x3x3x3xf32>
  %4 = "dl.mul"(%3, %s) : (tensor<4x3x3x3xf32>, tensor<4x1x1x1xf32>) -> tensor<4x3x3x3xf32>
  %5 = "dl.conv"(%2, %4, %b) {pads = array<i64: 1, 1, 1, 1>}
      : (tensor<2x3x5x5xf32>, tensor<4x3x3x3xf32>, tensor<4xf32>) -> tensor<2x4x5x5xf32>
  %6 = "dl.relu"(%5) : (tensor<2x4x5x5xf32>) -> tensor<2x4x5x5xf32>
  %7 = "dl.div"(%6, %t) : (tensor<2x4x5x5xf32>, tensor<f32>) -> tensor<2x4x5x5xf32>
  %8 = "dl.round"(%7) : (tensor<2x4x5x5xf32>) -> tensor<2x4x5x5xf32>
  %9 = "dl.cast"(%8) {to = ui8} : (tensor<2x4x5x5xf32>) -> tensor<2x4x5x5xui8>
  return %9 : tensor<2x4x5x5xui8>
}

// no-match: a scale per input channel, groups, two computed sides, a rounding that gives no bytes.
// CHECK-LABEL: func.func @left(
// CHECK: "dl.conv"(%{{.*}}) {{.*}} -> tensor<1x2x3x3xf32>
// CHECK: "dl.conv"(%{{.*}}) {groups = 2 : i64} {{.*}} -> tensor<1x2x3x3xf32>
// CHECK: "dl.matmul"(%{{.*}}) : (tensor<1x2x3x3xf32>
// CHECK: %[[SCALED:.*]] = "dl.mul"
// CHECK: %[[DIVIDED:.*]] = "dl.div"(%[[SCALED]]
// CHECK: "dl.round"(%[[DIVIDED]])
func.func @left(%x: tensor<1x2x3x3xui8>) -> tensor<1x2x3x3xf32> {
  %w = "dl.param"() {key = "w", shape = array<i64: 2, 2, 1, 1>, dtype = i8} : () -> tensor<2x2x1x1xi8>
  %d = "dl.param"() {key = "d", shape = array<i64: 2, 1, 1, 1>, dtype = i8} : () -> tensor<2x1x1x1xi8>
  %s = "dl.param"() {key = "s", shape = array<i64: 2, 1, 1>, dtype = f32} : () -> tensor<2x1x1xf32>
  %t = "dl.constant"() {value = dense<3.0> : tensor<f32>} : () -> tensor<f32>
  %0 = "dl.cast"(%x) {to = f32} : (tensor<1x2x3x3xui8>) -> tensor<1x2x3x3xf32>
  %1 = "dl.cast"(%w) {to = f32} : (tensor<2x2x1x1xi8>) -> tensor<2x2x1x1xf32>
  %2 = "dl.mul"(%1, %s) : (tensor<2x2x1x1xf32>, tensor<2x1x1xf32>) -> tensor<2x2x1x1xf32>
  %3 = "dl.conv"(%0, %2) : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %4 = "dl.cast"(%d) {to = f32} : (tensor<2x1x1x1xi8>) -> tensor<2x1x1x1xf32>
  %5 = "dl.conv"(%0, %4) {groups = 2 : i64} : (tensor<1x2x3x3xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x3x3xf32>
  %6 = "dl.matmul"(%0, %0) : (tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %7 = "dl.add"(%3, %5) : (tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %8 = "dl.add"(%7, %6) : (tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %9 = "dl.mul"(%8, %t) : (tensor<1x2x3x3xf32>, tensor<f32>) -> tensor<1x2x3x3xf32>
  %10 = "dl.div"(%9, %t) : (tensor<1x2x3x3xf32>, tensor<f32>) -> tensor<1x2x3x3xf32>
  %11 = "dl.round"(%10) : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  return %11 : tensor<1x2x3x3xf32>
}

// no-match: an infinite factor would make the bounds of a clip NaN, and what is 0 before it as well.
// CHECK-LABEL: func.func @infinite_factor(
// CHECK: "dl.clip"({{.*}}) {high = 6.000000e+00 : f64, low = 0.000000e+00 : f64}
// CHECK-NEXT: "dl.mul"
// CHECK-NEXT: "dl.round"
func.func @infinite_factor(%q: tensor<4xui8>) -> tensor<4xui8> {
  %s = "dl.param"() {key = "s", shape = array<i64>, dtype = f32} : () -> tensor<f32>
  %c = "dl.constant"() {value = dense<0x7F800000> : tensor<f32>} : () -> tensor<f32>
  %x = "dl.cast"(%q) {to = f32} : (tensor<4xui8>) -> tensor<4xf32>
  %y = "dl.mul"(%x, %s) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %z = "dl.clip"(%y) {low = 0.0 : f64, high = 6.0 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  %d = "dl.mul"(%z, %c) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %r = "dl.round"(%d) : (tensor<4xf32>) -> tensor<4xf32>
  %o = "dl.cast"(%r) {to = ui8} : (tensor<4xf32>) -> tensor<4xui8>
  return %o : tensor<4xui8>
}
