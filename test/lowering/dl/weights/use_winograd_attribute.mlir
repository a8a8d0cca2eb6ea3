// RUN: dlc-opt %s --split-input-file --verify-diagnostics --dl-use-winograd=force | filecheck %s
// The module says how large tiles may be.

// CHECK-LABEL: module attributes {dl.winograd = 4
// CHECK: tensor<36x1x16x16xf32>
module attributes {dl.winograd = 4 : i64} {
  func.func @tiles(%x: tensor<1x30x30x16xf32>) -> tensor<1x28x28x16xf32> {
    %w = "dl.param"() {key = "w", shape = array<i64: 3, 3, 16, 16>, dtype = f32} : () -> tensor<3x3x16x16xf32>
    %0 = "dl.conv"(%x, %w) {channels_last = true} : (tensor<1x30x30x16xf32>, tensor<3x3x16x16xf32>) -> tensor<1x28x28x16xf32>
    return %0 : tensor<1x28x28x16xf32>
  }
}

// -----

// no-match: tiles are off.
// CHECK-LABEL: module attributes {dl.winograd = 0
// CHECK: "dl.conv"
module attributes {dl.winograd = 0 : i64} {
  func.func @off(%x: tensor<1x30x30x16xf32>) -> tensor<1x28x28x16xf32> {
    %w = "dl.param"() {key = "w", shape = array<i64: 3, 3, 16, 16>, dtype = f32} : () -> tensor<3x3x16x16xf32>
    %0 = "dl.conv"(%x, %w) {channels_last = true} : (tensor<1x30x30x16xf32>, tensor<3x3x16x16xf32>) -> tensor<1x28x28x16xf32>
    return %0 : tensor<1x28x28x16xf32>
  }
}

// -----

// expected-error @+1 {{dl.winograd is "all"; give 0, 2 or 4}}
module attributes {dl.winograd = "all"} {
}
