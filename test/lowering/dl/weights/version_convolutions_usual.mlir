// RUN: dlc-opt %s --dl-set-target=target=cpu:sapphirerapids --dl-version-convolutions | filecheck %s
// How many images gain is a part of those up to usual ones, which results of many channels have smaller. The pass refuses nothing here.

// CHECK-LABEL: func.func @widening(
// CHECK: %[[C:.*]] = arith.constant 6 : i64
// CHECK: arith.cmpi sle, %{{.*}}, %[[C]] : i64
// CHECK: scf.if
// CHECK: return
func.func @widening(%x: tensor<1x?x?x64xf32>) -> tensor<1x?x?x256xf32> {
  %w = "dl.param"() {key = "w", shape = array<i64: 3, 3, 64, 256>, dtype = f32} : () -> tensor<3x3x64x256xf32>
  %0 = "dl.conv"(%x, %w) {channels_last = true, pads = array<i64: 1, 1, 1, 1>}
    : (tensor<1x?x?x64xf32>, tensor<3x3x64x256xf32>) -> tensor<1x?x?x256xf32>
  return %0 : tensor<1x?x?x256xf32>
}

// no-match: images of 64 channels are usually so large that those of a few pixels are a small part.
// CHECK-LABEL: func.func @few_channels(
// CHECK-NOT: scf.if
// CHECK: return
func.func @few_channels(%x: tensor<1x?x?x64xf32>) -> tensor<1x?x?x64xf32> {
  %w = "dl.param"() {key = "w", shape = array<i64: 3, 3, 64, 64>, dtype = f32} : () -> tensor<3x3x64x64xf32>
  %0 = "dl.conv"(%x, %w) {channels_last = true, pads = array<i64: 1, 1, 1, 1>}
    : (tensor<1x?x?x64xf32>, tensor<3x3x64x64xf32>) -> tensor<1x?x?x64xf32>
  return %0 : tensor<1x?x?x64xf32>
}
