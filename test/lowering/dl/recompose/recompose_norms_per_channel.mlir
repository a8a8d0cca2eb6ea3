// RUN: dlc-opt %s --dl-recompose-norms | filecheck %s
// Norms with weights per channel are found.

// CHECK-LABEL: func.func @batch_norm(
// CHECK: %[[V0:.*]] = "dl.reshape"(%arg1) {shape = array<i64: 6>}
// CHECK: %[[V1:.*]] = "dl.reshape"(%arg2) {shape = array<i64: 6>}
// CHECK: %[[V2:.*]] = "dl.reshape"(%arg3) {shape = array<i64: 6>}
// CHECK: %[[V3:.*]] = "dl.reshape"(%arg4) {shape = array<i64: 6>}
// CHECK: %[[V4:.*]] = "dl.batch_norm"(%arg0, %[[V0]], %[[V1]], %[[V2]], %[[V3]])
// CHECK: return %[[V4]]
func.func @batch_norm(%x: tensor<?x6x4xf32>, %scale: tensor<6x1xf32>, %bias: tensor<6x1xf32>, %mean: tensor<6x1xf32>, %var: tensor<6x1xf32>) -> tensor<?x6x4xf32> {
  %eps = "dl.constant"() {value = dense<1.0e-5> : tensor<f32>} : () -> tensor<f32>
  %c = "dl.sub"(%x, %mean) : (tensor<?x6x4xf32>, tensor<6x1xf32>) -> tensor<?x6x4xf32>
  %a = "dl.add"(%var, %eps) : (tensor<6x1xf32>, tensor<f32>) -> tensor<6x1xf32>
  %r = "dl.sqrt"(%a) : (tensor<6x1xf32>) -> tensor<6x1xf32>
  %n = "dl.div"(%c, %r) : (tensor<?x6x4xf32>, tensor<6x1xf32>) -> tensor<?x6x4xf32>
  %s = "dl.mul"(%n, %scale) : (tensor<?x6x4xf32>, tensor<6x1xf32>) -> tensor<?x6x4xf32>
  %y = "dl.add"(%s, %bias) : (tensor<?x6x4xf32>, tensor<6x1xf32>) -> tensor<?x6x4xf32>
  return %y : tensor<?x6x4xf32>
}

// CHECK-LABEL: func.func @instance_norm(
// CHECK: %[[V0:.*]] = "dl.reshape"(%arg1) {shape = array<i64: 6>}
// CHECK: %[[V1:.*]] = "dl.reshape"(%arg2) {shape = array<i64: 6>}
// CHECK: %[[V2:.*]] = "dl.instance_norm"(%arg0, %[[V0]], %[[V1]])
// CHECK: return %[[V2]]
func.func @instance_norm(%x: tensor<?x6x4xf32>, %scale: tensor<6x1xf32>, %bias: tensor<6x1xf32>) -> tensor<?x6x4xf32> {
  %two = "dl.constant"() {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %eps = "dl.constant"() {value = dense<1.0e-5> : tensor<f32>} : () -> tensor<f32>
  %m = "dl.reduce_mean"(%x) {axes = array<i64: -1>, keepdims = true} : (tensor<?x6x4xf32>) -> tensor<?x6x1xf32>
  %c = "dl.sub"(%x, %m) : (tensor<?x6x4xf32>, tensor<?x6x1xf32>) -> tensor<?x6x4xf32>
  %q = "dl.pow"(%c, %two) : (tensor<?x6x4xf32>, tensor<f32>) -> tensor<?x6x4xf32>
  %v = "dl.reduce_mean"(%q) {axes = array<i64: -1>, keepdims = true} : (tensor<?x6x4xf32>) -> tensor<?x6x1xf32>
  %e = "dl.add"(%v, %eps) : (tensor<?x6x1xf32>, tensor<f32>) -> tensor<?x6x1xf32>
  %r = "dl.sqrt"(%e) : (tensor<?x6x1xf32>) -> tensor<?x6x1xf32>
  %n = "dl.div"(%c, %r) : (tensor<?x6x4xf32>, tensor<?x6x1xf32>) -> tensor<?x6x4xf32>
  %s = "dl.mul"(%n, %scale) : (tensor<?x6x4xf32>, tensor<6x1xf32>) -> tensor<?x6x4xf32>
  %y = "dl.add"(%s, %bias) : (tensor<?x6x4xf32>, tensor<6x1xf32>) -> tensor<?x6x4xf32>
  return %y : tensor<?x6x4xf32>
}

// CHECK-LABEL: func.func @group_norm(
// CHECK: %[[V0:.*]] = "dl.reshape"(%arg1) {shape = array<i64: 6>}
// CHECK: %[[V1:.*]] = "dl.reshape"(%arg2) {shape = array<i64: 6>}
// CHECK: %[[V2:.*]] = "dl.group_norm"(%arg0, %[[V0]], %[[V1]]) {num_groups = 2 : i64}
// CHECK: return %[[V2]]
func.func @group_norm(%x: tensor<?x6x4xf32>, %scale: tensor<6x1xf32>, %bias: tensor<6x1xf32>) -> tensor<?x6x4xf32> {
  %one = "dl.constant"() {value = dense<[1.0, 1.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %zero = "dl.constant"() {value = dense<[0.0, 0.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %g = "dl.reshape"(%x) {shape = array<i64: -1, 2, -1>, copied = array<i64: 0, -1, -1>} : (tensor<?x6x4xf32>) -> tensor<?x2x12xf32>
  %n = "dl.instance_norm"(%g, %one, %zero) : (tensor<?x2x12xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<?x2x12xf32>
  %b = "dl.reshape"(%n) {shape = array<i64: -1, 6, 4>, copied = array<i64: 0, -1, -1>} : (tensor<?x2x12xf32>) -> tensor<?x6x4xf32>
  %s = "dl.mul"(%b, %scale) : (tensor<?x6x4xf32>, tensor<6x1xf32>) -> tensor<?x6x4xf32>
  %y = "dl.add"(%s, %bias) : (tensor<?x6x4xf32>, tensor<6x1xf32>) -> tensor<?x6x4xf32>
  return %y : tensor<?x6x4xf32>
}

// no-match: weights that are not per channel.

// CHECK-LABEL: func.func @near_misses(
// CHECK: %[[V0:.*]] = "dl.layer_norm"(%arg0) {operandSegmentSizes = array<i32: 1, 0, 0>}
// CHECK: %[[V1:.*]] = "dl.mul"(%[[V0]], %arg1)
// CHECK: %[[V2:.*]] = "dl.add"(%[[V1]], %arg2)
// CHECK: return %[[V2]]
func.func @near_misses(%x: tensor<?x6x4xf32>, %scale: tensor<6x4xf32>, %bias: tensor<6x4xf32>) -> tensor<?x6x4xf32> {
  %two = "dl.constant"() {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %eps = "dl.constant"() {value = dense<1.0e-5> : tensor<f32>} : () -> tensor<f32>
  %m = "dl.reduce_mean"(%x) {axes = array<i64: -1>, keepdims = true} : (tensor<?x6x4xf32>) -> tensor<?x6x1xf32>
  %c = "dl.sub"(%x, %m) : (tensor<?x6x4xf32>, tensor<?x6x1xf32>) -> tensor<?x6x4xf32>
  %q = "dl.pow"(%c, %two) : (tensor<?x6x4xf32>, tensor<f32>) -> tensor<?x6x4xf32>
  %v = "dl.reduce_mean"(%q) {axes = array<i64: -1>, keepdims = true} : (tensor<?x6x4xf32>) -> tensor<?x6x1xf32>
  %e = "dl.add"(%v, %eps) : (tensor<?x6x1xf32>, tensor<f32>) -> tensor<?x6x1xf32>
  %r = "dl.sqrt"(%e) : (tensor<?x6x1xf32>) -> tensor<?x6x1xf32>
  %n = "dl.div"(%c, %r) : (tensor<?x6x4xf32>, tensor<?x6x1xf32>) -> tensor<?x6x4xf32>
  %s = "dl.mul"(%n, %scale) : (tensor<?x6x4xf32>, tensor<6x4xf32>) -> tensor<?x6x4xf32>
  %y = "dl.add"(%s, %bias) : (tensor<?x6x4xf32>, tensor<6x4xf32>) -> tensor<?x6x4xf32>
  return %y : tensor<?x6x4xf32>
}
