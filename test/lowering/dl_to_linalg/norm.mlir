// RUN: dlc-opt %s --convert-dl-to-linalg --split-input-file | filecheck %s
// Normalisations are reductions in f32, then one elementwise generic.

// CHECK-LABEL: func.func @softmax(
// CHECK: %[[C:.*]] = arith.cmpf ogt, %[[X:.*]], %[[TOP:.*]] : f32
// CHECK: arith.select %[[C]], %[[X]], %[[TOP]] : f32
// CHECK: math.exp %{{.*}} {dlc.nonpositive} : f32
// CHECK: linalg.yield %{{.*}} : f32
// CHECK-NEXT: } -> tensor<4x9xf32>
// CHECK: arith.addf
// CHECK-NOT: math.exp
// CHECK: arith.divf
// CHECK: arith.truncf %{{.*}} : f32 to f16
func.func @softmax(%x: tensor<4x9xf16>) -> tensor<4x9xf16> {
  %0 = "dl.softmax"(%x) : (tensor<4x9xf16>) -> tensor<4x9xf16>
  return %0 : tensor<4x9xf16>
}

// -----

// The factor of a channel is computed once, not for every element.
// CHECK-DAG: #[[CHANNEL:.*]] = affine_map<(d0, d1, d2, d3) -> (d1)>
// CHECK-LABEL: func.func @batch_norm(
// CHECK: math.sqrt
// CHECK: %[[FACTOR:.*]] = arith.divf
// CHECK: linalg.generic {indexing_maps = [{{.*}}, #[[CHANNEL]], #[[CHANNEL]], #[[CHANNEL]], {{.*}}],
// CHECK-NOT: math.sqrt
// CHECK: return
func.func @batch_norm(%x: tensor<2x3x4x4xf32>, %s: tensor<3xf32>) -> tensor<2x3x4x4xf32> {
  %0 = "dl.batch_norm"(%x, %s, %s, %s, %s)
      : (tensor<2x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x4x4xf32>
  return %0 : tensor<2x3x4x4xf32>
}

// -----

// CHECK-DAG: #[[ROW:.*]] = affine_map<(d0, d1, d2) -> (d0)>
// CHECK-DAG: #[[WEIGHT:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-LABEL: func.func @layer_norm(
// CHECK: iterator_types = ["parallel", "reduction", "reduction"]
// CHECK: iterator_types = ["parallel", "reduction", "reduction"]
// CHECK: linalg.generic {indexing_maps = [{{.*}}, #[[ROW]], #[[ROW]], #[[WEIGHT]], {{.*}}],
func.func @layer_norm(%x: tensor<?x3x4xf32>, %s: tensor<3x4xf32>) -> tensor<?x3x4xf32> {
  %0 = "dl.layer_norm"(%x, %s) {axis = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0>}
      : (tensor<?x3x4xf32>, tensor<3x4xf32>) -> tensor<?x3x4xf32>
  return %0 : tensor<?x3x4xf32>
}

// -----

// CHECK-LABEL: func.func @group_norm(
// CHECK: tensor.expand_shape {{.*}} into tensor<2x2x3x5xf32>
// CHECK: iterator_types = ["parallel", "parallel", "reduction", "reduction"]
// CHECK: tensor.collapse_shape {{.*}} into tensor<2x6x5xf32>
func.func @group_norm(%x: tensor<2x6x5xf32>, %s: tensor<6xf32>) -> tensor<2x6x5xf32> {
  %0 = "dl.group_norm"(%x, %s, %s) {num_groups = 2 : i64} : (tensor<2x6x5xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<2x6x5xf32>
  return %0 : tensor<2x6x5xf32>
}

// -----

// CHECK-DAG: #[[X:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1 + d3, d2)>
// CHECK-LABEL: func.func @lrn(
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[0, 1, 0]
// CHECK: linalg.generic {indexing_maps = [#[[X]], {{.*}}], iterator_types = ["parallel", "parallel", "parallel", "reduction"]
// CHECK: %[[ROOT:.*]] = math.sqrt
// CHECK: %[[FOURTH:.*]] = math.sqrt %[[ROOT]]
// CHECK: arith.mulf %[[ROOT]], %[[FOURTH]]
func.func @lrn(%x: tensor<1x6x5xf32>) -> tensor<1x6x5xf32> {
  %0 = "dl.lrn"(%x) {size = 4 : i64} : (tensor<1x6x5xf32>) -> tensor<1x6x5xf32>
  return %0 : tensor<1x6x5xf32>
}

// CHECK-LABEL: func.func @lrn_of_another_power(
// CHECK: math.powf
func.func @lrn_of_another_power(%x: tensor<1x6x5xf32>) -> tensor<1x6x5xf32> {
  %0 = "dl.lrn"(%x) {size = 4 : i64, beta = 0.6 : f64} : (tensor<1x6x5xf32>) -> tensor<1x6x5xf32>
  return %0 : tensor<1x6x5xf32>
}

// -----

// x - max is stored before exponentials are summed, and read again after that.
// CHECK-LABEL: func.func @log_softmax(
// CHECK: %[[SHIFTED:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<2x7xf32>)
// CHECK: arith.subf
// CHECK: linalg.generic {{.*}} ins(%[[SHIFTED]] : tensor<2x7xf32>) outs(%{{.*}} : tensor<2xf32>)
// CHECK: math.exp {{.*}} {dlc.nonpositive}
// CHECK: math.log
// CHECK: linalg.generic {{.*}} ins(%[[SHIFTED]], %{{.*}} : tensor<2x7xf32>, tensor<2xf32>)
func.func @log_softmax(%x: tensor<2x7xf32>) -> tensor<2x7xf32> {
  %0 = "dl.log_softmax"(%x) {axis = 1 : i64} : (tensor<2x7xf32>) -> tensor<2x7xf32>
  return %0 : tensor<2x7xf32>
}
