// RUN: dlc-opt %s --dl-set-target=target=skylake-avx512 --dl-pack-weights=least=1024 | filecheck %s
// RUN: dlc-opt %s --dl-set-target=target=haswell --dl-pack-weights=least=1024 | filecheck %s --check-prefix=HASWELL
// Few columns are blocks of their own, which products sum along. Refuses nothing.

// CHECK-LABEL: func.func @few(
// CHECK: %[[SPLIT:.*]] = "dl.reshape"(%{{.*}}) {shape = array<i64: 128, 8, 1>}
// CHECK: %[[PACKED:.*]] = "dl.transpose"(%[[SPLIT]]) {perm = array<i64: 1, 0, 2>}
// CHECK: "dl.packed_matmul"(%{{.*}}, %[[PACKED]]) : (tensor<4x128xf32>, tensor<8x128x1xf32>) -> tensor<4x8xf32>
// no-match: they fill a vector of eight lanes.
// HASWELL-LABEL: func.func @few(
// HASWELL: "dl.packed_matmul"(%{{.*}}, %{{.*}}) : (tensor<4x128xf32>, tensor<1x128x8xf32>) -> tensor<4x8xf32>
func.func @few(%x: tensor<4x128xf32>) -> tensor<4x8xf32> {
  %w = "dl.param"() {key = "w", shape = array<i64: 128, 8>, dtype = f32} : () -> tensor<128x8xf32>
  %0 = "dl.matmul"(%x, %w) : (tensor<4x128xf32>, tensor<128x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// no-match: more columns, and short ones.
// CHECK-LABEL: func.func @left(
// CHECK: tensor<1x128x16xf32>) -> tensor<4x13xf32>
// CHECK: tensor<1x127x16xf32>) -> tensor<4x8xf32>
func.func @left(%x: tensor<4x128xf32>, %y: tensor<4x127xf32>) -> (tensor<4x13xf32>, tensor<4x8xf32>) {
  %w = "dl.param"() {key = "w", shape = array<i64: 128, 13>, dtype = f32} : () -> tensor<128x13xf32>
  %0 = "dl.matmul"(%x, %w) : (tensor<4x128xf32>, tensor<128x13xf32>) -> tensor<4x13xf32>
  %v = "dl.param"() {key = "v", shape = array<i64: 127, 8>, dtype = f32} : () -> tensor<127x8xf32>
  %1 = "dl.matmul"(%y, %v) : (tensor<4x127xf32>, tensor<127x8xf32>) -> tensor<4x8xf32>
  return %0, %1 : tensor<4x13xf32>, tensor<4x8xf32>
}
