// RUN: dlc-opt %s --dl-canonicalize | filecheck %s
// Conditions, selections and casts in their canonical form; each function is named for the rule that it shows.

// CHECK-LABEL: func.func @drop_neutral_condition(
// CHECK-NEXT: return %arg0, %arg0, %arg0, %arg1
func.func @drop_neutral_condition(%b: tensor<2x3xi1>, %i: tensor<4xi32>) -> (tensor<2x3xi1>, tensor<2x3xi1>, tensor<2x3xi1>, tensor<4xi32>) {
  %t = "dl.constant"() {value = dense<true> : tensor<i1>} : () -> tensor<i1>
  %f = "dl.constant"() {value = dense<false> : tensor<3xi1>} : () -> tensor<3xi1>
  %m = "dl.constant"() {value = dense<-1> : tensor<i32>} : () -> tensor<i32>
  %0 = "dl.and"(%b, %t) : (tensor<2x3xi1>, tensor<i1>) -> tensor<2x3xi1>
  %1 = "dl.or"(%b, %f) : (tensor<2x3xi1>, tensor<3xi1>) -> tensor<2x3xi1>
  %2 = "dl.equal"(%t, %b) : (tensor<i1>, tensor<2x3xi1>) -> tensor<2x3xi1>
  %3 = "dl.and"(%i, %m) : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  return %0, %1, %2, %3 : tensor<2x3xi1>, tensor<2x3xi1>, tensor<2x3xi1>, tensor<4xi32>
}

// no-match: other constants, and a comparison of numbers.
// CHECK-LABEL: func.func @not_neutral_condition(
// CHECK-COUNT-2: "dl.equal"
func.func @not_neutral_condition(%b: tensor<2x3xi1>, %i: tensor<4xi32>) -> (tensor<2x3xi1>, tensor<4xi1>) {
  %f = "dl.constant"() {value = dense<false> : tensor<i1>} : () -> tensor<i1>
  %z = "dl.constant"() {value = dense<-1> : tensor<i32>} : () -> tensor<i32>
  %0 = "dl.equal"(%b, %f) : (tensor<2x3xi1>, tensor<i1>) -> tensor<2x3xi1>
  %1 = "dl.equal"(%i, %z) : (tensor<4xi32>, tensor<i32>) -> tensor<4xi1>
  return %0, %1 : tensor<2x3xi1>, tensor<4xi1>
}

// CHECK-LABEL: func.func @not_of_equality(
// CHECK-NEXT: "dl.not_equal"(%arg0, %arg1)
// CHECK-NEXT: "dl.equal"(%arg0, %arg1)
func.func @not_of_equality(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<2x3xi1>, tensor<2x3xi1>) {
  %0 = "dl.equal"(%x, %y) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  %1 = "dl.not"(%0) : (tensor<2x3xi1>) -> tensor<2x3xi1>
  %2 = "dl.not_equal"(%x, %y) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  %3 = "dl.not"(%2) : (tensor<2x3xi1>) -> tensor<2x3xi1>
  return %1, %3 : tensor<2x3xi1>, tensor<2x3xi1>
}

// no-match: NaN is neither less nor not less.
// CHECK-LABEL: func.func @not_not_of_less(
// CHECK: "dl.less"
// CHECK: "dl.not"
func.func @not_not_of_less(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xi1> {
  %0 = "dl.less"(%x, %y) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  %1 = "dl.not"(%0) : (tensor<2x3xi1>) -> tensor<2x3xi1>
  return %1 : tensor<2x3xi1>
}

// CHECK-LABEL: func.func @where_of_not(
// CHECK-NEXT: "dl.where"(%arg0, %arg2, %arg1)
func.func @where_of_not(%b: tensor<2x3xi1>, %x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "dl.not"(%b) : (tensor<2x3xi1>) -> tensor<2x3xi1>
  %1 = "dl.where"(%0, %x, %y) : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @where_of_one_value(
// CHECK-NEXT: return %arg1
func.func @where_of_one_value(%b: tensor<3xi1>, %x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %1 = "dl.where"(%b, %x, %x) : (tensor<3xi1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}

// no-match: the condition makes the result larger.
// CHECK-LABEL: func.func @not_where_of_one_value(
// CHECK-NEXT: "dl.where"
func.func @not_where_of_one_value(%b: tensor<2x3xi1>, %x: tensor<3xf32>) -> tensor<2x3xf32> {
  %1 = "dl.where"(%b, %x, %x) : (tensor<2x3xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @where_of_constant(
// CHECK-NEXT: %[[E:.*]] = "dl.expand"(%arg1) {shape = array<i64: 2, 3>}
// CHECK-NEXT: return %arg0, %[[E]]
func.func @where_of_constant(%x: tensor<2x3xf32>, %y: tensor<3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %t = "dl.constant"() {value = dense<true> : tensor<2x1xi1>} : () -> tensor<2x1xi1>
  %f = "dl.constant"() {value = dense<false> : tensor<i1>} : () -> tensor<i1>
  %0 = "dl.where"(%t, %x, %y) : (tensor<2x1xi1>, tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %1 = "dl.where"(%f, %x, %y) : (tensor<i1>, tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return %0, %1 : tensor<2x3xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: func.func @where_of_numbers_to_cast(
// CHECK-NEXT: "dl.cast"(%arg0) {to = f32}
func.func @where_of_numbers_to_cast(%b: tensor<2x3xi1>) -> tensor<2x3xf32> {
  %one = "dl.constant"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %zero = "dl.constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %0 = "dl.where"(%b, %one, %zero) : (tensor<2x3xi1>, tensor<f32>, tensor<f32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @drop_cast_to_own_type(
// CHECK-NEXT: return %arg0
func.func @drop_cast_to_own_type(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "dl.cast"(%x) {to = f32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @merge_casts(
// CHECK-NEXT: "dl.cast"(%arg0) {to = i64} : (tensor<3xf16>)
// CHECK-NEXT: "dl.cast"(%arg1) {to = i8} : (tensor<3xi64>)
// CHECK-NEXT: "dl.cast"(%arg3) {to = i32} : (tensor<3xi8>)
// CHECK-NEXT: return %{{.*}}, %{{.*}}, %arg2,
func.func @merge_casts(%h: tensor<3xf16>, %l: tensor<3xi64>, %b: tensor<3xi1>, %s: tensor<3xi8>) -> (tensor<3xi64>, tensor<3xi8>, tensor<3xi1>, tensor<3xi32>) {
  %0 = "dl.cast"(%h) {to = f32} : (tensor<3xf16>) -> tensor<3xf32>
  %1 = "dl.cast"(%0) {to = i64} : (tensor<3xf32>) -> tensor<3xi64>
  %2 = "dl.cast"(%l) {to = i32} : (tensor<3xi64>) -> tensor<3xi32>
  %3 = "dl.cast"(%2) {to = i8} : (tensor<3xi32>) -> tensor<3xi8>
  %4 = "dl.cast"(%b) {to = f32} : (tensor<3xi1>) -> tensor<3xf32>
  %5 = "dl.cast"(%4) {to = i1} : (tensor<3xf32>) -> tensor<3xi1>
  %6 = "dl.cast"(%s) {to = f32} : (tensor<3xi8>) -> tensor<3xf32>
  %7 = "dl.cast"(%6) {to = i32} : (tensor<3xf32>) -> tensor<3xi32>
  return %1, %3, %5, %7 : tensor<3xi64>, tensor<3xi8>, tensor<3xi1>, tensor<3xi32>
}

// no-match: the first cast rounds or wraps, and floats saturate where integers wrap.
// CHECK-LABEL: func.func @not_merge_casts(
// CHECK-COUNT-8: "dl.cast"
func.func @not_merge_casts(%f: tensor<3xf32>, %l: tensor<3xi64>, %i: tensor<3xi32>) -> (tensor<3xf32>, tensor<3xi64>, tensor<3xi8>, tensor<3xi32>) {
  %0 = "dl.cast"(%f) {to = f16} : (tensor<3xf32>) -> tensor<3xf16>
  %1 = "dl.cast"(%0) {to = f32} : (tensor<3xf16>) -> tensor<3xf32>
  %2 = "dl.cast"(%l) {to = i32} : (tensor<3xi64>) -> tensor<3xi32>
  %3 = "dl.cast"(%2) {to = i64} : (tensor<3xi32>) -> tensor<3xi64>
  %4 = "dl.cast"(%i) {to = f64} : (tensor<3xi32>) -> tensor<3xf64>
  %5 = "dl.cast"(%4) {to = i8} : (tensor<3xf64>) -> tensor<3xi8>
  %6 = "dl.cast"(%i) {to = f32} : (tensor<3xi32>) -> tensor<3xf32>
  %7 = "dl.cast"(%6) {to = i32} : (tensor<3xf32>) -> tensor<3xi32>
  return %1, %3, %5, %7 : tensor<3xf32>, tensor<3xi64>, tensor<3xi8>, tensor<3xi32>
}

// CHECK-LABEL: func.func @drop_add_before_integer(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<3xf32>
// CHECK-NEXT: %[[BYTES:.*]] = "dl.cast"(%[[X]]) {to = i8}
// CHECK-NEXT: return %[[BYTES]]
func.func @drop_add_before_integer(%x: tensor<3xf32>) -> tensor<3xi8> {
  %zero = "dl.constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %0 = "dl.add"(%x, %zero) : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  %1 = "dl.cast"(%0) {to = i8} : (tensor<3xf32>) -> tensor<3xi8>
  return %1 : tensor<3xi8>
}

// CHECK-LABEL: func.func @drop_relu_before_bytes(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<3xf32>
// CHECK-NEXT: %[[ROUNDED:.*]] = "dl.round"(%[[X]])
// CHECK-NEXT: %[[BYTES:.*]] = "dl.cast"(%[[ROUNDED]]) {to = ui8}
// CHECK-NEXT: return %[[BYTES]]
func.func @drop_relu_before_bytes(%x: tensor<3xf32>) -> tensor<3xui8> {
  %0 = "dl.relu"(%x) : (tensor<3xf32>) -> tensor<3xf32>
  %1 = "dl.round"(%0) : (tensor<3xf32>) -> tensor<3xf32>
  %2 = "dl.cast"(%1) {to = ui8} : (tensor<3xf32>) -> tensor<3xui8>
  return %2 : tensor<3xui8>
}

// A bound of zero counts where bytes are signed or floats are moved, a zero where floats stay.
// CHECK-LABEL: func.func @not_bytes_of_floats(
// CHECK-COUNT-2: "dl.relu"
// CHECK: "dl.add"
func.func @not_bytes_of_floats(%x: tensor<3xf32>, %y: tensor<3xf32>, %z: tensor<3xf32>) -> (tensor<3xi8>, tensor<3xui8>, tensor<3xf64>) {
  %zero = "dl.constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %one = "dl.constant"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %0 = "dl.relu"(%x) : (tensor<3xf32>) -> tensor<3xf32>
  %1 = "dl.round"(%0) : (tensor<3xf32>) -> tensor<3xf32>
  %2 = "dl.cast"(%1) {to = i8} : (tensor<3xf32>) -> tensor<3xi8>
  %3 = "dl.relu"(%y) : (tensor<3xf32>) -> tensor<3xf32>
  %4 = "dl.round"(%3) : (tensor<3xf32>) -> tensor<3xf32>
  %5 = "dl.add"(%4, %one) : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  %6 = "dl.cast"(%5) {to = ui8} : (tensor<3xf32>) -> tensor<3xui8>
  %7 = "dl.add"(%z, %zero) : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  %8 = "dl.cast"(%7) {to = f64} : (tensor<3xf32>) -> tensor<3xf64>
  return %2, %6, %8 : tensor<3xi8>, tensor<3xui8>, tensor<3xf64>
}

// CHECK-LABEL: func.func @drop_assert_that_holds(
// CHECK-NEXT: return %arg0
func.func @drop_assert_that_holds(%x: tensor<3xf32>) -> tensor<3xf32> {
  %t = "dl.constant"() {value = dense<true> : tensor<2xi1>} : () -> tensor<2xi1>
  %0 = "dl.assert"(%x, %t) {message = "no"} : (tensor<3xf32>, tensor<2xi1>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// no-match: a condition that is not known.
// CHECK-LABEL: func.func @not_assert_that_holds(
// CHECK: "dl.assert"
func.func @not_assert_that_holds(%x: tensor<3xf32>, %i: tensor<2xi32>) -> tensor<3xf32> {
  %c = "dl.less_equal"(%i, %i) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
  %0 = "dl.assert"(%x, %c) {message = "no"} : (tensor<3xf32>, tensor<2xi1>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
