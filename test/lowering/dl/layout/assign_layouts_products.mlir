// RUN: dlc-opt %s --dl-assign-layouts --split-input-file | filecheck %s
// Convolutions with one tap, alone between images with channels first: they read these pixel by pixel, so only results are moved.

// 49 pixels would leave lanes idle; it pays although the image has more channels than the result.
// CHECK-LABEL: func.func @small
// CHECK: %[[X:.*]] = "dl.transpose"(%{{.*}}) {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x960x7x7xf32>)
// CHECK: %[[Y:.*]] = "dl.conv"(%[[X]], %{{.*}}) {channels_last = true
// CHECK: "dl.transpose"(%[[Y]])
func.func @small(%x: tensor<1x960x7x7xf32>) -> tensor<1x160x7x7xf32> {
  %w = "dl.param"() {key = "w", shape = array<i64: 160, 960, 1, 1>, dtype = f32} : () -> tensor<160x960x1x1xf32>
  %0 = "dl.conv"(%x, %w) : (tensor<1x960x7x7xf32>, tensor<160x960x1x1xf32>) -> tensor<1x160x7x7xf32>
  return %0 : tensor<1x160x7x7xf32>
}

// -----

// Every second pixel is no vector.
// CHECK-LABEL: func.func @strided
// CHECK: "dl.conv"({{.*}}) {channels_last = true, {{.*}}strides = array<i64: 2, 2>}
func.func @strided(%x: tensor<1x256x56x56xf32>) -> tensor<1x512x28x28xf32> {
  %w = "dl.param"() {key = "w", shape = array<i64: 512, 256, 1, 1>, dtype = f32} : () -> tensor<512x256x1x1xf32>
  %0 = "dl.conv"(%x, %w) {strides = array<i64: 2, 2>} : (tensor<1x256x56x56xf32>, tensor<512x256x1x1xf32>) -> tensor<1x512x28x28xf32>
  return %0 : tensor<1x512x28x28xf32>
}

// -----

// no-match: pixels fill their lanes, and moving the result would take longer than the rest.
// CHECK-LABEL: func.func @large
// CHECK-NOT: dl.transpose
// CHECK-NOT: channels_last
// CHECK: return
func.func @large(%x: tensor<1x64x56x56xf32>) -> tensor<1x256x56x56xf32> {
  %w = "dl.param"() {key = "w", shape = array<i64: 256, 64, 1, 1>, dtype = f32} : () -> tensor<256x64x1x1xf32>
  %0 = "dl.conv"(%x, %w) : (tensor<1x64x56x56xf32>, tensor<256x64x1x1xf32>) -> tensor<1x256x56x56xf32>
  return %0 : tensor<1x256x56x56xf32>
}

// -----

// no-match: with padding the image is copied, and a transpose with it is not free.
// CHECK-LABEL: func.func @padded
// CHECK-NOT: channels_last
// CHECK: return
func.func @padded(%x: tensor<1x384x14x14xf32>) -> tensor<1x64x16x16xf32> {
  %w = "dl.param"() {key = "w", shape = array<i64: 64, 384, 1, 1>, dtype = f32} : () -> tensor<64x384x1x1xf32>
  %0 = "dl.conv"(%x, %w) {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x384x14x14xf32>, tensor<64x384x1x1xf32>) -> tensor<1x64x16x16xf32>
  return %0 : tensor<1x64x16x16xf32>
}
