// RUN: dlc-opt %s --dl-set-target=target=znver4 --dl-pack-weights | filecheck %s
// RUN: dlc-opt %s --dl-set-target=target=haswell --dl-pack-weights | filecheck %s --check-prefix=WIDE
// Dot products of bf16 read weights in blocks: where products become those, small matrices are packed too.

// WIDE-NOT: dl.packed_matmul
module attributes {dl.precision = "bf16"} {
  // CHECK-LABEL: func.func @small(
  // CHECK: "dl.packed_matmul"(%{{.*}}, %{{.*}}) {columns = 24 : i64} : (tensor<1x5x5x32xf32>, tensor<{{.*}}>) -> tensor<1x5x5x24xf32>
  func.func @small(%x: tensor<1x5x5x32xf32>) -> tensor<1x5x5x24xf32> {
    %w = "dl.param"() {key = "w", shape = array<i64: 1, 1, 32, 24>, dtype = f32} : () -> tensor<1x1x32x24xf32>
    %0 = "dl.conv"(%x, %w) {channels_last = true} : (tensor<1x5x5x32xf32>, tensor<1x1x32x24xf32>) -> tensor<1x5x5x24xf32>
    return %0 : tensor<1x5x5x24xf32>
  }

  // no-match: a matrix of less than a kilobyte.
  // CHECK-LABEL: func.func @tiny(
  // CHECK-NOT: dl.packed_matmul
  func.func @tiny(%x: tensor<4x8xf32>) -> tensor<4x16xf32> {
    %w = "dl.param"() {key = "w", shape = array<i64: 8, 16>, dtype = f32} : () -> tensor<8x16xf32>
    %0 = "dl.matmul"(%x, %w) : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
    return %0 : tensor<4x16xf32>
  }
}
