// RUN: dlc-opt %s --dl-outline-kernels | filecheck %s
// Kernels are told how large open sides of images usually are: a side times the channels of the widest image is about 7168.

// CHECK-LABEL: func.func @images(
// CHECK-LABEL: func.func private @kernel_0_conv(
// CHECK-SAME: tensor<?x?x?x64xf32> {dl.dims = ["d0", "d1", "d2", ""]}
// CHECK-SAME: dl.usual = {d1 = 56 : i64, d2 = 56 : i64}
// CHECK-LABEL: func.func private @kernel_1_relu(
// CHECK-SAME: tensor<?x?x?x128xf32> {dl.dims = ["d0", "d1", "d2", ""]}
// CHECK-SAME: dl.usual = {d1 = 56 : i64, d2 = 56 : i64}
func.func @images(%x: tensor<?x?x?x64xf32> {dl.dims = ["batch", "height", "width", ""]}) -> tensor<?x?x?x128xf32> {
  %w = "dl.param"() {key = "w", shape = array<i64: 1, 1, 64, 128>, dtype = f32} : () -> tensor<1x1x64x128xf32>
  %0 = "dl.kernel"() ({
    %2 = "dl.conv"(%x, %w) {channels_last = true} : (tensor<?x?x?x64xf32>, tensor<1x1x64x128xf32>) -> tensor<?x?x?x128xf32>
    "dl.yield"(%2) : (tensor<?x?x?x128xf32>) -> ()
  }) : () -> tensor<?x?x?x128xf32>
  %1 = "dl.kernel"() ({
    %2 = "dl.relu"(%0) : (tensor<?x?x?x128xf32>) -> tensor<?x?x?x128xf32>
    "dl.yield"(%2) : (tensor<?x?x?x128xf32>) -> ()
  }) : () -> tensor<?x?x?x128xf32>
  return %1 : tensor<?x?x?x128xf32>
}

// no-match: sides that are known, and a row of one spatial axis, which is no image. The pass refuses nothing.
// CHECK-LABEL: func.func private @kernel_2_conv(
// CHECK-NOT: dl.usual
func.func @others(%x: tensor<?x8x8x64xf32>, %y: tensor<1x?x64xf32>) -> (tensor<?x8x8x128xf32>, tensor<1x?x128xf32>) {
  %w = "dl.param"() {key = "w", shape = array<i64: 1, 1, 64, 128>, dtype = f32} : () -> tensor<1x1x64x128xf32>
  %v = "dl.param"() {key = "v", shape = array<i64: 1, 64, 128>, dtype = f32} : () -> tensor<1x64x128xf32>
  %0 = "dl.kernel"() ({
    %2 = "dl.conv"(%x, %w) {channels_last = true} : (tensor<?x8x8x64xf32>, tensor<1x1x64x128xf32>) -> tensor<?x8x8x128xf32>
    "dl.yield"(%2) : (tensor<?x8x8x128xf32>) -> ()
  }) : () -> tensor<?x8x8x128xf32>
  %1 = "dl.kernel"() ({
    %2 = "dl.conv"(%y, %v) {channels_last = true} : (tensor<1x?x64xf32>, tensor<1x64x128xf32>) -> tensor<1x?x128xf32>
    "dl.yield"(%2) : (tensor<1x?x128xf32>) -> ()
  }) : () -> tensor<1x?x128xf32>
  return %0, %1 : tensor<?x8x8x128xf32>, tensor<1x?x128xf32>
}
