// RUN: dlc-opt %s --dl-set-target=target=znver3 --dl-use-byte-products | filecheck %s
// RUN: dlc-opt %s --dl-set-target=target=cascadelake --dl-use-byte-products | filecheck %s --check-prefix=VNNI
// Convolutions of bytes by 3x3 taps take Winograd's tiles where two products are added at once. The pass refuses nothing.
// VNNI-NOT: winograd

// The doubled transforms of taps are whole numbers; the image keeps its zero point, of which the sums are taken out.
// CHECK-LABEL: func.func @tiles(
// CHECK: %[[PADDED:.*]] = "dl.pad"({{.*}} -> tensor<1x16x16x64xi16>
// CHECK: %[[TAPS:.*]] = "dl.matmul"(%{{.*}}, %{{.*}}) : (tensor<16x9xi32>, tensor<9x4096xi32>) -> tensor<16x4096xi32>
// CHECK: "dl.reshape"(%[[TAPS]]) {shape = array<i64: 16, 32, 2, 4, 16>}
// CHECK: %[[WEIGHT:.*]] = "dl.transpose"({{.*}}) {perm = array<i64: 0, 2, 1, 3>} : (tensor<16x32x4x16xi32>) -> tensor<16x4x32x16xi32>
// CHECK: %[[DOT:.*]] = "dl.pair_winograd_conv"(%[[PADDED]], %[[WEIGHT]]) {{.*}} -> tensor<1x14x14x64xi32>
// CHECK: "dl.sub"(%[[DOT]],
func.func @tiles(%x: tensor<1x64x14x14xui8>) -> tensor<1x64x14x14xi32> {
  %w = "dl.param"() {key = "w", shape = array<i64: 64, 64, 3, 3>, dtype = i8} : () -> tensor<64x64x3x3xi8>
  %zero = "dl.constant"() {value = dense<7> : tensor<i32>} : () -> tensor<i32>
  %0 = "dl.cast"(%x) {to = i32} : (tensor<1x64x14x14xui8>) -> tensor<1x64x14x14xi32>
  %1 = "dl.sub"(%0, %zero) : (tensor<1x64x14x14xi32>, tensor<i32>) -> tensor<1x64x14x14xi32>
  %2 = "dl.cast"(%w) {to = i32} : (tensor<64x64x3x3xi8>) -> tensor<64x64x3x3xi32>
  %3 = "dl.conv"(%1, %2) {pads = array<i64: 1, 1, 1, 1>}
      : (tensor<1x64x14x14xi32>, tensor<64x64x3x3xi32>) -> tensor<1x64x14x14xi32>
  return %3 : tensor<1x64x14x14xi32>
}

// no-match: steps of two; channels of which four times the sums may be beyond i32; few channels, which do not pay.
// CHECK-LABEL: func.func @left(
// CHECK-COUNT-3: "dl.vnni_conv"
// CHECK-NOT: dl.pair_winograd_conv
func.func @left(%x: tensor<1x64x14x14xui8>, %y: tensor<1x1024x14x14xui8>, %z: tensor<1x4x14x14xui8>)
    -> (tensor<1x64x7x7xi32>, tensor<1x64x14x14xi32>, tensor<1x16x14x14xi32>) {
  %w = "dl.param"() {key = "w", shape = array<i64: 64, 64, 3, 3>, dtype = i8} : () -> tensor<64x64x3x3xi8>
  %v = "dl.param"() {key = "v", shape = array<i64: 64, 1024, 3, 3>, dtype = i8} : () -> tensor<64x1024x3x3xi8>
  %u = "dl.param"() {key = "u", shape = array<i64: 16, 4, 3, 3>, dtype = i8} : () -> tensor<16x4x3x3xi8>
  %0 = "dl.cast"(%x) {to = i32} : (tensor<1x64x14x14xui8>) -> tensor<1x64x14x14xi32>
  %1 = "dl.cast"(%w) {to = i32} : (tensor<64x64x3x3xi8>) -> tensor<64x64x3x3xi32>
  %2 = "dl.conv"(%0, %1) {pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>}
      : (tensor<1x64x14x14xi32>, tensor<64x64x3x3xi32>) -> tensor<1x64x7x7xi32>
  %3 = "dl.cast"(%y) {to = i32} : (tensor<1x1024x14x14xui8>) -> tensor<1x1024x14x14xi32>
  %4 = "dl.cast"(%v) {to = i32} : (tensor<64x1024x3x3xi8>) -> tensor<64x1024x3x3xi32>
  %5 = "dl.conv"(%3, %4) {pads = array<i64: 1, 1, 1, 1>}
      : (tensor<1x1024x14x14xi32>, tensor<64x1024x3x3xi32>) -> tensor<1x64x14x14xi32>
  %6 = "dl.cast"(%z) {to = i32} : (tensor<1x4x14x14xui8>) -> tensor<1x4x14x14xi32>
  %7 = "dl.cast"(%u) {to = i32} : (tensor<16x4x3x3xi8>) -> tensor<16x4x3x3xi32>
  %8 = "dl.conv"(%6, %7) {pads = array<i64: 1, 1, 1, 1>}
      : (tensor<1x4x14x14xi32>, tensor<16x4x3x3xi32>) -> tensor<1x16x14x14xi32>
  return %2, %5, %8 : tensor<1x64x7x7xi32>, tensor<1x64x14x14xi32>, tensor<1x16x14x14xi32>
}
