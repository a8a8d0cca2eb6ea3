// RUN: dlc-opt %s --dl-set-target=target=cpu:skylake-avx512 --dl-pack-weights=least=1024 | filecheck %s
// Images of an open number and of open sides are rows of a product, too. The pass refuses nothing.

// CHECK-LABEL: func.func @images(
// CHECK-SAME: %[[X:.*]]: tensor<?x5x5x8xf32>
// CHECK: %[[Y:.*]] = "dl.packed_matmul"(%[[X]], %{{.*}}) {columns = 40 : i64} : (tensor<?x5x5x8xf32>, tensor<1x8x48xf32>) -> tensor<?x5x5x40xf32>
// CHECK: "dl.add"(%[[Y]], %{{.*}})
func.func @images(%x: tensor<?x5x5x8xf32>) -> tensor<?x5x5x40xf32> {
  %w = "dl.param"() {key = "w", shape = array<i64: 1, 1, 8, 40>, dtype = f32} : () -> tensor<1x1x8x40xf32>
  %b = "dl.param"() {key = "b", shape = array<i64: 40>, dtype = f32} : () -> tensor<40xf32>
  %0 = "dl.conv"(%x, %w, %b) {channels_last = true} : (tensor<?x5x5x8xf32>, tensor<1x1x8x40xf32>, tensor<40xf32>) -> tensor<?x5x5x40xf32>
  return %0 : tensor<?x5x5x40xf32>
}

// CHECK-LABEL: func.func @sides(
// CHECK: "dl.packed_matmul"(%{{.*}}, %{{.*}}) {columns = 40 : i64} : (tensor<?x?x?x8xf32>, tensor<1x8x48xf32>) -> tensor<?x?x?x40xf32>
func.func @sides(%x: tensor<?x?x?x8xf32>) -> tensor<?x?x?x40xf32> {
  %w = "dl.param"() {key = "w", shape = array<i64: 1, 1, 8, 40>, dtype = f32} : () -> tensor<1x1x8x40xf32>
  %0 = "dl.conv"(%x, %w) {channels_last = true} : (tensor<?x?x?x8xf32>, tensor<1x1x8x40xf32>) -> tensor<?x?x?x40xf32>
  return %0 : tensor<?x?x?x40xf32>
}

// no-match: a size is padded on one side.
// CHECK-LABEL: func.func @padded(
// CHECK-NOT: dl.packed_matmul
func.func @padded(%x: tensor<?x5x5x8xf32>) -> tensor<?x6x5x40xf32> {
  %w = "dl.param"() {key = "w", shape = array<i64: 1, 1, 8, 40>, dtype = f32} : () -> tensor<1x1x8x40xf32>
  %0 = "dl.conv"(%x, %w) {channels_last = true, pads = array<i64: 0, 0, 1, 0>} : (tensor<?x5x5x8xf32>, tensor<1x1x8x40xf32>) -> tensor<?x6x5x40xf32>
  return %0 : tensor<?x6x5x40xf32>
}
