// RUN: dlc-opt %s --dl-assign-layouts --split-input-file | filecheck %s
// RUN: dlc-opt %s --dl-assign-layouts=force=true --split-input-file | filecheck %s --check-prefix=FORCE
// Convolutions and what is between them work on images with channels last; the pass refuses nothing.

// One transpose at the input, none at the output: it moves only axes of size 1 there.
// CHECK-LABEL: func.func @region
// CHECK-SAME: %[[X:.*]]: tensor<1x3x32x32xf32>
// CHECK-DAG: %[[W1:.*]] = "dl.param"() {{.*}} -> tensor<64x3x7x7xf32>
// CHECK-DAG: %[[W2:.*]] = "dl.param"() {{.*}} -> tensor<64x64x3x3xf32>
// CHECK: %[[IMAGE:.*]] = "dl.transpose"(%[[X]]) {perm = array<i64: 0, 2, 3, 1>}
// CHECK: %[[SPLIT:.*]] = "dl.reshape"(%[[W1]]) {shape = array<i64: 4, 16, 3, 7, 7>}
// CHECK: %[[BLOCKS:.*]] = "dl.transpose"(%[[SPLIT]]) {perm = array<i64: 0, 3, 4, 2, 1>}
// CHECK: %[[FIRST:.*]] = "dl.conv"(%[[IMAGE]], %[[BLOCKS]]) {channels_last = true,
// CHECK: %[[RELU:.*]] = "dl.relu"(%[[FIRST]]) : (tensor<1x16x16x64xf32>)
// CHECK: %[[POOL:.*]] = "dl.max_pool"(%[[RELU]]) {channels_last = true,
// CHECK: %[[SECOND:.*]] = "dl.conv"(%[[POOL]], {{.*}}) {channels_last = true,
// CHECK: %[[SUM:.*]] = "dl.add"(%[[SECOND]], %[[POOL]]) : (tensor<1x8x8x64xf32>,
// CHECK: %[[MEAN:.*]] = "dl.reduce_mean"(%[[SUM]]) {axes = array<i64: 1, 2>, keepdims = true}
// CHECK: %[[FLAT:.*]] = "dl.reshape"(%[[MEAN]]) {shape = array<i64: 1, 64>}
// CHECK-NEXT: return %[[FLAT]]
func.func @region(%x: tensor<1x3x32x32xf32>) -> tensor<1x64xf32> {
  %w1 = "dl.param"() {key = "w1", shape = array<i64: 64, 3, 7, 7>, dtype = f32} : () -> tensor<64x3x7x7xf32>
  %w2 = "dl.param"() {key = "w2", shape = array<i64: 64, 64, 3, 3>, dtype = f32} : () -> tensor<64x64x3x3xf32>
  %0 = "dl.conv"(%x, %w1) {strides = array<i64: 2, 2>, pads = array<i64: 3, 3, 3, 3>}
      : (tensor<1x3x32x32xf32>, tensor<64x3x7x7xf32>) -> tensor<1x64x16x16xf32>
  %1 = "dl.relu"(%0) : (tensor<1x64x16x16xf32>) -> tensor<1x64x16x16xf32>
  %2 = "dl.max_pool"(%1) {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>}
      : (tensor<1x64x16x16xf32>) -> tensor<1x64x8x8xf32>
  %3 = "dl.conv"(%2, %w2) {pads = array<i64: 1, 1, 1, 1>}
      : (tensor<1x64x8x8xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x8x8xf32>
  %4 = "dl.add"(%3, %2) : (tensor<1x64x8x8xf32>, tensor<1x64x8x8xf32>) -> tensor<1x64x8x8xf32>
  %5 = "dl.reduce_mean"(%4) {axes = array<i64: 2, 3>, keepdims = true} : (tensor<1x64x8x8xf32>) -> tensor<1x64x1x1xf32>
  %6 = "dl.reshape"(%5) {shape = array<i64: 1, 64>} : (tensor<1x64x1x1xf32>) -> tensor<1x64xf32>
  return %6 : tensor<1x64xf32>
}

// -----

// A depthwise convolution has no output channels to cut into blocks, nor have 24 channels.
// FORCE-LABEL: func.func @kernels
// FORCE: "dl.transpose"(%{{.*}}) {perm = array<i64: 2, 3, 1, 0>} : (tensor<24x32x1x1xf32>) -> tensor<1x1x32x24xf32>
// FORCE: "dl.transpose"(%{{.*}}) {perm = array<i64: 2, 3, 1, 0>} : (tensor<24x1x3x3xf32>) -> tensor<3x3x1x24xf32>
// FORCE: "dl.conv"({{.*}}) {channels_last = true, groups = 24 : i64}
// FORCE: %[[OUT:.*]] = "dl.transpose"({{.*}}) {perm = array<i64: 0, 3, 1, 2>}
// FORCE-NEXT: return %[[OUT]]
func.func @kernels(%x: tensor<?x32x56x56xf32>) -> tensor<?x24x54x54xf32> {
  %w1 = "dl.param"() {key = "w1", shape = array<i64: 24, 32, 1, 1>, dtype = f32} : () -> tensor<24x32x1x1xf32>
  %w2 = "dl.param"() {key = "w2", shape = array<i64: 24, 1, 3, 3>, dtype = f32} : () -> tensor<24x1x3x3xf32>
  %0 = "dl.conv"(%x, %w1) : (tensor<?x32x56x56xf32>, tensor<24x32x1x1xf32>) -> tensor<?x24x56x56xf32>
  %1 = "dl.conv"(%0, %w2) {groups = 24 : i64} : (tensor<?x24x56x56xf32>, tensor<24x1x3x3xf32>) -> tensor<?x24x54x54xf32>
  return %1 : tensor<?x24x54x54xf32>
}

// -----

// Groups of whole vectors come in blocks, as one group does; those of 24 channels do not.
// FORCE-LABEL: func.func @wide_groups
// FORCE: "dl.transpose"(%{{.*}}) {perm = array<i64: 0, 3, 4, 2, 1>} : (tensor<4x16x32x3x3xf32>) -> tensor<4x3x3x32x16xf32>
// FORCE: "dl.transpose"(%{{.*}}) {perm = array<i64: 2, 3, 1, 0>} : (tensor<48x32x3x3xf32>) -> tensor<3x3x32x48xf32>
func.func @wide_groups(%x: tensor<1x64x28x28xf32>) -> tensor<1x48x24x24xf32> {
  %w1 = "dl.param"() {key = "w1", shape = array<i64: 64, 32, 3, 3>, dtype = f32} : () -> tensor<64x32x3x3xf32>
  %w2 = "dl.param"() {key = "w2", shape = array<i64: 48, 32, 3, 3>, dtype = f32} : () -> tensor<48x32x3x3xf32>
  %0 = "dl.conv"(%x, %w1) {groups = 2 : i64} : (tensor<1x64x28x28xf32>, tensor<64x32x3x3xf32>) -> tensor<1x64x26x26xf32>
  %1 = "dl.conv"(%0, %w2) {groups = 2 : i64} : (tensor<1x64x26x26xf32>, tensor<48x32x3x3xf32>) -> tensor<1x48x24x24xf32>
  return %1 : tensor<1x48x24x24xf32>
}

// -----

// no-match: transposes cost more than one small convolution gains.
// CHECK-LABEL: func.func @single
// CHECK-NOT: dl.transpose
func.func @single(%x: tensor<1x4x56x56xf32>, %w: tensor<4x4x3x3xf32>) -> tensor<1x4x54x54xf32> {
  %0 = "dl.conv"(%x, %w) : (tensor<1x4x56x56xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x54x54xf32>
  return %0 : tensor<1x4x54x54xf32>
}

// -----

// no-match: groups of 4 output channels leave most lanes of a vector empty.
// CHECK-LABEL: func.func @narrow_groups
// CHECK-NOT: channels_last
func.func @narrow_groups(%x: tensor<1x128x56x56xf32>) -> tensor<1x128x54x54xf32> {
  %w = "dl.param"() {key = "w", shape = array<i64: 128, 4, 3, 3>, dtype = f32} : () -> tensor<128x4x3x3xf32>
  %0 = "dl.conv"(%x, %w) {groups = 32 : i64} : (tensor<1x128x56x56xf32>, tensor<128x4x3x3xf32>) -> tensor<1x128x54x54xf32>
  return %0 : tensor<1x128x54x54xf32>
}

// no-match: a convolution into nothing gains nothing.
// CHECK-LABEL: func.func @no_channels
// CHECK: "dl.conv"(%{{.*}}, %{{.*}}) : (tensor<1x8x8x8xf32>, tensor<0x8x3x3xf32>)
func.func @no_channels(%x: tensor<1x8x8x8xf32>, %w: tensor<0x8x3x3xf32>) -> tensor<1x0x6x6xf32> {
  %0 = "dl.conv"(%x, %w) : (tensor<1x8x8x8xf32>, tensor<0x8x3x3xf32>) -> tensor<1x0x6x6xf32>
  return %0 : tensor<1x0x6x6xf32>
}
