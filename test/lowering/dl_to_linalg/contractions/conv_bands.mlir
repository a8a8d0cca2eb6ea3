// RUN: dlc-opt %s --convert-dl-to-linalg --split-input-file | filecheck %s
// Taps that are far apart and read padding alone are left out: results come in bands, each with the taps that it has.

// Rows 0 and 1 have taps 1 and 2, row 2 has tap 1, rows 3 and 4 taps 0 and 1. Columns are lanes, which stay whole.
// CHECK-LABEL: func.func @rows(
// CHECK-SAME: %[[X:.*]]: tensor<1x4x5x9xf32>, %[[W:.*]]: tensor<8x4x3x3xf32>)
// CHECK: %[[PADDED:.*]] = tensor.insert_slice %[[X]] into %{{.*}}[0, 0, 0, 1] [1, 4, 5, 9]
// CHECK: tensor.extract_slice %[[PADDED]][0, 0, 0, 0] [1, 4, 5, 11]
// CHECK: tensor.extract_slice %[[W]][0, 0, 1, 0] [8, 4, 2, 3]
// CHECK: %[[FIRST:.*]] = tensor.insert_slice %{{.*}} into %{{.*}}[0, 0, 0, 0] [1, 8, 2, 9]
// CHECK: tensor.extract_slice %[[PADDED]][0, 0, 2, 0] [1, 4, 1, 11]
// CHECK: tensor.extract_slice %[[W]][0, 0, 1, 0] [8, 4, 1, 3]
// CHECK: %[[SECOND:.*]] = tensor.insert_slice %{{.*}} into %[[FIRST]][0, 0, 2, 0] [1, 8, 1, 9]
// CHECK: tensor.extract_slice %[[PADDED]][0, 0, 0, 0] [1, 4, 5, 11]
// CHECK: tensor.extract_slice %[[W]][0, 0, 0, 0] [8, 4, 2, 3]
// CHECK: %[[ALL:.*]] = tensor.insert_slice %{{.*}} into %[[SECOND]][0, 0, 3, 0] [1, 8, 2, 9]
// CHECK: return %[[ALL]]
func.func @rows(%x: tensor<1x4x5x9xf32>, %w: tensor<8x4x3x3xf32>) -> tensor<1x8x5x9xf32> {
  %0 = "dl.conv"(%x, %w) {pads = array<i64: 3, 1, 3, 1>, dilations = array<i64: 3, 1>}
      : (tensor<1x4x5x9xf32>, tensor<8x4x3x3xf32>) -> tensor<1x8x5x9xf32>
  return %0 : tensor<1x8x5x9xf32>
}

// -----

// With channels last columns are cut, too; nothing is padded.
// CHECK-LABEL: func.func @both(
// CHECK-COUNT-9: tensor.insert_slice {{.*}} into tensor<?x5x5x32xf32>
// CHECK-NOT: tensor.insert_slice
func.func @both(%x: tensor<?x5x5x4xf32>, %w: tensor<2x3x3x4x16xf32>, %b: tensor<32xf32>) -> tensor<?x5x5x32xf32> {
  %0 = "dl.conv"(%x, %w, %b) {channels_last = true, pads = array<i64: 3, 3, 3, 3>, dilations = array<i64: 3, 3>}
      : (tensor<?x5x5x4xf32>, tensor<2x3x3x4x16xf32>, tensor<32xf32>) -> tensor<?x5x5x32xf32>
  return %0 : tensor<?x5x5x32xf32>
}

// -----

// no-match: depthwise windows read around padding.
// CHECK-LABEL: func.func @depthwise(
// CHECK-NOT: tensor.extract_slice
func.func @depthwise(%x: tensor<1x4x5x9xf32>, %w: tensor<4x1x3x3xf32>) -> tensor<1x4x5x9xf32> {
  %0 = "dl.conv"(%x, %w) {groups = 4 : i64, pads = array<i64: 3, 1, 3, 1>, dilations = array<i64: 3, 1>}
      : (tensor<1x4x5x9xf32>, tensor<4x1x3x3xf32>) -> tensor<1x4x5x9xf32>
  return %0 : tensor<1x4x5x9xf32>
}
