// RUN: dlc-opt %s --convert-dl-to-linalg | filecheck %s
// A reduction is one generic over the input; narrow floats accumulate in f32 and round once.

// CHECK-LABEL: func.func @sum_f16(
// CHECK: linalg.fill ins(%{{.*}} : f32)
// CHECK: linalg.generic {{.*}} iterator_types = ["reduction", "parallel", "reduction"]}
// CHECK: arith.extf
// CHECK: arith.addf %{{.*}}, %{{.*}} : f32
// CHECK: linalg.generic
// CHECK: arith.truncf %{{.*}} : f32 to f16
// CHECK: tensor.expand_shape %{{.*}} {{\[\[}}0, 1, 2]] output_shape [1, 3, 1]
func.func @sum_f16(%x: tensor<2x3x5xf16>) -> tensor<1x3x1xf16> {
  %0 = "dl.reduce_sum"(%x) {axes = array<i64: 0, -1>, keepdims = true} : (tensor<2x3x5xf16>) -> tensor<1x3x1xf16>
  return %0 : tensor<1x3x1xf16>
}

// CHECK-LABEL: func.func @max_f32_rounds_nothing(
// CHECK: arith.maximumf
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @max_f32_rounds_nothing(%x: tensor<4x?xf32>) -> tensor<4xf32> {
  %0 = "dl.reduce_max"(%x) {axes = array<i64: 1>} : (tensor<4x?xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @dynamic_mean(
// CHECK: %[[COUNT:.*]] = arith.index_cast %{{.*}} : index to i64
// CHECK: arith.sitofp %[[COUNT]] : i64 to f32
// CHECK: arith.divf
func.func @dynamic_mean(%x: tensor<4x?xf32>) -> tensor<4xf32> {
  %0 = "dl.reduce_mean"(%x) {axes = array<i64: 1>} : (tensor<4x?xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// Along the last axis lanes are elements of a row: a maximum of numbers, then the least place where it or a NaN stands.
// CHECK-LABEL: func.func @arg_max(
// CHECK: %[[BEST:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<2xf32>)
// CHECK: arith.cmpf ogt
// CHECK: %[[PLACE:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %[[BEST]] : tensor<2x7xf32>, tensor<2xf32>) outs(%{{.*}} : tensor<2xi32>)
// CHECK: linalg.index 1
// CHECK: arith.cmpf oeq
// CHECK: arith.cmpf uno
// CHECK: arith.minsi
// CHECK: linalg.generic {{.*}} ins(%[[PLACE]] : tensor<2xi32>)
func.func @arg_max(%x: tensor<2x7xf32>) -> tensor<2xi64> {
  %0 = "dl.arg_max"(%x) {axis = 1 : i64} : (tensor<2x7xf32>) -> tensor<2xi64>
  return %0 : tensor<2xi64>
}

// Elsewhere lanes are rows, and one pass carries the extremum and its place.
// CHECK-LABEL: func.func @arg_min_of_columns(
// CHECK: %[[FOUND:.*]]:2 = linalg.generic {{.*}} outs(%{{.*}}, %{{.*}} : tensor<7xf32>, tensor<7xi32>)
// CHECK: arith.cmpf ule
// CHECK: linalg.generic {{.*}} ins(%[[FOUND]]#1 : tensor<7xi32>)
func.func @arg_min_of_columns(%x: tensor<2x7xf32>) -> tensor<7xi64> {
  %0 = "dl.arg_min"(%x) {axis = 0 : i64, select_last_index = true} : (tensor<2x7xf32>) -> tensor<7xi64>
  return %0 : tensor<7xi64>
}

// Places along an axis of unknown size may need 64 bits.
// CHECK-LABEL: func.func @arg_max_of_any_size(
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<2xi64>)
// CHECK: arith.maxsi
func.func @arg_max_of_any_size(%x: tensor<2x?xi8>) -> tensor<2xi64> {
  %0 = "dl.arg_max"(%x) {axis = 1 : i64, select_last_index = true} : (tensor<2x?xi8>) -> tensor<2xi64>
  return %0 : tensor<2xi64>
}

// A reduction that writes what it has summed so far.
// CHECK-LABEL: func.func @cumsum(
// CHECK: linalg.generic {{.*}}iterator_types = ["reduction", "parallel"]} ins(%{{.*}} : tensor<4x3xf32>) outs(%{{.*}}, %{{.*}} : tensor<4x3xf32>, tensor<3xf32>)
// CHECK: %[[SUM:.*]] = arith.addf
// CHECK: linalg.yield %[[SUM]], %[[SUM]]
func.func @cumsum(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %0 = "dl.cumsum"(%x) {axis = 0 : i64} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// In reverse it reads and writes from the end.
// CHECK-LABEL: func.func @reverse_cumsum(
// CHECK: arith.subi
// CHECK: tensor.extract %{{.*}}[%{{.*}}, %{{.*}}] : tensor<4x3xf32>
// CHECK: ^bb0(%{{.*}}: f32, %{{.*}}: f32, %[[BEFORE:.*]]: f32):
// CHECK: %[[SUM:.*]] = arith.addf %[[BEFORE]]
// CHECK: linalg.yield %[[BEFORE]], %[[SUM]]
// CHECK: tensor.extract %{{.*}}[%{{.*}}, %{{.*}}] : tensor<4x3xf32>
func.func @reverse_cumsum(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %0 = "dl.cumsum"(%x) {axis = 1 : i64, exclusive = true, reverse = true} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// CHECK-LABEL: func.func @cumprod(
// CHECK: linalg.generic {{.*}}iterator_types = ["reduction", "parallel"]} ins(%{{.*}} : tensor<4x3xf32>) outs(%{{.*}}, %{{.*}} : tensor<4x3xf32>, tensor<3xf32>)
// CHECK: %[[PRODUCT:.*]] = arith.mulf
// CHECK: linalg.yield %[[PRODUCT]], %[[PRODUCT]]
func.func @cumprod(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %0 = "dl.cumprod"(%x) {axis = 0 : i64} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}
