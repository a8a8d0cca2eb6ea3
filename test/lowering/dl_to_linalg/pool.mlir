// RUN: dlc-opt %s --convert-dl-to-linalg --split-input-file | filecheck %s
// Poolings are the padded input and one generic over positions and taps.

// CHECK-DAG: #[[X:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2 * 2 + d4, d3 * 2 + d5)>
// CHECK-DAG: #[[TAPS:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d4, d5)>
// CHECK-LABEL: func.func @max_pool(
// CHECK: %[[LOWEST:.*]] = arith.constant 0xFF800000 : f32
// CHECK: linalg.fill ins(%[[LOWEST]] : f32)
// CHECK: %[[EMPTY:.*]] = tensor.empty() : tensor<3x3xf32>
// CHECK: linalg.generic {indexing_maps = [#[[X]], #[[TAPS]],
// CHECK-SAME: ins({{.*}}, %[[EMPTY]] :
// CHECK: arith.maximumf
func.func @max_pool(%x: tensor<1x2x8x8xf32>) -> tensor<1x2x4x4xf32> {
  %0 = "dl.max_pool"(%x) {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>}
      : (tensor<1x2x8x8xf32>) -> tensor<1x2x4x4xf32>
  return %0 : tensor<1x2x4x4xf32>
}

// -----

// Unsigned bytes: the lowest value is 0 and the order unsigned.
// CHECK-LABEL: func.func @max_pool_of_bytes(
// CHECK: arith.maxui
func.func @max_pool_of_bytes(%x: tensor<1x2x8xui8>) -> tensor<1x2x7xui8> {
  %0 = "dl.max_pool"(%x) {kernel = array<i64: 2>} : (tensor<1x2x8xui8>) -> tensor<1x2x7xui8>
  return %0 : tensor<1x2x7xui8>
}

// -----

// Without pads every window counts all taps.
// CHECK-LABEL: func.func @avg_pool(
// CHECK-NOT: tensor.insert_slice
// CHECK: arith.addf
// CHECK: %[[TAPS:.*]] = arith.constant 4.000000e+00 : f32
// CHECK: arith.divf %{{.*}}, %[[TAPS]] : f32
func.func @avg_pool(%x: tensor<1x2x8x8xf32>) -> tensor<1x2x7x7xf32> {
  %0 = "dl.avg_pool"(%x) {kernel = array<i64: 2, 2>} : (tensor<1x2x8x8xf32>) -> tensor<1x2x7x7xf32>
  return %0 : tensor<1x2x7x7xf32>
}

// -----

// Static counts are a constant, dynamic ones are computed from the position.
// CHECK-LABEL: func.func @counts(
// CHECK: arith.constant dense<[2.000000e+00, 3.000000e+00, 3.000000e+00, 2.000000e+00]> : tensor<4xf32>
// CHECK: linalg.index 0
// CHECK: arith.ceildivsi
func.func @counts(%x: tensor<1x2x4xf32>, %y: tensor<1x2x?xf32>) -> (tensor<1x2x4xf32>, tensor<1x2x?xf32>) {
  %0 = "dl.avg_pool"(%x) {kernel = array<i64: 3>, pads = array<i64: 1, 1>} : (tensor<1x2x4xf32>) -> tensor<1x2x4xf32>
  %1 = "dl.avg_pool"(%y) {kernel = array<i64: 3>, pads = array<i64: 1, 1>} : (tensor<1x2x?xf32>) -> tensor<1x2x?xf32>
  return %0, %1 : tensor<1x2x4xf32>, tensor<1x2x?xf32>
}

// Places of maxima: two results of one reduction, the second one counted from indices.
// CHECK-LABEL: func.func @arg_max_pool(
// CHECK: linalg.generic {{.*}} outs(%{{.*}}, %{{.*}} : tensor<1x3x3x4xf32>, tensor<1x3x3x4xi64>)
// CHECK: arith.cmpf ogt
// CHECK: linalg.index
// CHECK: linalg.yield %{{.*}}, %{{.*}} : f32, i64
func.func @arg_max_pool(%x: tensor<1x3x4x5xf32>) -> tensor<1x3x3x4xi64> {
  %0 = "dl.arg_max_pool"(%x) {kernel = array<i64: 2, 2>} : (tensor<1x3x4x5xf32>) -> tensor<1x3x3x4xi64>
  return %0 : tensor<1x3x3x4xi64>
}

// The numbers of taps of so many positions are no constant.
// CHECK-LABEL: func.func @vast_average(
// CHECK-NOT: arith.constant dense
// CHECK: linalg.index
func.func @vast_average(%x: tensor<1x1x8589934592xf32>) -> tensor<1x1x8589934592xf32> {
  %0 = "dl.avg_pool"(%x) {kernel = array<i64: 3>, pads = array<i64: 1, 1>} : (tensor<1x1x8589934592xf32>) -> tensor<1x1x8589934592xf32>
  return %0 : tensor<1x1x8589934592xf32>
}
