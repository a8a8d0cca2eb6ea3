// RUN: dlc-opt %s --dl-set-target=target=cpu:znver4 --dl-assign-layouts | filecheck %s
// RUN: dlc-opt %s --dl-set-target=target=cpu:znver3 --dl-assign-layouts | filecheck %s --check-prefix=FEW
// One tap for few channels: with 16 registers results are written along rows of pixels. Refuses nothing.

// CHECK-LABEL: func.func @alone
// CHECK: channels_last = true
// no-match:
// FEW-LABEL: func.func @alone
// FEW-NOT: channels_last
// FEW: return
func.func @alone(%x: tensor<1x16x112x112xf32>) -> tensor<1x96x112x112xf32> {
  %w = "dl.param"() {key = "w", shape = array<i64: 96, 16, 1, 1>, dtype = f32} : () -> tensor<96x16x1x1xf32>
  %0 = "dl.conv"(%x, %w) : (tensor<1x16x112x112xf32>, tensor<96x16x1x1xf32>) -> tensor<1x96x112x112xf32>
  return %0 : tensor<1x96x112x112xf32>
}
