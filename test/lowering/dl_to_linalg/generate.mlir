// RUN: dlc-opt %s --convert-dl-to-linalg --canonicalize --cse | filecheck %s
// Values that depend on their position come from linalg.index; the length of a range from its operands.

// CHECK-LABEL: func.func @range(
// CHECK: %[[RISES:.*]] = arith.cmpi sgt, %{{.*}}, %{{.*}} : i64
// CHECK: %[[LOW:.*]] = arith.select %[[RISES]], %[[START:.*]], %[[LIMIT:.*]] : i64
// CHECK: %[[HIGH:.*]] = arith.select %[[RISES]], %[[LIMIT]], %[[START]] : i64
// CHECK: %[[N:.*]] = arith.divui %{{.*}}, %{{.*}} : i64
// CHECK: %[[ANY:.*]] = arith.cmpi slt, %[[LOW]], %[[HIGH]] : i64
// CHECK: arith.select %[[ANY]], %{{.*}}, %{{.*}} : i64
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel"]} ins(%arg0, %arg2 : tensor<i64>, tensor<i64>)
// CHECK: linalg.index 0
func.func @range(%start: tensor<i64>, %limit: tensor<i64>, %step: tensor<i64>) -> tensor<?xi64> {
  %0 = "dl.range"(%start, %limit, %step) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
  return %0 : tensor<?xi64>
}

// CHECK-LABEL: func.func @range_of_known_length(
// CHECK: cf.assert %{{.*}}, "{{.*}}: result dim 0 is {} but its declared size is {}"
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<5xi64>)
func.func @range_of_known_length(%start: tensor<i64>, %limit: tensor<i64>, %step: tensor<i64>) -> tensor<5xi64> {
  %0 = "dl.range"(%start, %limit, %step) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<5xi64>
  return %0 : tensor<5xi64>
}

// CHECK-LABEL: func.func @trilu(
// CHECK: linalg.generic
// CHECK: arith.cmpi sle, %{{.*}}, %{{.*}} : index
// CHECK: arith.select
func.func @trilu(%x: tensor<2x?x4xf32>) -> tensor<2x?x4xf32> {
  %0 = "dl.trilu"(%x) {upper = false} : (tensor<2x?x4xf32>) -> tensor<2x?x4xf32>
  return %0 : tensor<2x?x4xf32>
}

// A diagonal beyond all columns: its sum with a row does not overflow.
// CHECK-LABEL: func.func @trilu_beyond_all_columns(
// CHECK-DAG: arith.constant 140737488355328 : index
// CHECK-NOT: 9223372036854775807
func.func @trilu_beyond_all_columns(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %0 = "dl.trilu"(%x) {k = 9223372036854775807 : i64} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// CHECK-LABEL: func.func @one_hot(
// CHECK: linalg.generic {{.*}} ins(%arg0, %arg1, %arg1 : tensor<?xi32>, tensor<2xf32>, tensor<2xf32>) outs(%{{.*}} : tensor<?x6xf32>)
func.func @one_hot(%i: tensor<?xi32>, %values: tensor<2xf32>) -> tensor<?x6xf32> {
  %0 = "dl.one_hot"(%i, %values) {depth = 6} : (tensor<?xi32>, tensor<2xf32>) -> tensor<?x6xf32>
  return %0 : tensor<?x6xf32>
}
