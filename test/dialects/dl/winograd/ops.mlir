// RUN: dlc-opt %s | dlc-opt | filecheck %s
// The op prints as it parses; the number of positions says how large a tile is.

// CHECK-LABEL: func.func @winograd_conv(
// CHECK: "dl.winograd_conv"(%arg0, %arg1, %arg2) {{{.*}}pads = array<i64: 1, 1, 1, 1>} : (tensor<?x7x9x8xf32>, tensor<16x2x8x16xf32>, tensor<32xf32>) -> tensor<?x7x9x32xf32>
// CHECK-NEXT: "dl.winograd_conv"(%arg3, %arg4) {{.*}}: (tensor<1x6x6x4xf64>, tensor<36x1x4x3xf64>) -> tensor<1x4x4x3xf64>
func.func @winograd_conv(
    %arg0: tensor<?x7x9x8xf32>, %arg1: tensor<16x2x8x16xf32>, %arg2: tensor<32xf32>, %arg3: tensor<1x6x6x4xf64>,
    %arg4: tensor<36x1x4x3xf64>
) -> (tensor<?x7x9x32xf32>, tensor<1x4x4x3xf64>) {
  %0 = "dl.winograd_conv"(%arg0, %arg1, %arg2) {pads = array<i64: 1, 1, 1, 1>} : (tensor<?x7x9x8xf32>, tensor<16x2x8x16xf32>, tensor<32xf32>) -> tensor<?x7x9x32xf32>
  %1 = "dl.winograd_conv"(%arg3, %arg4) : (tensor<1x6x6x4xf64>, tensor<36x1x4x3xf64>) -> tensor<1x4x4x3xf64>
  return %0, %1 : tensor<?x7x9x32xf32>, tensor<1x4x4x3xf64>
}

// CHECK-LABEL: func.func @pair_winograd_conv(
// CHECK: "dl.pair_winograd_conv"(%arg0, %arg1) {pads = array<i64: 1, 1, 1, 1>}
// CHECK-SAME: (tensor<?x8x8x6xi16>, tensor<16x3x3x16xi32>) -> tensor<?x8x8x48xi32>
func.func @pair_winograd_conv(%arg0: tensor<?x8x8x6xi16>, %arg1: tensor<16x3x3x16xi32>) -> tensor<?x8x8x48xi32> {
  %0 = "dl.pair_winograd_conv"(%arg0, %arg1) {pads = array<i64: 1, 1, 1, 1>}
      : (tensor<?x8x8x6xi16>, tensor<16x3x3x16xi32>) -> tensor<?x8x8x48xi32>
  return %0 : tensor<?x8x8x48xi32>
}
