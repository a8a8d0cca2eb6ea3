// RUN: dlc-opt %s --dl-set-target=target=cascadelake --dl-use-byte-products | filecheck %s
// RUN: dlc-opt %s --dl-set-target=target=cascadelake --dl-use-byte-products --dl-use-byte-products | filecheck %s
// Convolutions of bytes read four channels at a time. The pass refuses nothing.

// A convolution has its channels last and in fours, and its result as many as fill blocks; outside the image lies the zero point.
// CHECK-LABEL: func.func @conv(
// CHECK: %[[ZERO:.*]] = "dl.cast"(%{{.*}}) {to = ui8} : (tensor<i32>) -> tensor<ui8>
// CHECK: %[[WORDS:.*]] = "dl.pad"(%{{.*}}, %[[ZERO]]) {high = array<i64: 0, 1, 1, 1>, {{.*}} -> tensor<2x6x7x4xui8>
// CHECK: %[[DOT:.*]] = "dl.vnni_conv"(%[[WORDS]], %{{.*}}) {dilations = array<i64: 1, 1>, strides = array<i64: 2, 2>}
// CHECK-SAME: (tensor<2x6x7x4xui8>, tensor<1x2x2x1x16xi32>) -> tensor<2x3x3x16xi32>
// CHECK: "dl.slice"(%[[DOT]]) {{.*}} -> tensor<2x3x3x5xi32>
// CHECK: "dl.transpose"({{.*}}) {perm = array<i64: 0, 3, 1, 2>} : (tensor<2x3x3x5xi32>) -> tensor<2x5x3x3xi32>
// CHECK-NOT: "dl.conv"
func.func @conv(%x: tensor<2x3x5x6xui8>) -> tensor<2x5x3x3xi32> {
  %w = "dl.param"() {key = "w", shape = array<i64: 5, 3, 2, 2>, dtype = i8} : () -> tensor<5x3x2x2xi8>
  %zero = "dl.constant"() {value = dense<7> : tensor<i32>} : () -> tensor<i32>
  %0 = "dl.cast"(%x) {to = i32} : (tensor<2x3x5x6xui8>) -> tensor<2x3x5x6xi32>
  %1 = "dl.sub"(%0, %zero) : (tensor<2x3x5x6xi32>, tensor<i32>) -> tensor<2x3x5x6xi32>
  %2 = "dl.cast"(%w) {to = i32} : (tensor<5x3x2x2xi8>) -> tensor<5x3x2x2xi32>
  %3 = "dl.conv"(%1, %2) {pads = array<i64: 0, 0, 1, 1>, strides = array<i64: 2, 2>}
      : (tensor<2x3x5x6xi32>, tensor<5x3x2x2xi32>) -> tensor<2x5x3x3xi32>
  return %3 : tensor<2x5x3x3xi32>
}

// One tap and no strides: a product. A zero point of the weights takes the sums of x, its products with ones.
// CHECK-LABEL: func.func @pointwise(
// CHECK: %[[PIXELS:.*]] = "dl.transpose"(%{{.*}}) {perm = array<i64: 0, 2, 3, 1>}
// CHECK: %[[DOT:.*]] = "dl.vnni_matmul"(%[[PIXELS]], %{{.*}}) {columns = 16 : i64}
// CHECK: %[[ONES:.*]] = "dl.constant"() {value = dense<1> : tensor<1x1x4x1xi8>}
// CHECK: %[[SUMS:.*]] = "dl.vnni_matmul"(%[[PIXELS]], %{{.*}}) {columns = 1 : i64}
// CHECK: %[[SHIFT:.*]] = "dl.mul"(%[[SUMS]], %{{.*}})
// CHECK: "dl.sub"(%[[DOT]], %[[SHIFT]])
func.func @pointwise(%x: tensor<2x4x3x5xui8>) -> tensor<2x16x3x5xi32> {
  %w = "dl.param"() {key = "w", shape = array<i64: 16, 4, 1, 1>, dtype = i8} : () -> tensor<16x4x1x1xi8>
  %zero = "dl.param"() {key = "zero", shape = array<i64: 16, 1, 1, 1>, dtype = i32} : () -> tensor<16x1x1x1xi32>
  %0 = "dl.cast"(%x) {to = i32} : (tensor<2x4x3x5xui8>) -> tensor<2x4x3x5xi32>
  %1 = "dl.cast"(%w) {to = i32} : (tensor<16x4x1x1xi8>) -> tensor<16x4x1x1xi32>
  %2 = "dl.sub"(%1, %zero) : (tensor<16x4x1x1xi32>, tensor<16x1x1x1xi32>) -> tensor<16x4x1x1xi32>
  %3 = "dl.conv"(%0, %2) : (tensor<2x4x3x5xi32>, tensor<16x4x1x1xi32>) -> tensor<2x16x3x5xi32>
  return %3 : tensor<2x16x3x5xi32>
}

// no-match: a zero point that is no byte, where the border needs it.
// CHECK-LABEL: func.func @no_byte(
// CHECK: "dl.conv"
func.func @no_byte(%x: tensor<2x3x5x6xui8>, %zero: tensor<i32>) -> tensor<2x5x3x3xi32> {
  %w = "dl.param"() {key = "w", shape = array<i64: 5, 3, 2, 2>, dtype = i8} : () -> tensor<5x3x2x2xi8>
  %0 = "dl.cast"(%x) {to = i32} : (tensor<2x3x5x6xui8>) -> tensor<2x3x5x6xi32>
  %1 = "dl.sub"(%0, %zero) : (tensor<2x3x5x6xi32>, tensor<i32>) -> tensor<2x3x5x6xi32>
  %2 = "dl.cast"(%w) {to = i32} : (tensor<5x3x2x2xi8>) -> tensor<5x3x2x2xi32>
  %3 = "dl.conv"(%1, %2) {pads = array<i64: 0, 0, 1, 1>, strides = array<i64: 2, 2>}
      : (tensor<2x3x5x6xi32>, tensor<5x3x2x2xi32>) -> tensor<2x5x3x3xi32>
  return %3 : tensor<2x5x3x3xi32>
}
