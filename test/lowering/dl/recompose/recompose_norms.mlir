// RUN: dlc-opt %s --dl-recompose-norms | filecheck %s
// Softmax, layer norm and RMS norm are found in what exporters write. The pass refuses nothing.

// CHECK-LABEL: func.func @softmax(
// CHECK: %[[V0:.*]] = "dl.softmax"(%arg0)
// CHECK: return %[[V0]]
func.func @softmax(%x: tensor<?x6x4xf32>) -> tensor<?x6x4xf32> {
  %m = "dl.reduce_max"(%x) {axes = array<i64: -1>, keepdims = true} : (tensor<?x6x4xf32>) -> tensor<?x6x1xf32>
  %s = "dl.sub"(%x, %m) : (tensor<?x6x4xf32>, tensor<?x6x1xf32>) -> tensor<?x6x4xf32>
  %e = "dl.exp"(%s) : (tensor<?x6x4xf32>) -> tensor<?x6x4xf32>
  %t = "dl.reduce_sum"(%e) {axes = array<i64: -1>, keepdims = true} : (tensor<?x6x4xf32>) -> tensor<?x6x1xf32>
  %y = "dl.div"(%e, %t) : (tensor<?x6x4xf32>, tensor<?x6x1xf32>) -> tensor<?x6x4xf32>
  return %y : tensor<?x6x4xf32>
}

// CHECK-LABEL: func.func @log_softmax(
// CHECK: %[[V0:.*]] = "dl.log_softmax"(%arg0)
// CHECK: return %[[V0]]
func.func @log_softmax(%x: tensor<?x6x4xf32>) -> tensor<?x6x4xf32> {
  %m = "dl.reduce_max"(%x) {axes = array<i64: -1>, keepdims = true} : (tensor<?x6x4xf32>) -> tensor<?x6x1xf32>
  %s = "dl.sub"(%x, %m) : (tensor<?x6x4xf32>, tensor<?x6x1xf32>) -> tensor<?x6x4xf32>
  %e = "dl.exp"(%s) : (tensor<?x6x4xf32>) -> tensor<?x6x4xf32>
  %t = "dl.reduce_sum"(%e) {axes = array<i64: -1>, keepdims = true} : (tensor<?x6x4xf32>) -> tensor<?x6x1xf32>
  %l = "dl.log"(%t) : (tensor<?x6x1xf32>) -> tensor<?x6x1xf32>
  %y = "dl.sub"(%s, %l) : (tensor<?x6x4xf32>, tensor<?x6x1xf32>) -> tensor<?x6x4xf32>
  return %y : tensor<?x6x4xf32>
}

// CHECK-LABEL: func.func @layer_norm(
// CHECK: %[[V0:.*]] = "dl.layer_norm"(%arg0, %arg1, %arg2) {operandSegmentSizes = array<i32: 1, 1, 1>}
// CHECK: return %[[V0]]
func.func @layer_norm(%x: tensor<?x6x4xf32>, %scale: tensor<4xf32>, %bias: tensor<4xf32>) -> tensor<?x6x4xf32> {
  %two = "dl.constant"() {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %eps = "dl.constant"() {value = dense<1.0e-5> : tensor<f32>} : () -> tensor<f32>
  %m = "dl.reduce_mean"(%x) {axes = array<i64: -1>, keepdims = true} : (tensor<?x6x4xf32>) -> tensor<?x6x1xf32>
  %c = "dl.sub"(%x, %m) : (tensor<?x6x4xf32>, tensor<?x6x1xf32>) -> tensor<?x6x4xf32>
  %q = "dl.pow"(%c, %two) : (tensor<?x6x4xf32>, tensor<f32>) -> tensor<?x6x4xf32>
  %v = "dl.reduce_mean"(%q) {axes = array<i64: -1>, keepdims = true} : (tensor<?x6x4xf32>) -> tensor<?x6x1xf32>
  %e = "dl.add"(%v, %eps) : (tensor<?x6x1xf32>, tensor<f32>) -> tensor<?x6x1xf32>
  %r = "dl.sqrt"(%e) : (tensor<?x6x1xf32>) -> tensor<?x6x1xf32>
  %n = "dl.div"(%c, %r) : (tensor<?x6x4xf32>, tensor<?x6x1xf32>) -> tensor<?x6x4xf32>
  %s = "dl.mul"(%n, %scale) : (tensor<?x6x4xf32>, tensor<4xf32>) -> tensor<?x6x4xf32>
  %y = "dl.add"(%s, %bias) : (tensor<?x6x4xf32>, tensor<4xf32>) -> tensor<?x6x4xf32>
  return %y : tensor<?x6x4xf32>
}

// TensorFlow multiplies out.

// CHECK-LABEL: func.func @layer_norm_as_products(
// CHECK: %[[V0:.*]] = "dl.layer_norm"(%arg0, %arg1, %arg2) {operandSegmentSizes = array<i32: 1, 1, 1>}
// CHECK: return %[[V0]]
func.func @layer_norm_as_products(%x: tensor<?x6x4xf32>, %scale: tensor<4xf32>, %bias: tensor<4xf32>) -> tensor<?x6x4xf32> {
  %eps = "dl.constant"() {value = dense<1.0e-5> : tensor<f32>} : () -> tensor<f32>
  %m = "dl.reduce_mean"(%x) {axes = array<i64: -1>, keepdims = true} : (tensor<?x6x4xf32>) -> tensor<?x6x1xf32>
  %c = "dl.sub"(%x, %m) : (tensor<?x6x4xf32>, tensor<?x6x1xf32>) -> tensor<?x6x4xf32>
  %q = "dl.mul"(%c, %c) : (tensor<?x6x4xf32>, tensor<?x6x4xf32>) -> tensor<?x6x4xf32>
  %v = "dl.reduce_mean"(%q) {axes = array<i64: -1>, keepdims = true} : (tensor<?x6x4xf32>) -> tensor<?x6x1xf32>
  %e = "dl.add"(%v, %eps) : (tensor<?x6x1xf32>, tensor<f32>) -> tensor<?x6x1xf32>
  %r = "dl.sqrt"(%e) : (tensor<?x6x1xf32>) -> tensor<?x6x1xf32>
  %i = "dl.reciprocal"(%r) : (tensor<?x6x1xf32>) -> tensor<?x6x1xf32>
  %f = "dl.mul"(%i, %scale) : (tensor<?x6x1xf32>, tensor<4xf32>) -> tensor<?x6x4xf32>
  %a = "dl.mul"(%x, %f) : (tensor<?x6x4xf32>, tensor<?x6x4xf32>) -> tensor<?x6x4xf32>
  %p = "dl.mul"(%m, %f) : (tensor<?x6x1xf32>, tensor<?x6x4xf32>) -> tensor<?x6x4xf32>
  %b = "dl.sub"(%bias, %p) : (tensor<4xf32>, tensor<?x6x4xf32>) -> tensor<?x6x4xf32>
  %y = "dl.add"(%a, %b) : (tensor<?x6x4xf32>, tensor<?x6x4xf32>) -> tensor<?x6x4xf32>
  return %y : tensor<?x6x4xf32>
}

// CHECK-LABEL: func.func @rms_norm(
// CHECK: %[[V0:.*]] = "dl.rms_norm"(%arg0, %arg1) {epsilon = 9.9999999999999995E-7 : f64}
// CHECK: return %[[V0]]
func.func @rms_norm(%x: tensor<?x6x4xf32>, %scale: tensor<4xf32>) -> tensor<?x6x4xf32> {
  %two = "dl.constant"() {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %eps = "dl.constant"() {value = dense<1.0e-6> : tensor<f32>} : () -> tensor<f32>
  %q = "dl.pow"(%x, %two) : (tensor<?x6x4xf32>, tensor<f32>) -> tensor<?x6x4xf32>
  %v = "dl.reduce_mean"(%q) {axes = array<i64: -1>, keepdims = true} : (tensor<?x6x4xf32>) -> tensor<?x6x1xf32>
  %e = "dl.add"(%v, %eps) : (tensor<?x6x1xf32>, tensor<f32>) -> tensor<?x6x1xf32>
  %r = "dl.rsqrt"(%e) : (tensor<?x6x1xf32>) -> tensor<?x6x1xf32>
  %n = "dl.mul"(%x, %r) : (tensor<?x6x4xf32>, tensor<?x6x1xf32>) -> tensor<?x6x4xf32>
  %y = "dl.mul"(%scale, %n) : (tensor<4xf32>, tensor<?x6x4xf32>) -> tensor<?x6x4xf32>
  return %y : tensor<?x6x4xf32>
}

// f16 that is cast to f32 and back stays f16.

// CHECK-LABEL: func.func @narrow_norm(
// CHECK: %[[V0:.*]] = "dl.rms_norm"(%arg0)
// CHECK: return %[[V0]]
func.func @narrow_norm(%x: tensor<2x4xf16>) -> tensor<2x4xf16> {
  %a = "dl.cast"(%x) {to = f32} : (tensor<2x4xf16>) -> tensor<2x4xf32>
  %n = "dl.rms_norm"(%a) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %y = "dl.cast"(%n) {to = f16} : (tensor<2x4xf32>) -> tensor<2x4xf16>
  return %y : tensor<2x4xf16>
}

// no-match: epsilon is 0, the mean is of other axes, and the scale has a batch.

// CHECK-LABEL: func.func @near_misses(
// CHECK: %[[V0:.*]] = "dl.mul"(%arg0, %arg0)
// CHECK: %[[V1:.*]] = "dl.reduce_mean"(%[[V0]]) {axes = array<i64: -1>, keepdims = true}
// CHECK: %[[V2:.*]] = "dl.add"(%[[V1]], %{{.*}})
// CHECK: %[[V3:.*]] = "dl.sqrt"(%[[V2]])
// CHECK: %[[V4:.*]] = "dl.div"(%arg0, %[[V3]])
// CHECK: %[[V5:.*]] = "dl.layer_norm"(%arg0) {operandSegmentSizes = array<i32: 1, 0, 0>}
// CHECK: %[[V6:.*]] = "dl.mul"(%[[V5]], %arg1)
// CHECK: return %[[V4]], %[[V6]]
func.func @near_misses(%x: tensor<?x6x4xf32>, %other: tensor<?x6x4xf32>) -> (tensor<?x6x4xf32>, tensor<?x6x4xf32>) {
  %zero = "dl.constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %q = "dl.mul"(%x, %x) : (tensor<?x6x4xf32>, tensor<?x6x4xf32>) -> tensor<?x6x4xf32>
  %v = "dl.reduce_mean"(%q) {axes = array<i64: -1>, keepdims = true} : (tensor<?x6x4xf32>) -> tensor<?x6x1xf32>
  %e = "dl.add"(%v, %zero) : (tensor<?x6x1xf32>, tensor<f32>) -> tensor<?x6x1xf32>
  %r = "dl.sqrt"(%e) : (tensor<?x6x1xf32>) -> tensor<?x6x1xf32>
  %y = "dl.div"(%x, %r) : (tensor<?x6x4xf32>, tensor<?x6x1xf32>) -> tensor<?x6x4xf32>
  %n = "dl.layer_norm"(%x) {operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<?x6x4xf32>) -> tensor<?x6x4xf32>
  %z = "dl.mul"(%n, %other) : (tensor<?x6x4xf32>, tensor<?x6x4xf32>) -> tensor<?x6x4xf32>
  return %y, %z : tensor<?x6x4xf32>, tensor<?x6x4xf32>
}
