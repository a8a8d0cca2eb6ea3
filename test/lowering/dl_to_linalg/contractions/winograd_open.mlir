// RUN: dlc-opt %s --convert-dl-to-linalg --split-input-file | filecheck %s
// Images of unknown sizes: blocks of some rows of tiles, with all columns; what lies beyond the image is cut.

// CHECK-LABEL: func.func @some_rows(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x?x64xf32>
// CHECK: arith.ceildivsi
// CHECK: %[[COLUMNS:.*]] = arith.ceildivsi
// CHECK: %[[BLOCKS:.*]] = arith.ceildivsi
// CHECK: tensor.empty(%{{.*}}, %[[BLOCKS]], %[[COLUMNS]]) : tensor<?x?x16x[[R:[0-9]+]]x?x64xf32>
// CHECK: tensor.empty({{.*}}) : tensor<?x?x16x[[R]]x?x4x16xf32>
// CHECK: tensor.extract_slice %{{.*}}[0, 0, 0, 0] [%{{.*}}, %{{.*}}, %{{.*}}, 64] [1, 1, 1, 1]
func.func @some_rows(%x: tensor<?x?x?x64xf32>, %w: tensor<16x4x64x16xf32>) -> tensor<?x?x?x64xf32> {
  %0 = "dl.winograd_conv"(%x, %w) {pads = array<i64: 1, 1, 1, 1>} : (tensor<?x?x?x64xf32>, tensor<16x4x64x16xf32>) -> tensor<?x?x?x64xf32>
  return %0 : tensor<?x?x?x64xf32>
}

// -----

// no-match: known sizes have blocks of their own.
// CHECK-LABEL: func.func @known(
// CHECK-NOT: arith.ceildivsi
// CHECK: return
func.func @known(%x: tensor<?x8x8x64xf32>, %w: tensor<16x4x64x16xf32>) -> tensor<?x8x8x64xf32> {
  %0 = "dl.winograd_conv"(%x, %w) {pads = array<i64: 1, 1, 1, 1>} : (tensor<?x8x8x64xf32>, tensor<16x4x64x16xf32>) -> tensor<?x8x8x64xf32>
  return %0 : tensor<?x8x8x64xf32>
}
