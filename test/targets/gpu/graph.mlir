// RUN: dlc-opt %s --dl-set-target=target=gpu:sm_90 --dl-assign-layouts --dl-use-winograd --dl-pack-weights --dl-pack-operands | filecheck %s
// RUN: dlc-opt %s --dl-set-target=target=cpu:skylake-avx512 --dl-assign-layouts --dl-use-winograd --dl-pack-weights | filecheck %s --check-prefix=CPU
// Graph passes leave out what suits the lanes, registers and caches of a CPU where a module is for a GPU.

// CHECK-NOT: dl.transpose
// CHECK: %[[C:.*]] = "dl.conv"(%{{.*}}, %{{.*}}) {{.*}} : (tensor<1x64x56x56xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x56x56xf32>
// CHECK-NEXT: %[[R:.*]] = "dl.reshape"(%[[C]])
// CHECK-NEXT: %[[P:.*]] = "dl.matmul"(%[[R]], %{{.*}})
// CHECK-NEXT: return{{.*}}%[[P]]
// CPU: dl.winograd_conv
// CPU: dl.packed_matmul
func.func @main(%x: tensor<1x64x56x56xf32>) -> tensor<64x1024xf32> {
  %w = "dl.param"() {key = "w", shape = array<i64: 64, 64, 3, 3>, dtype = f32} : () -> tensor<64x64x3x3xf32>
  %m = "dl.param"() {key = "m", shape = array<i64: 3136, 1024>, dtype = f32} : () -> tensor<3136x1024xf32>
  %0 = "dl.conv"(%x, %w) {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<1x64x56x56xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x56x56xf32>
  %1 = "dl.reshape"(%0) {shape = array<i64: 64, 3136>} : (tensor<1x64x56x56xf32>) -> tensor<64x3136xf32>
  %2 = "dl.matmul"(%1, %m) : (tensor<64x3136xf32>, tensor<3136x1024xf32>) -> tensor<64x1024xf32>
  return %2 : tensor<64x1024xf32>
}
