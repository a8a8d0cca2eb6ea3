// RUN: dlc-opt %s --dl-set-target=target=cpu:sapphirerapids --dl-use-winograd | filecheck %s
// Sides of images that run time decides are within what is known of them when it is asked what is faster.

// CHECK-LABEL: func.func @open(
// CHECK: "dl.winograd_conv"
func.func @open(%x: tensor<1x?x?x512xf32> {dl.dims = ["", "h", "w", ""]}) -> tensor<1x?x?x512xf32> {
  %w = "dl.param"() {key = "w", shape = array<i64: 3, 3, 512, 512>, dtype = f32} : () -> tensor<3x3x512x512xf32>
  %0 = "dl.conv"(%x, %w) {channels_last = true, pads = array<i64: 1, 1, 1, 1>}
    : (tensor<1x?x?x512xf32>, tensor<3x3x512x512xf32>) -> tensor<1x?x?x512xf32>
  return %0 : tensor<1x?x?x512xf32>
}

// no-match: of so few pixels, a kernel of sixteen matrices takes longer to come than products save.
// CHECK-LABEL: func.func @small(
// CHECK-NOT: "dl.winograd_conv"
// CHECK: return
func.func @small(%x: tensor<1x?x?x512xf32> {dl.dims = ["", "h", "w", ""]}) -> tensor<1x?x?x512xf32>
    attributes {dl.bounds = {h = array<i64: 16, 48, 1>, w = array<i64: 16, 48, 1>}} {
  %w = "dl.param"() {key = "w", shape = array<i64: 3, 3, 512, 512>, dtype = f32} : () -> tensor<3x3x512x512xf32>
  %0 = "dl.max_pool"(%x) {channels_last = true, kernel = array<i64: 16, 16>, strides = array<i64: 16, 16>}
    : (tensor<1x?x?x512xf32>) -> tensor<1x?x?x512xf32>
  %1 = "dl.conv"(%0, %w) {channels_last = true, pads = array<i64: 1, 1, 1, 1>}
    : (tensor<1x?x?x512xf32>, tensor<3x3x512x512xf32>) -> tensor<1x?x?x512xf32>
  return %1 : tensor<1x?x?x512xf32>
}
