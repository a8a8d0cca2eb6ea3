// RUN: dlc-opt %s --dl-fuse-kernels --split-input-file | filecheck %s
// The result of a convolution by blocks of channels is stored with channels first at once; the pass refuses nothing.

// CHECK-LABEL: func.func @blocked
// CHECK: "dl.kernel"
// CHECK: %[[Y:.*]] = "dl.conv"
// CHECK: %[[Z:.*]] = "dl.relu"(%[[Y]])
// CHECK: "dl.transpose"(%[[Z]]) {perm = array<i64: 0, 3, 1, 2>}
// CHECK-NOT: "dl.kernel"
// CHECK: return
func.func @blocked(%x: tensor<1x14x14x8xf32>) -> tensor<1x32x7x7xf32> {
  %w = "dl.param"() {key = "w", shape = array<i64: 2, 1, 1, 8, 16>, dtype = f32} : () -> tensor<2x1x1x8x16xf32>
  %0 = "dl.conv"(%x, %w) {channels_last = true, strides = array<i64: 2, 2>} : (tensor<1x14x14x8xf32>, tensor<2x1x1x8x16xf32>) -> tensor<1x7x7x32xf32>
  %1 = "dl.relu"(%0) : (tensor<1x7x7x32xf32>) -> tensor<1x7x7x32xf32>
  %2 = "dl.transpose"(%1) {perm = array<i64: 0, 3, 1, 2>} : (tensor<1x7x7x32xf32>) -> tensor<1x32x7x7xf32>
  return %2 : tensor<1x32x7x7xf32>
}

// -----

// no-match: 24 channels are no whole vectors, and columns of pixels would be stored one by one.
// CHECK-LABEL: func.func @plain
// CHECK-COUNT-2: "dl.kernel"
func.func @plain(%x: tensor<1x7x7x8xf32>) -> tensor<1x24x7x7xf32> {
  %w = "dl.param"() {key = "w", shape = array<i64: 1, 1, 8, 24>, dtype = f32} : () -> tensor<1x1x8x24xf32>
  %0 = "dl.conv"(%x, %w) {channels_last = true} : (tensor<1x7x7x8xf32>, tensor<1x1x8x24xf32>) -> tensor<1x7x7x24xf32>
  %1 = "dl.transpose"(%0) {perm = array<i64: 0, 3, 1, 2>} : (tensor<1x7x7x24xf32>) -> tensor<1x24x7x7xf32>
  return %1 : tensor<1x24x7x7xf32>
}

// -----

// CHECK-LABEL: func.func @columns
// CHECK-COUNT-2: "dl.kernel"
func.func @columns(%x: tensor<1x7x7x8xf32>) -> tensor<1x32x7x7xf32> {
  %w = "dl.param"() {key = "w", shape = array<i64: 2, 1, 1, 8, 16>, dtype = f32} : () -> tensor<2x1x1x8x16xf32>
  %0 = "dl.conv"(%x, %w) {channels_last = true} : (tensor<1x7x7x8xf32>, tensor<2x1x1x8x16xf32>) -> tensor<1x7x7x32xf32>
  %1 = "dl.transpose"(%0) {perm = array<i64: 0, 3, 2, 1>} : (tensor<1x7x7x32xf32>) -> tensor<1x32x7x7xf32>
  return %1 : tensor<1x32x7x7xf32>
}

// -----

// Sizes that are not known leave the distance of channels open.
// CHECK-LABEL: func.func @dynamic
// CHECK-COUNT-2: "dl.kernel"
func.func @dynamic(%x: tensor<1x?x7x8xf32>) -> tensor<1x32x?x7xf32> {
  %w = "dl.param"() {key = "w", shape = array<i64: 2, 1, 1, 8, 16>, dtype = f32} : () -> tensor<2x1x1x8x16xf32>
  %0 = "dl.conv"(%x, %w) {channels_last = true} : (tensor<1x?x7x8xf32>, tensor<2x1x1x8x16xf32>) -> tensor<1x?x7x32xf32>
  %1 = "dl.transpose"(%0) {perm = array<i64: 0, 3, 1, 2>} : (tensor<1x?x7x32xf32>) -> tensor<1x32x?x7xf32>
  return %1 : tensor<1x32x?x7xf32>
}
