// RUN: dlc-opt %s --convert-dl-to-linalg --split-input-file | filecheck %s
// Convolutions are the padded input and one generic in the form with the fewest loops; accumulators start from the bias.

// CHECK-DAG: #[[X:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 * 2 + d5, d3 + d6 * 3)>
// CHECK-DAG: #[[W:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d4, d5, d6)>
// CHECK-DAG: #[[OUT:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>
// CHECK-LABEL: func.func @plain(
// CHECK-SAME: %[[ARG:.*]]: tensor<1x3x8x8xf32>, %{{.*}}: tensor<4x3x3x3xf32>, %[[BIAS:.*]]: tensor<4xf32>
// CHECK: %[[PADDED:.*]] = tensor.insert_slice %[[ARG]] into %{{.*}}[0, 0, 1, 2]
// CHECK: %[[START:.*]] = linalg.generic {{.*}} ins(%[[BIAS]] : tensor<4xf32>)
// CHECK: linalg.generic {indexing_maps = [#[[X]], #[[W]], #[[OUT]]],
// CHECK-SAME: ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]
// CHECK-SAME: ins(%[[PADDED]], {{.*}}) outs(%[[START]] :
func.func @plain(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>, %b: tensor<4xf32>) -> tensor<1x4x4x5xf32> {
  %0 = "dl.conv"(%x, %w, %b) {strides = array<i64: 2, 1>, pads = array<i64: 1, 2, 1, 1>, dilations = array<i64: 1, 3>}
      : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>, tensor<4xf32>) -> tensor<1x4x4x5xf32>
  return %0 : tensor<1x4x4x5xf32>
}

// -----

// CHECK-DAG: #[[X:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>
// CHECK-DAG: #[[W:.*]] = affine_map<(d0, d1, d2, d3) -> (d1, d3)>
// CHECK-LABEL: func.func @pointwise(
// CHECK: tensor.collapse_shape {{.*}} into tensor<2x3x64xf32>
// CHECK: linalg.generic {indexing_maps = [#[[X]], #[[W]],
// CHECK: tensor.expand_shape {{.*}} into tensor<2x4x8x8xf32>
func.func @pointwise(%x: tensor<2x3x8x8xf32>, %w: tensor<4x3x1x1xf32>) -> tensor<2x4x8x8xf32> {
  %0 = "dl.conv"(%x, %w) : (tensor<2x3x8x8xf32>, tensor<4x3x1x1xf32>) -> tensor<2x4x8x8xf32>
  return %0 : tensor<2x4x8x8xf32>
}

// -----

// A kernel of one tap that strides reads a copy of the elements it needs.
// CHECK-DAG: #[[SAMPLED:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2 * 2, d3 * 2)>
// CHECK-LABEL: func.func @strided_pointwise(
// CHECK: %[[COPY:.*]] = linalg.generic {indexing_maps = [#[[SAMPLED]],
// CHECK: tensor.collapse_shape %[[COPY]] {{.*}} into tensor<1x3x16xf32>
func.func @strided_pointwise(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x1x1xf32>) -> tensor<1x4x4x4xf32> {
  %0 = "dl.conv"(%x, %w) {strides = array<i64: 2, 2>} : (tensor<1x3x8x8xf32>, tensor<4x3x1x1xf32>) -> tensor<1x4x4x4xf32>
  return %0 : tensor<1x4x4x4xf32>
}

// -----

// CHECK-DAG: #[[X:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2 + d4, d3 + d5)>
// CHECK-DAG: #[[W:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d1, d4, d5)>
// CHECK-LABEL: func.func @depthwise(
// CHECK: linalg.generic {indexing_maps = [#[[X]], #[[W]],
// CHECK-SAME: ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]
func.func @depthwise(%x: tensor<?x5x8x8xf32>, %w: tensor<5x1x3x3xf32>) -> tensor<?x5x6x6xf32> {
  %0 = "dl.conv"(%x, %w) {groups = 5 : i64} : (tensor<?x5x8x8xf32>, tensor<5x1x3x3xf32>) -> tensor<?x5x6x6xf32>
  return %0 : tensor<?x5x6x6xf32>
}

// -----

// CHECK-DAG: #[[X:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d4, d3 + d5)>
// CHECK-DAG: #[[W:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d1, d2, d4, d5)>
// CHECK-LABEL: func.func @grouped(
// CHECK: tensor.expand_shape {{.*}} into tensor<1x2x3x8xf32>
// CHECK: linalg.generic {indexing_maps = [#[[X]], #[[W]],
// CHECK: tensor.collapse_shape {{.*}} into tensor<1x4x6xf32>
func.func @grouped(%x: tensor<1x6x8xf32>, %w: tensor<4x3x3xf32>) -> tensor<1x4x6xf32> {
  %0 = "dl.conv"(%x, %w) {groups = 2 : i64} : (tensor<1x6x8xf32>, tensor<4x3x3xf32>) -> tensor<1x4x6xf32>
  return %0 : tensor<1x4x6xf32>
}

// -----

// The input is spread by the strides; pads beyond the kernel's reach cut it.
// CHECK-LABEL: func.func @transposed(
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[0, 0, 0] [1, 2, 4] [1, 1, 2] : tensor<1x2x4xf32> into tensor<1x2x7xf32>
// CHECK: tensor.extract_slice %{{.*}}[0, 0, 1] [1, 2, 6] [1, 1, 1]
// CHECK: tensor.extract %
// CHECK: linalg.generic {{.*}} ["parallel", "parallel", "parallel", "reduction", "reduction"]
func.func @transposed(%x: tensor<1x2x4xf32>, %w: tensor<2x3x2xf32>) -> tensor<1x3x6xf32> {
  %0 = "dl.conv_transpose"(%x, %w) {strides = array<i64: 2>, pads = array<i64: 2, 0>}
      : (tensor<1x2x4xf32>, tensor<2x3x2xf32>) -> tensor<1x3x6xf32>
  return %0 : tensor<1x3x6xf32>
}

// -----

// With channels last, output channels are the innermost parallel loop and input channels the innermost one that sums.
// CHECK-DAG: #[[X:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1 * 2 + d4, d2 + d5, d6)>
// CHECK-DAG: #[[W:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d4, d5, d6, d3)>
// CHECK-LABEL: func.func @channels_last(
// CHECK-SAME: %[[ARG:.*]]: tensor<1x8x8x3xf32>
// CHECK: %[[PADDED:.*]] = tensor.insert_slice %[[ARG]] into %{{.*}}[0, 1, 1, 0]
// CHECK: linalg.generic {indexing_maps = [#[[X]], #[[W]],
func.func @channels_last(%x: tensor<1x8x8x3xf32>, %w: tensor<3x3x3x4xf32>) -> tensor<1x4x8x4xf32> {
  %0 = "dl.conv"(%x, %w) {channels_last = true, strides = array<i64: 2, 1>, pads = array<i64: 1, 1, 1, 1>}
      : (tensor<1x8x8x3xf32>, tensor<3x3x3x4xf32>) -> tensor<1x4x8x4xf32>
  return %0 : tensor<1x4x8x4xf32>
}

// -----

// A kernel of one tap over channels that are last is one product of matrices over all pixels.
// CHECK-DAG: #[[X:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[W:.*]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-LABEL: func.func @pointwise_channels_last(
// CHECK: tensor.collapse_shape {{.*}} into tensor<128x3xf32>
// CHECK: linalg.generic {indexing_maps = [#[[X]], #[[W]],
// CHECK: tensor.expand_shape {{.*}} into tensor<2x8x8x4xf32>
func.func @pointwise_channels_last(%x: tensor<2x8x8x3xf32>, %w: tensor<1x1x3x4xf32>) -> tensor<2x8x8x4xf32> {
  %0 = "dl.conv"(%x, %w) {channels_last = true} : (tensor<2x8x8x3xf32>, tensor<1x1x3x4xf32>) -> tensor<2x8x8x4xf32>
  return %0 : tensor<2x8x8x4xf32>
}

// -----

// A kernel in blocks of output channels is read block by block.
// CHECK-DAG: #[[W:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d3, d5, d6, d7, d4)>
// CHECK-LABEL: func.func @blocked(
// CHECK: linalg.generic {indexing_maps = [#{{.*}}, #[[W]],
// CHECK: tensor.collapse_shape {{.*}} into tensor<1x6x6x32xf32>
func.func @blocked(%x: tensor<1x8x8x3xf32>, %w: tensor<2x3x3x3x16xf32>, %b: tensor<32xf32>) -> tensor<1x6x6x32xf32> {
  %0 = "dl.conv"(%x, %w, %b) {channels_last = true}
      : (tensor<1x8x8x3xf32>, tensor<2x3x3x3x16xf32>, tensor<32xf32>) -> tensor<1x6x6x32xf32>
  return %0 : tensor<1x6x6x32xf32>
}

// -----

// f16 images with channels last are widened before, but for depthwise windows.
// CHECK-LABEL: func.func @halves(
// CHECK: %[[WIDE:.*]] = linalg.generic {{.*}} ins(%arg0 : tensor<1x8x8x4xf16>) outs(%{{.*}} : tensor<1x8x8x4xf32>)
// CHECK: tensor.insert_slice %[[WIDE]] into
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %arg1 : tensor<1x10x10x4xf32>, tensor<2x3x3x4x16xf16>)
// CHECK: linalg.generic {{.*}} ins(%arg0, %{{.*}} : tensor<1x8x8x4xf16>, tensor<3x3x4xf16>)
func.func @halves(%x: tensor<1x8x8x4xf16>, %w: tensor<2x3x3x4x16xf16>, %v: tensor<3x3x1x4xf16>)
    -> (tensor<1x8x8x32xf16>, tensor<1x6x6x4xf16>) {
  %0 = "dl.conv"(%x, %w) {channels_last = true, pads = array<i64: 1, 1, 1, 1>}
      : (tensor<1x8x8x4xf16>, tensor<2x3x3x4x16xf16>) -> tensor<1x8x8x32xf16>
  %1 = "dl.conv"(%x, %v) {channels_last = true, groups = 4 : i64} : (tensor<1x8x8x4xf16>, tensor<3x3x1x4xf16>) -> tensor<1x6x6x4xf16>
  return %0, %1 : tensor<1x8x8x32xf16>, tensor<1x6x6x4xf16>
}
