// RUN: dlc-opt %s --dl-recompose-activations | filecheck %s
// Rectifiers, hard and smooth ones, are found in what exporters write.

// CHECK-LABEL: func.func @hard_swish(
// CHECK: %[[V0:.*]] = "dl.hard_swish"(%arg0)
// CHECK: return %[[V0]]
func.func @hard_swish(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %three = "dl.constant"() {value = dense<3.0> : tensor<f32>} : () -> tensor<f32>
  %six = "dl.constant"() {value = dense<6.0> : tensor<f32>} : () -> tensor<f32>
  %s = "dl.add"(%x, %three) : (tensor<?x4xf32>, tensor<f32>) -> tensor<?x4xf32>
  %g = "dl.clip"(%s) {low = 0.0 : f64, high = 6.0 : f64} : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %p = "dl.mul"(%x, %g) : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %y = "dl.div"(%p, %six) : (tensor<?x4xf32>, tensor<f32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @hard_sigmoid(
// CHECK: %[[V0:.*]] = "dl.hard_sigmoid"(%arg0)
// CHECK: return %[[V0]]
func.func @hard_sigmoid(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %slope = "dl.constant"() {value = dense<0.2> : tensor<f32>} : () -> tensor<f32>
  %half = "dl.constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %s = "dl.mul"(%x, %slope) : (tensor<?x4xf32>, tensor<f32>) -> tensor<?x4xf32>
  %b = "dl.add"(%s, %half) : (tensor<?x4xf32>, tensor<f32>) -> tensor<?x4xf32>
  %y = "dl.clip"(%b) {low = 0.0 : f64, high = 1.0 : f64} : (tensor<?x4xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @hard_swish_of_hard_sigmoid(
// CHECK: %[[V0:.*]] = "dl.hard_swish"(%arg0)
// CHECK: return %[[V0]]
func.func @hard_swish_of_hard_sigmoid(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %g = "dl.hard_sigmoid"(%x) {alpha = 0.16666666666666666 : f64, beta = 0.5 : f64} : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %y = "dl.mul"(%g, %x) : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @softplus(
// CHECK: %[[V0:.*]] = "dl.softplus"(%arg0)
// CHECK: return %[[V0]]
func.func @softplus(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %zero = "dl.constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %r = "dl.max"(%x, %zero) : (tensor<?x4xf32>, tensor<f32>) -> tensor<?x4xf32>
  %a = "dl.abs"(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %m = "dl.neg"(%a) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %e = "dl.exp"(%m) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %l = "dl.log1p"(%e) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %y = "dl.add"(%r, %l) : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @guarded_softplus(
// CHECK: %[[V0:.*]] = "dl.softplus"(%arg0)
// CHECK: return %[[V0]]
func.func @guarded_softplus(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %top = "dl.constant"() {value = dense<20.0> : tensor<f32>} : () -> tensor<f32>
  %c = "dl.less"(%top, %x) : (tensor<f32>, tensor<?x4xf32>) -> tensor<?x4xi1>
  %e = "dl.exp"(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %l = "dl.log1p"(%e) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %y = "dl.where"(%c, %x, %l) : (tensor<?x4xi1>, tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @mish(
// CHECK: %[[V0:.*]] = "dl.mish"(%arg0)
// CHECK: return %[[V0]]
func.func @mish(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %one = "dl.constant"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %e = "dl.exp"(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %s = "dl.add"(%e, %one) : (tensor<?x4xf32>, tensor<f32>) -> tensor<?x4xf32>
  %l = "dl.log"(%s) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %h = "dl.tanh"(%l) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %y = "dl.mul"(%x, %h) : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @leaky_relu(
// CHECK: %[[V0:.*]] = "dl.leaky_relu"(%arg0) {alpha = 1.000000e-01 : f64}
// CHECK: return %[[V0]]
func.func @leaky_relu(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %zero = "dl.constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %slope = "dl.constant"() {value = dense<0.1> : tensor<f32>} : () -> tensor<f32>
  %c = "dl.less"(%zero, %x) : (tensor<f32>, tensor<?x4xf32>) -> tensor<?x4xi1>
  %s = "dl.mul"(%x, %slope) : (tensor<?x4xf32>, tensor<f32>) -> tensor<?x4xf32>
  %y = "dl.where"(%c, %x, %s) : (tensor<?x4xi1>, tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @leaky_relu_of_max(
// CHECK: %[[V0:.*]] = "dl.leaky_relu"(%arg0) {alpha = 2.000000e-01 : f64}
// CHECK: return %[[V0]]
func.func @leaky_relu_of_max(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %slope = "dl.constant"() {value = dense<0.2> : tensor<f32>} : () -> tensor<f32>
  %s = "dl.mul"(%x, %slope) : (tensor<?x4xf32>, tensor<f32>) -> tensor<?x4xf32>
  %y = "dl.max"(%x, %s) : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @prelu(
// CHECK: %[[V0:.*]] = "dl.prelu"(%arg0, %arg1)
// CHECK: return %[[V0]]
func.func @prelu(%x: tensor<?x4xf32>, %slopes: tensor<4xf32>) -> tensor<?x4xf32> {
  %r = "dl.relu"(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %m = "dl.neg"(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %n = "dl.relu"(%m) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %s = "dl.mul"(%slopes, %n) : (tensor<4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %y = "dl.sub"(%r, %s) : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @relu6(
// CHECK: %[[V0:.*]] = "dl.clip"(%arg0) {high = 6.000000e+00 : f64, low = 0.000000e+00 : f64}
// CHECK: return %[[V0]]
func.func @relu6(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %six = "dl.constant"() {value = dense<6.0> : tensor<f32>} : () -> tensor<f32>
  %r = "dl.relu"(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %y = "dl.min"(%r, %six) : (tensor<?x4xf32>, tensor<f32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// no-match: log(1 + exp(x)) overflows where softplus does not, and a line that is clipped at 5.

// CHECK-LABEL: func.func @near_misses(
// CHECK: %[[V0:.*]] = "dl.exp"(%arg0)
// CHECK: %[[V1:.*]] = "dl.add"(%[[V0]], %{{.*}})
// CHECK: %[[V2:.*]] = "dl.log"(%[[V1]])
// CHECK: %[[V3:.*]] = "dl.add"(%arg0, %{{.*}})
// CHECK: %[[V4:.*]] = "dl.clip"(%[[V3]]) {high = 5.000000e+00 : f64, low = 0.000000e+00 : f64}
// CHECK: %[[V5:.*]] = "dl.div"(%[[V4]], %{{.*}})
// CHECK: return %[[V2]], %[[V5]]
func.func @near_misses(%x: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  %one = "dl.constant"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %three = "dl.constant"() {value = dense<3.0> : tensor<f32>} : () -> tensor<f32>
  %six = "dl.constant"() {value = dense<6.0> : tensor<f32>} : () -> tensor<f32>
  %e = "dl.exp"(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %s = "dl.add"(%e, %one) : (tensor<?x4xf32>, tensor<f32>) -> tensor<?x4xf32>
  %y = "dl.log"(%s) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %b = "dl.add"(%x, %three) : (tensor<?x4xf32>, tensor<f32>) -> tensor<?x4xf32>
  %g = "dl.clip"(%b) {low = 0.0 : f64, high = 5.0 : f64} : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %z = "dl.div"(%g, %six) : (tensor<?x4xf32>, tensor<f32>) -> tensor<?x4xf32>
  return %y, %z : tensor<?x4xf32>, tensor<?x4xf32>
}
