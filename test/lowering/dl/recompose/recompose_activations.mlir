// RUN: dlc-opt %s --dl-recompose-activations | filecheck %s
// GELU, SiLU and sigmoid are found in what exporters write. The pass refuses nothing.

// CHECK-LABEL: func.func @erf_gelu(
// CHECK: %[[V0:.*]] = "dl.gelu"(%arg0)
// CHECK: return %[[V0]]
func.func @erf_gelu(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %root = "dl.constant"() {value = dense<1.41421354> : tensor<f32>} : () -> tensor<f32>
  %one = "dl.constant"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %half = "dl.constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %s = "dl.div"(%x, %root) : (tensor<?x4xf32>, tensor<f32>) -> tensor<?x4xf32>
  %e = "dl.erf"(%s) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %g = "dl.add"(%e, %one) : (tensor<?x4xf32>, tensor<f32>) -> tensor<?x4xf32>
  %p = "dl.mul"(%x, %g) : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %y = "dl.mul"(%p, %half) : (tensor<?x4xf32>, tensor<f32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @tanh_gelu(
// CHECK: %[[V0:.*]] = "dl.gelu"(%arg0) {approximate = "tanh"}
// CHECK: return %[[V0]]
func.func @tanh_gelu(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %three = "dl.constant"() {value = dense<3.0> : tensor<f32>} : () -> tensor<f32>
  %cube = "dl.constant"() {value = dense<0.044715> : tensor<f32>} : () -> tensor<f32>
  %rate = "dl.constant"() {value = dense<0.797884583> : tensor<f32>} : () -> tensor<f32>
  %one = "dl.constant"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %half = "dl.constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %p = "dl.pow"(%x, %three) : (tensor<?x4xf32>, tensor<f32>) -> tensor<?x4xf32>
  %q = "dl.mul"(%p, %cube) : (tensor<?x4xf32>, tensor<f32>) -> tensor<?x4xf32>
  %s = "dl.add"(%x, %q) : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %i = "dl.mul"(%s, %rate) : (tensor<?x4xf32>, tensor<f32>) -> tensor<?x4xf32>
  %e = "dl.tanh"(%i) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %g = "dl.add"(%one, %e) : (tensor<f32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %h = "dl.mul"(%x, %half) : (tensor<?x4xf32>, tensor<f32>) -> tensor<?x4xf32>
  %y = "dl.mul"(%h, %g) : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @silu(
// CHECK: %[[V0:.*]] = "dl.silu"(%arg0) {alpha = 1.702000e+00 : f64}
// CHECK: return %[[V0]]
func.func @silu(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %rate = "dl.constant"() {value = dense<1.702> : tensor<f32>} : () -> tensor<f32>
  %i = "dl.mul"(%x, %rate) : (tensor<?x4xf32>, tensor<f32>) -> tensor<?x4xf32>
  %s = "dl.sigmoid"(%i) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %y = "dl.mul"(%x, %s) : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @sigmoid(
// CHECK: %[[V0:.*]] = "dl.sigmoid"(%arg0)
// CHECK: return %[[V0]]
func.func @sigmoid(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %one = "dl.constant"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %m = "dl.neg"(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %e = "dl.exp"(%m) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %s = "dl.add"(%e, %one) : (tensor<?x4xf32>, tensor<f32>) -> tensor<?x4xf32>
  %y = "dl.reciprocal"(%s) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// A name survives: the op carries the locations of all that it stands for.

// CHECK-LABEL: func.func @narrow_activation(
// CHECK: %[[V0:.*]] = "dl.silu"(%arg0)
// CHECK: return %[[V0]]
func.func @narrow_activation(%x: tensor<?x4xf16>) -> tensor<?x4xf16> {
  %a = "dl.cast"(%x) {to = f32} : (tensor<?x4xf16>) -> tensor<?x4xf32>
  %s = "dl.silu"(%a) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %y = "dl.cast"(%s) {to = f16} : (tensor<?x4xf32>) -> tensor<?x4xf16>
  return %y : tensor<?x4xf16>
}

// no-match: another factor, and a sigmoid that has a second user.

// CHECK-LABEL: func.func @near_misses(
// CHECK: %[[V0:.*]] = "dl.gelu"(%arg0)
// CHECK: %[[V1:.*]] = "dl.mul"(%[[V0]], %{{.*}})
// CHECK: %[[V2:.*]] = "dl.mul"(%[[V1]], %{{.*}})
// CHECK: %[[V3:.*]] = "dl.sigmoid"(%arg0)
// CHECK: %[[V4:.*]] = "dl.mul"(%arg0, %[[V3]])
// CHECK: return %[[V2]], %[[V4]], %[[V3]]
func.func @near_misses(%x: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) {
  %root = "dl.constant"() {value = dense<1.41421354> : tensor<f32>} : () -> tensor<f32>
  %one = "dl.constant"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %half = "dl.constant"() {value = dense<0.4> : tensor<f32>} : () -> tensor<f32>
  %s = "dl.div"(%x, %root) : (tensor<?x4xf32>, tensor<f32>) -> tensor<?x4xf32>
  %e = "dl.erf"(%s) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %g = "dl.add"(%e, %one) : (tensor<?x4xf32>, tensor<f32>) -> tensor<?x4xf32>
  %p = "dl.mul"(%x, %g) : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %y = "dl.mul"(%p, %half) : (tensor<?x4xf32>, tensor<f32>) -> tensor<?x4xf32>
  %z = "dl.sigmoid"(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %w = "dl.mul"(%x, %z) : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return %y, %w, %z : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>
}
