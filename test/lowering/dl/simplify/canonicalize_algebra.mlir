// RUN: dlc-opt %s --dl-canonicalize | filecheck %s
// Arithmetic in its canonical form; each function is named for the rule that it shows. The pass refuses nothing.

// CHECK-LABEL: func.func @move_constant_to_the_right(
// CHECK: %[[C:.*]] = "dl.constant"
// CHECK: "dl.mul"(%arg0, %[[C]])
func.func @move_constant_to_the_right(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %c = "dl.constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %0 = "dl.mul"(%c, %x) : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @drop_add_of_zero(
// CHECK-NEXT: %[[E:.*]] = "dl.exp"(%arg2)
// CHECK-NEXT: return %arg0, %arg1, %[[E]]
func.func @drop_add_of_zero(%x: tensor<2x3xf32>, %i: tensor<3xi32>, %p: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3xi32>, tensor<2x3xf32>) {
  %minus = "dl.constant"() {value = dense<-0.0> : tensor<1x3xf32>} : () -> tensor<1x3xf32>
  %zero = "dl.constant"() {value = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>
  %plus = "dl.constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %0 = "dl.add"(%x, %minus) : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  %1 = "dl.add"(%i, %zero) : (tensor<3xi32>, tensor<1xi32>) -> tensor<3xi32>
  %2 = "dl.exp"(%p) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = "dl.add"(%2, %plus) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  return %0, %1, %3 : tensor<2x3xf32>, tensor<3xi32>, tensor<2x3xf32>
}

// no-match: -0.0 + 0.0 is 0.0; a dim that may be 1, and a constant of more axes, make the result larger.
// CHECK-LABEL: func.func @not_add_of_zero(
// CHECK-COUNT-3: "dl.add"
func.func @not_add_of_zero(%x: tensor<2x3xf32>, %d: tensor<?xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<4x2x3xf32>) {
  %plus = "dl.constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %row = "dl.constant"() {value = dense<-0.0> : tensor<3xf32>} : () -> tensor<3xf32>
  %big = "dl.constant"() {value = dense<-0.0> : tensor<4x1x1xf32>} : () -> tensor<4x1x1xf32>
  %0 = "dl.add"(%x, %plus) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %1 = "dl.add"(%d, %row) : (tensor<?xf32>, tensor<3xf32>) -> tensor<3xf32>
  %2 = "dl.add"(%x, %big) : (tensor<2x3xf32>, tensor<4x1x1xf32>) -> tensor<4x2x3xf32>
  return %0, %1, %2 : tensor<2x3xf32>, tensor<3xf32>, tensor<4x2x3xf32>
}

// CHECK-LABEL: func.func @drop_sub_of_zero(
// CHECK-NEXT: return %arg0
func.func @drop_sub_of_zero(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %c = "dl.constant"() {value = dense<0.0> : tensor<3xf32>} : () -> tensor<3xf32>
  %0 = "dl.sub"(%x, %c) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// no-match: -0.0 - -0.0 is 0.0, and 0.0 - 0.0 is not -0.0.
// CHECK-LABEL: func.func @not_sub_of_zero(
// CHECK-COUNT-2: "dl.sub"
func.func @not_sub_of_zero(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %c = "dl.constant"() {value = dense<-0.0> : tensor<f32>} : () -> tensor<f32>
  %d = "dl.constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %0 = "dl.sub"(%x, %c) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %1 = "dl.sub"(%d, %x) : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0, %1 : tensor<2x3xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: func.func @drop_mul_of_one(
// CHECK-NEXT: return %arg0
func.func @drop_mul_of_one(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %c = "dl.constant"() {value = dense<1.0> : tensor<1x1xf32>} : () -> tensor<1x1xf32>
  %0 = "dl.mul"(%x, %c) : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @drop_div_of_one(
// CHECK-NEXT: return %arg0, %arg1
func.func @drop_div_of_one(%x: tensor<2x3xf32>, %i: tensor<?xi64>) -> (tensor<2x3xf32>, tensor<?xi64>) {
  %c = "dl.constant"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %d = "dl.constant"() {value = dense<1> : tensor<i64>} : () -> tensor<i64>
  %0 = "dl.div"(%x, %c) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %1 = "dl.div"(%i, %d) : (tensor<?xi64>, tensor<i64>) -> tensor<?xi64>
  return %0, %1 : tensor<2x3xf32>, tensor<?xi64>
}

// CHECK-LABEL: func.func @drop_pow_of_one(
// CHECK-NEXT: return %arg0, %arg1
func.func @drop_pow_of_one(%x: tensor<2x3xf32>, %i: tensor<2xi32>) -> (tensor<2x3xf32>, tensor<2xi32>) {
  %c = "dl.constant"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %d = "dl.constant"() {value = dense<1> : tensor<i64>} : () -> tensor<i64>
  %0 = "dl.pow"(%x, %c) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %1 = "dl.pow"(%i, %d) : (tensor<2xi32>, tensor<i64>) -> tensor<2xi32>
  return %0, %1 : tensor<2x3xf32>, tensor<2xi32>
}

// CHECK-LABEL: func.func @mul_of_minus_one_to_neg(
// CHECK-NEXT: "dl.neg"(%arg0)
// CHECK-NEXT: "dl.neg"(%arg1)
func.func @mul_of_minus_one_to_neg(%x: tensor<2x3xf32>, %i: tensor<2xi8>) -> (tensor<2x3xf32>, tensor<2xi8>) {
  %c = "dl.constant"() {value = dense<-1.0> : tensor<f32>} : () -> tensor<f32>
  %d = "dl.constant"() {value = dense<-1> : tensor<i8>} : () -> tensor<i8>
  %0 = "dl.mul"(%x, %c) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %1 = "dl.mul"(%i, %d) : (tensor<2xi8>, tensor<i8>) -> tensor<2xi8>
  return %0, %1 : tensor<2x3xf32>, tensor<2xi8>
}

// no-match: ui8 has no -1.
// CHECK-LABEL: func.func @not_mul_of_minus_one(
// CHECK: "dl.mul"
func.func @not_mul_of_minus_one(%i: tensor<2xui8>) -> tensor<2xui8> {
  %d = "dl.constant"() {value = dense<255> : tensor<ui8>} : () -> tensor<ui8>
  %1 = "dl.mul"(%i, %d) : (tensor<2xui8>, tensor<ui8>) -> tensor<2xui8>
  return %1 : tensor<2xui8>
}

// CHECK-LABEL: func.func @square_to_mul(
// CHECK-NEXT: "dl.mul"(%arg0, %arg0)
// CHECK-NEXT: "dl.mul"(%arg1, %arg1)
func.func @square_to_mul(%x: tensor<2x3xf32>, %i: tensor<2xi32>) -> (tensor<2x3xf32>, tensor<2xi32>) {
  %c = "dl.constant"() {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %d = "dl.constant"() {value = dense<2> : tensor<i32>} : () -> tensor<i32>
  %0 = "dl.pow"(%x, %c) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %1 = "dl.pow"(%i, %d) : (tensor<2xi32>, tensor<i32>) -> tensor<2xi32>
  return %0, %1 : tensor<2x3xf32>, tensor<2xi32>
}

// CHECK-LABEL: func.func @root_of_power(
// CHECK-NEXT: "dl.reciprocal"(%arg0)
// CHECK-NEXT: %[[S:.*]] = "dl.mul"(%arg0, %arg0)
// CHECK-NEXT: "dl.sqrt"(%[[S]])
// CHECK-NEXT: "dl.rsqrt"(%[[S]])
func.func @root_of_power(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  %m = "dl.constant"() {value = dense<-1.0> : tensor<f32>} : () -> tensor<f32>
  %h = "dl.constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %n = "dl.constant"() {value = dense<-0.5> : tensor<f32>} : () -> tensor<f32>
  %0 = "dl.pow"(%x, %m) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %1 = "dl.mul"(%x, %x) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = "dl.pow"(%1, %h) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %3 = "dl.pow"(%1, %n) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  return %0, %2, %3 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}

// no-match: -inf ** 0.5 is inf, but its root is NaN; integers have no root.
// CHECK-LABEL: func.func @not_root_of_power(
// CHECK-COUNT-2: "dl.pow"
func.func @not_root_of_power(%x: tensor<2x3xf32>, %i: tensor<2xi32>) -> (tensor<2x3xf32>, tensor<2xi32>) {
  %h = "dl.constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %0 = "dl.pow"(%x, %h) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %1 = "dl.pow"(%i, %h) : (tensor<2xi32>, tensor<f32>) -> tensor<2xi32>
  return %0, %1 : tensor<2x3xf32>, tensor<2xi32>
}

// CHECK-LABEL: func.func @div_of_power_of_two_to_mul(
// CHECK-NEXT: %[[C:.*]] = "dl.constant"() {value = dense<[5.000000e-01, -4.000000e+00, 9.765625E-4]>
// CHECK-NEXT: "dl.mul"(%arg0, %[[C]])
func.func @div_of_power_of_two_to_mul(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %c = "dl.constant"() {value = dense<[2.0, -0.25, 1024.0]> : tensor<3xf32>} : () -> tensor<3xf32>
  %0 = "dl.div"(%x, %c) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// no-match: 1 / 3 is not exact, and 2 ** 24 is too large for f16.
// CHECK-LABEL: func.func @not_div_of_power_of_two(
// CHECK-COUNT-2: "dl.div"
func.func @not_div_of_power_of_two(%x: tensor<2x3xf32>, %h: tensor<2xf16>) -> (tensor<2x3xf32>, tensor<2xf16>) {
  %c = "dl.constant"() {value = dense<[2.0, 3.0, 4.0]> : tensor<3xf32>} : () -> tensor<3xf32>
  %t = "dl.constant"() {value = dense<5.960464e-08> : tensor<f16>} : () -> tensor<f16>
  %0 = "dl.div"(%x, %c) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %1 = "dl.div"(%h, %t) : (tensor<2xf16>, tensor<f16>) -> tensor<2xf16>
  return %0, %1 : tensor<2x3xf32>, tensor<2xf16>
}

// CHECK-LABEL: func.func @reciprocal_of_sqrt_to_rsqrt(
// CHECK-NEXT: "dl.rsqrt"(%arg0)
// CHECK-NEXT: "dl.rsqrt"(%arg1)
func.func @reciprocal_of_sqrt_to_rsqrt(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %one = "dl.constant"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %0 = "dl.sqrt"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = "dl.reciprocal"(%0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = "dl.sqrt"(%y) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = "dl.div"(%one, %2) : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %1, %3 : tensor<2x3xf32>, tensor<2x3xf32>
}

// no-match: f16 rounds the root, and a root that is used twice stays.
// CHECK-LABEL: func.func @not_reciprocal_of_sqrt(
// CHECK-COUNT-2: "dl.reciprocal"
func.func @not_reciprocal_of_sqrt(%x: tensor<2xf16>, %y: tensor<2xf32>) -> (tensor<2xf16>, tensor<2xf32>, tensor<2xf32>) {
  %0 = "dl.sqrt"(%x) : (tensor<2xf16>) -> tensor<2xf16>
  %1 = "dl.reciprocal"(%0) : (tensor<2xf16>) -> tensor<2xf16>
  %2 = "dl.sqrt"(%y) : (tensor<2xf32>) -> tensor<2xf32>
  %3 = "dl.reciprocal"(%2) : (tensor<2xf32>) -> tensor<2xf32>
  return %1, %2, %3 : tensor<2xf16>, tensor<2xf32>, tensor<2xf32>
}

// CHECK-LABEL: func.func @add_of_neg_to_sub(
// CHECK-NEXT: "dl.sub"(%arg0, %arg1)
// CHECK-NEXT: "dl.sub"(%arg0, %arg1)
func.func @add_of_neg_to_sub(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = "dl.neg"(%y) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = "dl.add"(%x, %0) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = "dl.add"(%0, %x) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %1, %2 : tensor<2x3xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: func.func @sub_of_neg_to_add(
// CHECK-NEXT: "dl.add"(%arg0, %arg1)
func.func @sub_of_neg_to_add(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "dl.neg"(%y) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = "dl.sub"(%x, %0) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @cancel_inverses(
// CHECK-NEXT: return %arg0, %arg1
func.func @cancel_inverses(%x: tensor<2x3xf32>, %b: tensor<4xi1>) -> (tensor<2x3xf32>, tensor<4xi1>) {
  %0 = "dl.neg"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = "dl.neg"(%0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = "dl.not"(%b) : (tensor<4xi1>) -> tensor<4xi1>
  %3 = "dl.not"(%2) : (tensor<4xi1>) -> tensor<4xi1>
  return %1, %3 : tensor<2x3xf32>, tensor<4xi1>
}

// CHECK-LABEL: func.func @drop_repeated_function(
// CHECK-NEXT: %[[R:.*]] = "dl.relu"(%arg0)
// CHECK-NEXT: %[[A:.*]] = "dl.abs"(%arg0)
// CHECK-NEXT: %[[S:.*]] = "dl.sign"(%arg0)
// CHECK-NEXT: return %[[R]], %[[A]], %[[S]]
func.func @drop_repeated_function(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = "dl.relu"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = "dl.relu"(%0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = "dl.abs"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = "dl.abs"(%2) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %4 = "dl.sign"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %5 = "dl.sign"(%4) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %1, %3, %5 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: func.func @drop_rounding_of_whole_number(
// CHECK-NEXT: %[[C:.*]] = "dl.ceil"(%arg0)
// CHECK-NEXT: return %[[C]]
func.func @drop_rounding_of_whole_number(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "dl.ceil"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = "dl.round"(%0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = "dl.trunc"(%1) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %2 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @drop_sign_of_positive(
// CHECK: %[[S:.*]] = "dl.add"
// CHECK-NEXT: return %[[S]], %[[S]]
func.func @drop_sign_of_positive(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = "dl.sigmoid"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = "dl.mul"(%y, %y) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = "dl.add"(%0, %1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = "dl.relu"(%2) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %4 = "dl.abs"(%2) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %3, %4 : tensor<2x3xf32>, tensor<2x3xf32>
}

// no-match: an integer square wraps.
// CHECK-LABEL: func.func @not_sign_of_positive(
// CHECK: "dl.relu"
func.func @not_sign_of_positive(%x: tensor<2xi8>) -> tensor<2xi8> {
  %0 = "dl.mul"(%x, %x) : (tensor<2xi8>, tensor<2xi8>) -> tensor<2xi8>
  %1 = "dl.relu"(%0) : (tensor<2xi8>) -> tensor<2xi8>
  return %1 : tensor<2xi8>
}

// CHECK-LABEL: func.func @abs_of_neg(
// CHECK-NEXT: "dl.abs"(%arg0)
func.func @abs_of_neg(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "dl.neg"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = "dl.abs"(%0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @drop_idempotent(
// CHECK-NEXT: return %arg0, %arg1
func.func @drop_idempotent(%x: tensor<2x3xf32>, %b: tensor<4xi1>) -> (tensor<2x3xf32>, tensor<4xi1>) {
  %0 = "dl.max"(%x, %x) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = "dl.min"(%0, %x) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = "dl.or"(%b, %b) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  return %1, %2 : tensor<2x3xf32>, tensor<4xi1>
}

// CHECK-LABEL: func.func @bound_to_clip(
// CHECK-NEXT: "dl.clip"(%arg0) {high = 6.000000e+00 : f64, low = -1.000000e+00 : f64}
// CHECK-NEXT: "dl.clip"(%arg1) {high = 7.000000e+00 : f64}
func.func @bound_to_clip(%x: tensor<2x3xf32>, %i: tensor<3xi32>) -> (tensor<2x3xf32>, tensor<3xi32>) {
  %l = "dl.constant"() {value = dense<-1.0> : tensor<f32>} : () -> tensor<f32>
  %h = "dl.constant"() {value = dense<6.0> : tensor<1x3xf32>} : () -> tensor<1x3xf32>
  %n = "dl.constant"() {value = dense<7> : tensor<i32>} : () -> tensor<i32>
  %0 = "dl.max"(%x, %l) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %1 = "dl.min"(%h, %0) : (tensor<1x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = "dl.min"(%i, %n) : (tensor<3xi32>, tensor<i32>) -> tensor<3xi32>
  return %1, %2 : tensor<2x3xf32>, tensor<3xi32>
}

// no-match: several numbers, NaN, and an integer that no f64 is.
// CHECK-LABEL: func.func @not_bound_to_clip(
// CHECK-COUNT-2: "dl.max"
// CHECK: "dl.min"
func.func @not_bound_to_clip(%x: tensor<2x3xf32>, %i: tensor<3xi64>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<3xi64>) {
  %l = "dl.constant"() {value = dense<[0.0, 1.0, 2.0]> : tensor<3xf32>} : () -> tensor<3xf32>
  %n = "dl.constant"() {value = dense<0x7FC00000> : tensor<f32>} : () -> tensor<f32>
  %b = "dl.constant"() {value = dense<9007199254740993> : tensor<i64>} : () -> tensor<i64>
  %0 = "dl.max"(%x, %l) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %1 = "dl.max"(%x, %n) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %2 = "dl.min"(%i, %b) : (tensor<3xi64>, tensor<i64>) -> tensor<3xi64>
  return %0, %1, %2 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<3xi64>
}

// CHECK-LABEL: func.func @drop_open_clip(
// CHECK-NEXT: return %arg0
func.func @drop_open_clip(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "dl.clip"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @clip_to_relu(
// CHECK-NEXT: "dl.relu"(%arg0)
func.func @clip_to_relu(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "dl.clip"(%x) {low = 0.0 : f64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @merge_clips(
// CHECK-NEXT: "dl.clip"(%arg0) {high = 3.000000e+00 : f64, low = -1.000000e+00 : f64}
// CHECK-NEXT: "dl.clip"(%arg0) {high = 6.000000e+00 : f64, low = 0.000000e+00 : f64}
// CHECK-NEXT: "dl.clip"(%arg0) {high = 4.000000e+00 : f64, low = 4.000000e+00 : f64}
func.func @merge_clips(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = "dl.clip"(%x) {low = -2.0 : f64, high = 3.0 : f64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = "dl.clip"(%0) {low = -1.0 : f64, high = 5.0 : f64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = "dl.relu"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = "dl.clip"(%2) {high = 6.0 : f64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %4 = "dl.clip"(%0) {low = 4.0 : f64, high = 5.0 : f64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %1, %3, %4 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}
