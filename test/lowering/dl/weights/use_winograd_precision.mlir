// RUN: dlc-opt %s --dl-set-target=target=znver4 --dl-use-winograd | filecheck %s
// RUN: dlc-opt %s --dl-set-target=target=icelake-server --dl-use-winograd | filecheck %s --check-prefix=WIDE
// Dot products of bf16 halve what products by taps cost, so tiles no longer pay; without them they do.

// CHECK-LABEL: func.func @main(
// CHECK: "dl.conv"
// CHECK-NOT: dl.winograd_conv
// WIDE-LABEL: func.func @main(
// WIDE: "dl.winograd_conv"
module attributes {dl.precision = "bf16"} {
  func.func @main(%x: tensor<1x28x28x128xf32>) -> tensor<1x28x28x128xf32> {
    %w = "dl.param"() {key = "w", shape = array<i64: 8, 3, 3, 128, 16>, dtype = f32} : () -> tensor<8x3x3x128x16xf32>
    %0 = "dl.conv"(%x, %w) {channels_last = true, pads = array<i64: 1, 1, 1, 1>}
        : (tensor<1x28x28x128xf32>, tensor<8x3x3x128x16xf32>) -> tensor<1x28x28x128xf32>
    return %0 : tensor<1x28x28x128xf32>
  }
}
