// RUN: dlc-opt %s --dl-expand-conv-transpose | filecheck %s
// Transposed convolutions become convolutions and a shuffle of pixels. The pass refuses nothing.

// A kernel as wide as the step: each position makes a block of its own.
// CHECK-LABEL: func.func @blocks(
// CHECK: %[[B:.*]] = "dl.tile"(%{{.*}}) {repeats = array<i64: 4>}
// CHECK: "dl.conv"(%{{.*}}) {{.*}} : (tensor<1x8x5x5xf32>, tensor<16x8x1x1xf32>, tensor<16xf32>) -> tensor<1x16x5x5xf32>
// CHECK: "dl.transpose"(%{{.*}}) {perm = array<i64: 0, 3, 4, 1, 5, 2>} : (tensor<1x2x2x4x5x5xf32>) -> tensor<1x4x5x2x5x2xf32>
// CHECK-NOT: dl.slice
// CHECK: return
func.func @blocks(%x: tensor<1x8x5x5xf32>) -> tensor<1x4x10x10xf32> {
  %w = "dl.param"() {key = "w", shape = array<i64: 8, 4, 2, 2>, dtype = f32} : () -> tensor<8x4x2x2xf32>
  %b = "dl.param"() {key = "b", shape = array<i64: 4>, dtype = f32} : () -> tensor<4xf32>
  %0 = "dl.conv_transpose"(%x, %w, %b) {strides = array<i64: 2, 2>} : (tensor<1x8x5x5xf32>, tensor<8x4x2x2xf32>, tensor<4xf32>) -> tensor<1x4x10x10xf32>
  return %0 : tensor<1x4x10x10xf32>
}

// Blocks overlap: two taps each way, the last first, and the padding is cut. A tap of zeros fills the kernel.
// CHECK-LABEL: func.func @overlapping(
// CHECK: "dl.pad"(%{{.*}}) {{.*}} : (tensor<8x4x3xf32>) -> tensor<8x4x4xf32>
// CHECK: "dl.slice"(%{{.*}}) {{.*}}steps = array<i64: -1>
// CHECK: "dl.conv"(%{{.*}}) {{.*}} : (tensor<1x8x5xf32>, tensor<8x8x2xf32>) -> tensor<1x8x5xf32>
// CHECK: "dl.slice"(%{{.*}}) {{.*}} : (tensor<1x4x10xf32>) -> tensor<1x4x9xf32>
func.func @overlapping(%x: tensor<1x8x5xf32>) -> tensor<1x4x9xf32> {
  %w = "dl.param"() {key = "w", shape = array<i64: 8, 4, 3>, dtype = f32} : () -> tensor<8x4x3xf32>
  %0 = "dl.conv_transpose"(%x, %w) {strides = array<i64: 2>, pads = array<i64: 1, 1>} : (tensor<1x8x5xf32>, tensor<8x4x3xf32>) -> tensor<1x4x9xf32>
  return %0 : tensor<1x4x9xf32>
}

// no-match: a computed kernel, groups, and a batch of unknown size.
// CHECK-LABEL: func.func @left(
// CHECK-NOT: "dl.conv"(
func.func @left(%x: tensor<1x8x5xf32>, %k: tensor<8x4x2xf32>, %y: tensor<?x8x5xf32>) -> (tensor<1x4x6xf32>, tensor<1x8x6xf32>, tensor<?x4x6xf32>) {
  %0 = "dl.conv_transpose"(%x, %k) : (tensor<1x8x5xf32>, tensor<8x4x2xf32>) -> tensor<1x4x6xf32>
  %w = "dl.param"() {key = "w", shape = array<i64: 8, 4, 2>, dtype = f32} : () -> tensor<8x4x2xf32>
  %1 = "dl.conv_transpose"(%x, %w) {groups = 2} : (tensor<1x8x5xf32>, tensor<8x4x2xf32>) -> tensor<1x8x6xf32>
  %2 = "dl.conv_transpose"(%y, %w) : (tensor<?x8x5xf32>, tensor<8x4x2xf32>) -> tensor<?x4x6xf32>
  return %0, %1, %2 : tensor<1x4x6xf32>, tensor<1x8x6xf32>, tensor<?x4x6xf32>
}
