// RUN: dlc-opt %s --dl-set-target=target=znver3 --dl-use-byte-products | filecheck %s
// RUN: dlc-opt %s --dl-set-target=target=skylake-avx512 --dl-use-byte-products | filecheck %s --check-prefix=WIDE
// RUN: dlc-opt %s --dl-set-target=target=neoverse-n1 --dl-use-byte-products | filecheck %s --check-prefix=BYTES
// x86-64 without VNNI reads numbers of i16 two at a time, in blocks of two vectors where there are 16 registers. The pass refuses
// nothing.

// CHECK-LABEL: func.func @conv(
// CHECK-SAME: %[[X:.*]]: tensor<1x3x5x6xi8>)
// CHECK: %[[ZERO:.*]] = "dl.cast"(%{{.*}}) {to = i16} : (tensor<i32>) -> tensor<i16>
// CHECK: %[[PADDED:.*]] = "dl.pad"(%{{.*}}, %[[ZERO]]) {high = array<i64: 0, 1, 1, 1>, {{.*}} -> tensor<1x6x7x4xi16>
// CHECK: %[[DOT:.*]] = "dl.vnni_conv"(%[[PADDED]], %{{.*}}) {{.*}} : (tensor<1x6x7x4xi16>, tensor<2x2x2x2x16xi32>)

// WIDE-LABEL: func.func @conv(
// WIDE: "dl.vnni_conv"({{.*}} : (tensor<1x6x7x4xi16>, tensor<1x2x2x2x32xi32>)

// BYTES-LABEL: func.func @conv(
// BYTES: "dl.vnni_conv"({{.*}} : (tensor<1x6x7x4xui8>, tensor<1x2x2x1x32xi32>)
func.func @conv(%x: tensor<1x3x5x6xi8>) -> tensor<1x32x5x6xi32> {
  %w = "dl.param"() {key = "w", shape = array<i64: 32, 3, 2, 2>, dtype = ui8} : () -> tensor<32x3x2x2xui8>
  %zero = "dl.constant"() {value = dense<7> : tensor<i32>} : () -> tensor<i32>
  %0 = "dl.cast"(%x) {to = i32} : (tensor<1x3x5x6xi8>) -> tensor<1x3x5x6xi32>
  %1 = "dl.sub"(%0, %zero) : (tensor<1x3x5x6xi32>, tensor<i32>) -> tensor<1x3x5x6xi32>
  %2 = "dl.cast"(%w) {to = i32} : (tensor<32x3x2x2xui8>) -> tensor<32x3x2x2xi32>
  %3 = "dl.conv"(%1, %2) {pads = array<i64: 0, 0, 1, 1>}
      : (tensor<1x3x5x6xi32>, tensor<32x3x2x2xi32>) -> tensor<1x32x5x6xi32>
  return %3 : tensor<1x32x5x6xi32>
}

// In steps of two, words of a row of three channels take the place of pixels: 7 taps are 11 of them.
// CHECK-LABEL: func.func @rows(
// CHECK: %[[PADDED:.*]] = "dl.pad"({{.*}}) {high = array<i64: 0, 3, 4, 0>, low = array<i64: 0, 3, 3, 0>} : {{.*}} -> tensor<1x14x16x3xi16>
// CHECK: %[[ROWS:.*]] = "dl.reshape"(%[[PADDED]]) {{.*}} -> tensor<1x14x24x2xi16>
// CHECK: "dl.pad"({{.*}} : (tensor<7x21x16xi8>) -> tensor<7x22x16xi8>
// CHECK: "dl.vnni_conv"(%[[ROWS]], %{{.*}}) {dilations = array<i64: 1, 1>, strides = array<i64: 2, 3>}
// CHECK-SAME: (tensor<1x14x24x2xi16>, tensor<1x7x11x1x16xi32>) -> tensor<1x4x5x16xi32>
func.func @rows(%x: tensor<1x3x8x9xui8>) -> tensor<1x16x4x5xi32> {
  %w = "dl.param"() {key = "w", shape = array<i64: 16, 3, 7, 7>, dtype = i8} : () -> tensor<16x3x7x7xi8>
  %0 = "dl.cast"(%x) {to = i32} : (tensor<1x3x8x9xui8>) -> tensor<1x3x8x9xi32>
  %1 = "dl.cast"(%w) {to = i32} : (tensor<16x3x7x7xi8>) -> tensor<16x3x7x7xi32>
  %2 = "dl.conv"(%0, %1) {pads = array<i64: 3, 3, 3, 3>, strides = array<i64: 2, 2>}
      : (tensor<1x3x8x9xi32>, tensor<16x3x7x7xi32>) -> tensor<1x16x4x5xi32>
  return %2 : tensor<1x16x4x5xi32>
}

// A word has the number of the odd row above that of the even one; neither is moved by 128.
// CHECK-LABEL: func.func @product(
// CHECK-SAME: %[[X:.*]]: tensor<3x7xi8>)
// CHECK-DAG: %[[LEFT:.*]] = "dl.cast"(%[[X]]) {to = i16}
// CHECK: "dl.mod"
// CHECK: %[[ROW:.*]] = "dl.mod"
// CHECK: %[[HIGH:.*]] = "dl.mul"({{.*}}) : (tensor<4x4x16xi32>, tensor<i32>)
// CHECK: "dl.add"(%[[HIGH]], %[[ROW]])
// CHECK: "dl.vnni_matmul"({{.*}}) {columns = 50 : i64} : (tensor<3x8xi16>, tensor<4x4x16xi32>) -> tensor<3x50xi32>
func.func @product(%x: tensor<3x7xi8>) -> tensor<3x50xi32> {
  %w = "dl.param"() {key = "w", shape = array<i64: 7, 50>, dtype = i8} : () -> tensor<7x50xi8>
  %0 = "dl.cast"(%x) {to = i32} : (tensor<3x7xi8>) -> tensor<3x7xi32>
  %1 = "dl.cast"(%w) {to = i32} : (tensor<7x50xi8>) -> tensor<7x50xi32>
  %2 = "dl.matmul"(%0, %1) : (tensor<3x7xi32>, tensor<7x50xi32>) -> tensor<3x50xi32>
  return %2 : tensor<3x50xi32>
}

// no-match: numbers that are no bytes.
// CHECK-LABEL: func.func @left(
// CHECK: "dl.matmul"
// CHECK-NOT: dl.vnni_matmul
func.func @left(%x: tensor<3x7xi32>) -> tensor<3x50xi32> {
  %w = "dl.param"() {key = "w", shape = array<i64: 7, 50>, dtype = i8} : () -> tensor<7x50xi8>
  %1 = "dl.cast"(%w) {to = i32} : (tensor<7x50xi8>) -> tensor<7x50xi32>
  %2 = "dl.matmul"(%x, %1) : (tensor<3x7xi32>, tensor<7x50xi32>) -> tensor<3x50xi32>
  return %2 : tensor<3x50xi32>
}
