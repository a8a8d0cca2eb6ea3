// RUN: dlc-opt %s --dl-set-target=target=gpu:sm_80 --dl-assign-layouts --split-input-file | filecheck %s
// For a GPU, convolutions in types that its tensor cores take get channels last, and kernels without blocks; others stay.

// CHECK-LABEL: func.func @halves
// CHECK: %[[IMAGE:.*]] = "dl.transpose"(%{{.*}}) {perm = array<i64: 0, 2, 3, 1>} : (tensor<2x64x7x7xf16>)
// CHECK: %[[KERNEL:.*]] = "dl.transpose"(%{{.*}}) {perm = array<i64: 2, 3, 1, 0>} : (tensor<64x64x3x3xf16>) -> tensor<3x3x64x64xf16>
// CHECK: "dl.conv"(%[[IMAGE]], %[[KERNEL]]) {channels_last = true,
func.func @halves(%x: tensor<2x64x7x7xf16>) -> tensor<2x64x7x7xf16> {
  %w = "dl.param"() {key = "w", shape = array<i64: 64, 64, 3, 3>, dtype = f16} : () -> tensor<64x64x3x3xf16>
  %0 = "dl.conv"(%x, %w) {pads = array<i64: 1, 1, 1, 1>} : (tensor<2x64x7x7xf16>, tensor<64x64x3x3xf16>) -> tensor<2x64x7x7xf16>
  return %0 : tensor<2x64x7x7xf16>
}

// -----

// CHECK-LABEL: func.func @exact
// CHECK-NOT: channels_last
func.func @exact(%x: tensor<2x64x7x7xf32>) -> tensor<2x64x7x7xf32> {
  %w = "dl.param"() {key = "w", shape = array<i64: 64, 64, 3, 3>, dtype = f32} : () -> tensor<64x64x3x3xf32>
  %0 = "dl.conv"(%x, %w) {pads = array<i64: 1, 1, 1, 1>} : (tensor<2x64x7x7xf32>, tensor<64x64x3x3xf32>) -> tensor<2x64x7x7xf32>
  return %0 : tensor<2x64x7x7xf32>
}

// -----

// Groups have sums of their own, which no product of matrices has.
// CHECK-LABEL: func.func @depthwise
// CHECK-NOT: channels_last
module attributes {dl.precision = "bf16"} {
  func.func @depthwise(%x: tensor<2x64x7x7xf32>) -> tensor<2x64x7x7xf32> {
    %w = "dl.param"() {key = "w", shape = array<i64: 64, 1, 3, 3>, dtype = f32} : () -> tensor<64x1x3x3xf32>
    %0 = "dl.conv"(%x, %w) {pads = array<i64: 1, 1, 1, 1>, groups = 64 : i64} : (tensor<2x64x7x7xf32>, tensor<64x1x3x3xf32>) -> tensor<2x64x7x7xf32>
    return %0 : tensor<2x64x7x7xf32>
  }
}

// -----

// CHECK-LABEL: func.func @allowed
// CHECK: "dl.conv"({{.*}}) {channels_last = true,
module attributes {dl.precision = "bf16"} {
  func.func @allowed(%x: tensor<2x64x7x7xf32>) -> tensor<2x64x7x7xf32> {
    %w = "dl.param"() {key = "w", shape = array<i64: 64, 64, 3, 3>, dtype = f32} : () -> tensor<64x64x3x3xf32>
    %0 = "dl.conv"(%x, %w) {pads = array<i64: 1, 1, 1, 1>} : (tensor<2x64x7x7xf32>, tensor<64x64x3x3xf32>) -> tensor<2x64x7x7xf32>
    return %0 : tensor<2x64x7x7xf32>
  }
}
