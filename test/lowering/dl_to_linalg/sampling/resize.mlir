// RUN: dlc-opt %s --convert-dl-to-linalg --canonicalize --cse | filecheck %s
// Whole-number nearest upsampling divides positions; other modes read through tables of one entry per point.

// CHECK: #[[HALVES:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2 floordiv 2, d3 floordiv 2)>
// CHECK-LABEL: func.func @upsample(
// CHECK-NOT: tensor.extract
// CHECK: linalg.generic {indexing_maps = [#[[HALVES]], {{.*}} ins(%arg0 : tensor<1x3x4x5xf32>) outs(%{{.*}} : tensor<1x3x8x10xf32>)
func.func @upsample(%x: tensor<1x3x4x5xf32>) -> tensor<1x3x8x10xf32> {
  %0 = "dl.resize"(%x) {axes = array<i64: 2, 3>, scales = array<f64: 2.0, 2.0>} : (tensor<1x3x4x5xf32>) -> tensor<1x3x8x10xf32>
  return %0 : tensor<1x3x8x10xf32>
}

// Three neighbours do not fill a vector.
// CHECK-LABEL: func.func @triple(
// CHECK: tensor.extract %arg0
func.func @triple(%x: tensor<1x5xf32>) -> tensor<1x15xf32> {
  %0 = "dl.resize"(%x) {axes = array<i64: 1>, scales = array<f64: 3.0>} : (tensor<1x5xf32>) -> tensor<1x15xf32>
  return %0 : tensor<1x15xf32>
}

// CHECK-LABEL: func.func @nearest(
// CHECK: %[[TABLE:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<7xi64>)
// CHECK: math.floor
// CHECK: linalg.generic {{.*}} ins(%[[TABLE]] : tensor<7xi64>) outs(%{{.*}} : tensor<?x7xf32>)
// CHECK: tensor.extract %arg0
func.func @nearest(%x: tensor<?x4xf32>) -> tensor<?x7xf32> {
  %0 = "dl.resize"(%x) {axes = array<i64: 1>, sizes = array<i64: 7>} : (tensor<?x4xf32>) -> tensor<?x7xf32>
  return %0 : tensor<?x7xf32>
}

// CHECK-LABEL: func.func @linear_of_a_dynamic_axis(
// CHECK: %[[TABLES:.*]]:4 = linalg.generic {{.*}} outs({{.*}} : tensor<?xi64>, tensor<?xi64>, tensor<?xf32>, tensor<?xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[TABLES]]#0, %[[TABLES]]#1, %[[TABLES]]#2, %[[TABLES]]#3
// CHECK: arith.mulf
// CHECK: arith.addf
func.func @linear_of_a_dynamic_axis(%x: tensor<?x4xf16>) -> tensor<?x4xf16> {
  %0 = "dl.resize"(%x) {axes = array<i64: 0>, scales = array<f64: 1.5>, mode = "linear"} : (tensor<?x4xf16>) -> tensor<?x4xf16>
  return %0 : tensor<?x4xf16>
}
