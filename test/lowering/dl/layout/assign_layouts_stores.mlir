// RUN: dlc-opt %s --dl-assign-layouts --split-input-file | filecheck %s
// Where the result of a convolution goes counts, too: images with channels last are stored in other orders, or in long rows.

// Few products for each result, but tiles by taps store pixels side by side: only the image, a third of the result, is moved.
// CHECK-LABEL: func.func @stem
// CHECK: dl.transpose
// CHECK: %[[Y:.*]] = "dl.conv"({{.*}}) {channels_last = true,
// CHECK: "dl.transpose"(%[[Y]]) {perm = array<i64: 0, 3, 1, 2>}
func.func @stem(%x: tensor<1x3x224x224xf32>) -> tensor<1x32x112x112xf32> {
  %w = "dl.param"() {key = "w", shape = array<i64: 32, 3, 3, 3>, dtype = f32} : () -> tensor<32x3x3x3xf32>
  %0 = "dl.conv"(%x, %w) {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>}
      : (tensor<1x3x224x224xf32>, tensor<32x3x3x3xf32>) -> tensor<1x32x112x112xf32>
  return %0 : tensor<1x32x112x112xf32>
}

// -----

// no-match: 24 channels are no whole vectors, which the tiles do not transpose.
// CHECK-LABEL: func.func @uneven
// CHECK-NOT: channels_last
// CHECK: return
func.func @uneven(%x: tensor<1x3x224x224xf32>) -> tensor<1x24x112x112xf32> {
  %w = "dl.param"() {key = "w", shape = array<i64: 24, 3, 3, 3>, dtype = f32} : () -> tensor<24x3x3x3xf32>
  %0 = "dl.conv"(%x, %w) {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>}
      : (tensor<1x3x224x224xf32>, tensor<24x3x3x3xf32>) -> tensor<1x24x112x112xf32>
  return %0 : tensor<1x24x112x112xf32>
}

// -----

// Pixels of two convolutions in turn: with channels last each writes rows of channels to their places, and the concat moves nothing.
// CHECK-LABEL: func.func @interleaved
// CHECK-COUNT-2: "dl.conv"({{.*}}) {channels_last = true}
// CHECK-NOT: dl.transpose
// CHECK: "dl.concat"({{.*}}) {axis = 3 : i64} : (tensor<1x64x64x1x64xf32>, tensor<1x64x64x1x64xf32>)
// CHECK: dl.transpose
// CHECK-NOT: dl.transpose
// CHECK: return
func.func @interleaved(%x: tensor<1x128x64x64xf32>) -> tensor<1x64x64x128xf32> {
  %w0 = "dl.param"() {key = "w0", shape = array<i64: 64, 128, 1, 1>, dtype = f32} : () -> tensor<64x128x1x1xf32>
  %w1 = "dl.param"() {key = "w1", shape = array<i64: 64, 128, 1, 1>, dtype = f32} : () -> tensor<64x128x1x1xf32>
  %0 = "dl.conv"(%x, %w0) : (tensor<1x128x64x64xf32>, tensor<64x128x1x1xf32>) -> tensor<1x64x64x64xf32>
  %1 = "dl.conv"(%x, %w1) : (tensor<1x128x64x64xf32>, tensor<64x128x1x1xf32>) -> tensor<1x64x64x64xf32>
  %2 = "dl.unsqueeze"(%0) {axes = array<i64: 4>} : (tensor<1x64x64x64xf32>) -> tensor<1x64x64x64x1xf32>
  %3 = "dl.unsqueeze"(%1) {axes = array<i64: 4>} : (tensor<1x64x64x64xf32>) -> tensor<1x64x64x64x1xf32>
  %4 = "dl.concat"(%2, %3) {axis = 4 : i64} : (tensor<1x64x64x64x1xf32>, tensor<1x64x64x64x1xf32>) -> tensor<1x64x64x64x2xf32>
  %5 = "dl.reshape"(%4) {shape = array<i64: 1, 64, 64, 128>} : (tensor<1x64x64x64x2xf32>) -> tensor<1x64x64x128xf32>
  return %5 : tensor<1x64x64x128xf32>
}

// -----

// no-match: the concat wants whole images, which are written to their places in any order of axes.
// CHECK-LABEL: func.func @channels
// CHECK-NOT: channels_last
// CHECK: return
func.func @channels(%x: tensor<1x128x64x64xf32>) -> tensor<1x128x64x64xf32> {
  %w0 = "dl.param"() {key = "w0", shape = array<i64: 64, 128, 1, 1>, dtype = f32} : () -> tensor<64x128x1x1xf32>
  %w1 = "dl.param"() {key = "w1", shape = array<i64: 64, 128, 1, 1>, dtype = f32} : () -> tensor<64x128x1x1xf32>
  %0 = "dl.conv"(%x, %w0) : (tensor<1x128x64x64xf32>, tensor<64x128x1x1xf32>) -> tensor<1x64x64x64xf32>
  %1 = "dl.conv"(%x, %w1) : (tensor<1x128x64x64xf32>, tensor<64x128x1x1xf32>) -> tensor<1x64x64x64xf32>
  %2 = "dl.concat"(%0, %1) {axis = 1 : i64} : (tensor<1x64x64x64xf32>, tensor<1x64x64x64xf32>) -> tensor<1x128x64x64xf32>
  return %2 : tensor<1x128x64x64xf32>
}
