// RUN: dlc-opt %s --dl-set-target=target=cpu:sapphirerapids --dl-use-winograd | filecheck %s
// RUN: dlc-opt %s --dl-set-target=target=cpu:znver3 --dl-use-winograd | filecheck %s
// With stride 2, 16 kernels make 25 products instead of 36, of every tile. Refuses nothing.

// CHECK-LABEL: func.func @whole(
// CHECK: "dl.constant"() {{.*}} -> tensor<16x9xf64>
// CHECK: "dl.winograd_conv"(%{{.*}}, %{{.*}}) {{{.*}}stride = 2 : i64} : (tensor<1x56x56x128xf32>, tensor<16x{{.*}}x128x{{.*}}xf32>) -> tensor<1x28x28x128xf32>
func.func @whole(%x: tensor<1x56x56x128xf32>) -> tensor<1x28x28x128xf32> {
  %w = "dl.param"() {key = "w", shape = array<i64: 8, 3, 3, 128, 16>, dtype = f32} : () -> tensor<8x3x3x128x16xf32>
  %0 = "dl.conv"(%x, %w) {channels_last = true, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>} : (tensor<1x56x56x128xf32>, tensor<8x3x3x128x16xf32>) -> tensor<1x28x28x128xf32>
  return %0 : tensor<1x28x28x128xf32>
}

// no match: seven rows and columns are three tiles and a half, so that tiles take 400 products instead of 441.
// CHECK-LABEL: func.func @cut(
// CHECK-NOT: dl.winograd_conv
// CHECK: "dl.conv"
func.func @cut(%x: tensor<1x14x14x512xf32>) -> tensor<1x7x7x512xf32> {
  %w = "dl.param"() {key = "v", shape = array<i64: 32, 3, 3, 512, 16>, dtype = f32} : () -> tensor<32x3x3x512x16xf32>
  %0 = "dl.conv"(%x, %w) {channels_last = true, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>} : (tensor<1x14x14x512xf32>, tensor<32x3x3x512x16xf32>) -> tensor<1x7x7x512xf32>
  return %0 : tensor<1x7x7x512xf32>
}
