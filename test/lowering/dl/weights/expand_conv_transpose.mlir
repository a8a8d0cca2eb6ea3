// RUN: dlc-opt %s --dl-expand-conv-transpose | filecheck %s
// Transposed convolutions become convolutions whose results are interleaved. The pass refuses nothing.

// A step of 2 and three taps: outputs 0, 2, ... take the middle tap of the padded kernel, outputs 1, 3, ... the other two, the last
// one first. What follows element by element is computed in both phases.
// CHECK-LABEL: func.func @phases(
// CHECK: %[[PAD:.*]] = "dl.pad"(%arg0) {high = array<i64: 0, 0, 1>, low = array<i64: 0, 0, 0>}
// CHECK: "dl.slice"(%{{.*}}) {{{.*}}ends = array<i64: 0>, starts = array<i64: 1>, steps = array<i64: -2>}
// CHECK: %[[EVEN:.*]] = "dl.conv"(%arg0, {{.*}} : (tensor<1x32x5xf32>, tensor<16x32x1xf32>, tensor<16xf32>) -> tensor<1x16x5xf32>
// CHECK: %[[FIRST:.*]] = "dl.relu"(%[[EVEN]])
// CHECK: "dl.slice"(%{{.*}}) {{{.*}}ends = array<i64: -4>, starts = array<i64: 2>, steps = array<i64: -2>}
// CHECK: %[[ODD:.*]] = "dl.conv"(%[[PAD]], {{.*}} : (tensor<1x32x6xf32>, tensor<16x32x2xf32>, tensor<16xf32>) -> tensor<1x16x5xf32>
// CHECK: %[[SECOND:.*]] = "dl.relu"(%[[ODD]])
// CHECK: %[[A:.*]] = "dl.unsqueeze"(%[[FIRST]]) {axes = array<i64: 3>}
// CHECK: %[[B:.*]] = "dl.unsqueeze"(%[[SECOND]]) {axes = array<i64: 3>}
// CHECK: %[[JOINED:.*]] = "dl.concat"(%[[A]], %[[B]]) {axis = 3
// CHECK: %[[Y:.*]] = "dl.reshape"(%[[JOINED]]) {shape = array<i64: 1, 16, 10>}
// CHECK: return %[[Y]]
func.func @phases(%x: tensor<1x32x5xf32>) -> tensor<1x16x10xf32> {
  %w = "dl.param"() {key = "w", shape = array<i64: 32, 16, 3>, dtype = f32} : () -> tensor<32x16x3xf32>
  %b = "dl.param"() {key = "b", shape = array<i64: 16>, dtype = f32} : () -> tensor<16xf32>
  %0 = "dl.conv_transpose"(%x, %w, %b) {strides = array<i64: 2>, pads = array<i64: 1, 1>, output_padding = array<i64: 1>} : (tensor<1x32x5xf32>, tensor<32x16x3xf32>, tensor<16xf32>) -> tensor<1x16x10xf32>
  %1 = "dl.relu"(%0) : (tensor<1x16x10xf32>) -> tensor<1x16x10xf32>
  return %1 : tensor<1x16x10xf32>
}

// Groups, dilation and a batch of any size; an odd result is cut from phases of equal length.
// CHECK-LABEL: func.func @grouped(
// CHECK: "dl.conv"({{.*}}) {dilations = array<i64: 3>, groups = 2
// CHECK: "dl.reshape"(%{{.*}}) {copied = array<i64: 0, -1, -1>, shape = array<i64: -1, 32, 14>}
// CHECK: "dl.slice"(%{{.*}}) {axes = array<i64: 2>, ends = array<i64: 13>, starts = array<i64: 0>
func.func @grouped(%x: tensor<?x8x4xf32>) -> tensor<?x32x13xf32> {
  %w = "dl.param"() {key = "w", shape = array<i64: 8, 16, 3>, dtype = f32} : () -> tensor<8x16x3xf32>
  %0 = "dl.conv_transpose"(%x, %w) {strides = array<i64: 2>, dilations = array<i64: 3>, groups = 2} : (tensor<?x8x4xf32>, tensor<8x16x3xf32>) -> tensor<?x32x13xf32>
  return %0 : tensor<?x32x13xf32>
}

// A step of 1: one convolution, which pads by itself.
// CHECK-LABEL: func.func @step_of_one(
// CHECK: %[[ONE:.*]] = "dl.conv"(%arg0, %{{.*}}) {{{.*}}pads = array<i64: 2, 1>}
// CHECK: return %[[ONE]]
func.func @step_of_one(%x: tensor<1x8x5xf32>) -> tensor<1x4x6xf32> {
  %w = "dl.param"() {key = "w", shape = array<i64: 8, 4, 3>, dtype = f32} : () -> tensor<8x4x3xf32>
  %0 = "dl.conv_transpose"(%x, %w) {pads = array<i64: 0, 1>} : (tensor<1x8x5xf32>, tensor<8x4x3xf32>) -> tensor<1x4x6xf32>
  return %0 : tensor<1x4x6xf32>
}

// Few channels, and a kernel as wide as the step: each position makes a block of its own.
// CHECK-LABEL: func.func @blocks(
// CHECK: %[[B:.*]] = "dl.tile"(%{{.*}}) {repeats = array<i64: 4>}
// CHECK: "dl.conv"(%{{.*}}) {{.*}} : (tensor<1x8x5x5xf32>, tensor<8x8x1x1xf32>, tensor<8xf32>) -> tensor<1x8x5x5xf32>
// CHECK: "dl.transpose"(%{{.*}}) {perm = array<i64: 0, 3, 4, 1, 5, 2>} : (tensor<1x2x2x2x5x5xf32>) -> tensor<1x2x5x2x5x2xf32>
// CHECK-NOT: dl.slice
// CHECK: return
func.func @blocks(%x: tensor<1x8x5x5xf32>) -> tensor<1x2x10x10xf32> {
  %w = "dl.param"() {key = "w", shape = array<i64: 8, 2, 2, 2>, dtype = f32} : () -> tensor<8x2x2x2xf32>
  %b = "dl.param"() {key = "b", shape = array<i64: 2>, dtype = f32} : () -> tensor<2xf32>
  %0 = "dl.conv_transpose"(%x, %w, %b) {strides = array<i64: 2, 2>} : (tensor<1x8x5x5xf32>, tensor<8x2x2x2xf32>, tensor<2xf32>) -> tensor<1x2x10x10xf32>
  return %0 : tensor<1x2x10x10xf32>
}

// Blocks overlap: two taps each way, the last first, and the padding is cut. A tap of zeros fills the kernel.
// CHECK-LABEL: func.func @overlapping(
// CHECK: "dl.pad"(%{{.*}}) {{.*}} : (tensor<8x2x3xf32>) -> tensor<8x2x4xf32>
// CHECK: "dl.slice"(%{{.*}}) {{.*}}steps = array<i64: -1>
// CHECK: "dl.conv"(%{{.*}}) {{.*}} : (tensor<1x8x5xf32>, tensor<4x8x2xf32>) -> tensor<1x4x5xf32>
// CHECK: "dl.slice"(%{{.*}}) {{.*}} : (tensor<1x2x10xf32>) -> tensor<1x2x9xf32>
func.func @overlapping(%x: tensor<1x8x5xf32>) -> tensor<1x2x9xf32> {
  %w = "dl.param"() {key = "w", shape = array<i64: 8, 2, 3>, dtype = f32} : () -> tensor<8x2x3xf32>
  %0 = "dl.conv_transpose"(%x, %w) {strides = array<i64: 2>, pads = array<i64: 1, 1>} : (tensor<1x8x5xf32>, tensor<8x2x3xf32>) -> tensor<1x2x9xf32>
  return %0 : tensor<1x2x9xf32>
}

// no-match: a computed kernel, and an image of unknown size.
// CHECK-LABEL: func.func @left(
// CHECK-NOT: "dl.conv"(
func.func @left(%x: tensor<1x8x5xf32>, %k: tensor<8x4x2xf32>, %y: tensor<1x8x?xf32>) -> (tensor<1x4x6xf32>, tensor<1x4x?xf32>) {
  %0 = "dl.conv_transpose"(%x, %k) : (tensor<1x8x5xf32>, tensor<8x4x2xf32>) -> tensor<1x4x6xf32>
  %w = "dl.param"() {key = "w", shape = array<i64: 8, 4, 2>, dtype = f32} : () -> tensor<8x4x2xf32>
  %1 = "dl.conv_transpose"(%y, %w) : (tensor<1x8x?xf32>, tensor<8x4x2xf32>) -> tensor<1x4x?xf32>
  return %0, %1 : tensor<1x4x6xf32>, tensor<1x4x?xf32>
}

// no-match: a stride beyond the result, of which it would take most phases of nothing.
// CHECK-LABEL: func.func @stride_beyond_the_result(
// CHECK-NOT: "dl.conv"(
func.func @stride_beyond_the_result(%x: tensor<1x1x4x3xf32>) -> tensor<1x2x10x8xf32> {
  %w = "dl.param"() {key = "w", shape = array<i64: 1, 2, 3, 3>, dtype = f32} : () -> tensor<1x2x3x3xf32>
  %0 = "dl.conv_transpose"(%x, %w) {strides = array<i64: 2147483648, 2>, pads = array<i64: 0, 0, 6442450937, 0>, output_padding = array<i64: 0, 1>} : (tensor<1x1x4x3xf32>, tensor<1x2x3x3xf32>) -> tensor<1x2x10x8xf32>
  return %0 : tensor<1x2x10x8xf32>
}

// Images of unknown sizes, and kernels as large as the stride: each phase has one tap, and the merged axes have what is left over.
// CHECK-LABEL: func.func @single_taps(
// CHECK-COUNT-4: "dl.conv"(%arg0, {{.*}} : (tensor<?x32x?x?xf32>, tensor<16x32x1x1xf32>) -> tensor<?x16x?x?xf32>
// CHECK: "dl.concat"{{.*}} -> tensor<?x16x?x2x?x2xf32>
// CHECK: "dl.reshape"({{.*}}) {copied = array<i64: 0, 1, 2, 3, -1>, shape = array<i64: -1, -1, -1, -1, -1>}
// CHECK: "dl.reshape"({{.*}}) {copied = array<i64: 0, 1, -1, 4>, shape = array<i64: -1, -1, -1, -1>}
func.func @single_taps(%x: tensor<?x32x?x?xf32>) -> tensor<?x16x?x?xf32> {
  %w = "dl.param"() {key = "w2", shape = array<i64: 32, 16, 2, 2>, dtype = f32} : () -> tensor<32x16x2x2xf32>
  %0 = "dl.conv_transpose"(%x, %w) {strides = array<i64: 2, 2>} : (tensor<?x32x?x?xf32>, tensor<32x16x2x2xf32>) -> tensor<?x16x?x?xf32>
  return %0 : tensor<?x16x?x?xf32>
}

// no-match: kernels that overlap, on images of unknown sizes.
// CHECK-LABEL: func.func @overlapping_open(
// CHECK: "dl.conv_transpose"
func.func @overlapping_open(%x: tensor<?x32x?x?xf32>) -> tensor<?x16x?x?xf32> {
  %w = "dl.param"() {key = "w3", shape = array<i64: 32, 16, 3, 3>, dtype = f32} : () -> tensor<32x16x3x3xf32>
  %0 = "dl.conv_transpose"(%x, %w) {strides = array<i64: 2, 2>} : (tensor<?x32x?x?xf32>, tensor<32x16x3x3xf32>) -> tensor<?x16x?x?xf32>
  return %0 : tensor<?x16x?x?xf32>
}

// no-match: a size that is declared, but does not follow from that of the image, is one that run time checks.
// CHECK-LABEL: func.func @declared_size(
// CHECK: "dl.conv_transpose"
func.func @declared_size(%x: tensor<1x32x?xf32>) -> tensor<1x16x10xf32> {
  %w = "dl.param"() {key = "w", shape = array<i64: 32, 16, 2>, dtype = f32} : () -> tensor<32x16x2xf32>
  %0 = "dl.conv_transpose"(%x, %w) {strides = array<i64: 2>} : (tensor<1x32x?xf32>, tensor<32x16x2xf32>) -> tensor<1x16x10xf32>
  return %0 : tensor<1x16x10xf32>
}
