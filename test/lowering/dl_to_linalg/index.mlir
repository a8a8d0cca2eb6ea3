// RUN: dlc-opt %s --convert-dl-to-linalg --canonicalize --cse | filecheck %s
// A read at positions is one generic over the result; every position is wrapped and clamped.

// CHECK: #[[ROWS:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func.func @gather(
// CHECK: linalg.generic {indexing_maps = [#[[ROWS]], #{{.*}}], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg1
// CHECK: %[[I:.*]] = arith.index_cast %{{.*}} : i64 to index
// CHECK: %[[NEGATIVE:.*]] = arith.cmpi slt, %[[I]], %{{.*}} : index
// CHECK: arith.select %[[NEGATIVE]]
// CHECK: arith.minsi
// CHECK: %[[AT:.*]] = arith.maxsi
// CHECK: tensor.extract %arg0[%[[AT]], %{{.*}}] : tensor<?x8xf32>
func.func @gather(%table: tensor<?x8xf32>, %i: tensor<2x?xi64>) -> tensor<2x?x8xf32> {
  %0 = "dl.gather"(%table, %i) : (tensor<?x8xf32>, tensor<2x?xi64>) -> tensor<2x?x8xf32>
  return %0 : tensor<2x?x8xf32>
}

// One index gives a slice.
// CHECK-LABEL: func.func @gather_slice(
// CHECK: %[[I:.*]] = arith.maxsi %{{.*}}, %{{.*}} : index
// CHECK: %[[S:.*]] = tensor.extract_slice %{{.*}}[0, %[[I]], 0] [%{{.*}}, 1, 8] [1, 1, 1] : tensor<?x5x8xf32> to tensor<?x8xf32>
// CHECK-NEXT: return %[[S]]
func.func @gather_slice(%x: tensor<?x5x8xf32>, %i: tensor<i64>) -> tensor<?x8xf32> {
  %0 = "dl.gather"(%x, %i) {axis = 1} : (tensor<?x5x8xf32>, tensor<i64>) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// CHECK-LABEL: func.func @gather_elements(
// CHECK: linalg.generic {{.*}} ins(%arg1 : tensor<5x2xi32>)
// CHECK: tensor.extract %arg0[%{{.*}}, %{{.*}}] : tensor<5x4xf32>
func.func @gather_elements(%x: tensor<5x4xf32>, %i: tensor<5x2xi32>) -> tensor<5x2xf32> {
  %0 = "dl.gather_elements"(%x, %i) {axis = 1} : (tensor<5x4xf32>, tensor<5x2xi32>) -> tensor<5x2xf32>
  return %0 : tensor<5x2xf32>
}

// CHECK-LABEL: func.func @gather_nd(
// CHECK: linalg.generic {{.*}} ins(%arg1, %arg1 : tensor<?x2xi64>, tensor<?x2xi64>) outs(%{{.*}} : tensor<?x3xf32>)
func.func @gather_nd(%x: tensor<?x?x3xf32>, %i: tensor<?x2xi64>) -> tensor<?x3xf32> {
  %0 = "dl.gather_nd"(%x, %i) : (tensor<?x?x3xf32>, tensor<?x2xi64>) -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// CHECK-LABEL: func.func @reverse_sequence(
// CHECK: cf.assert {{.*}}a length is negative or more than x has elements along axis 0
// CHECK: linalg.generic {{.*}} ins(%arg1 : tensor<3xi64>) outs(%{{.*}} : tensor<4x3xf32>)
// CHECK: arith.select
// CHECK: tensor.extract %arg0
func.func @reverse_sequence(%x: tensor<4x3xf32>, %lengths: tensor<3xi64>) -> tensor<4x3xf32> {
  %0 = "dl.reverse_sequence"(%x, %lengths) : (tensor<4x3xf32>, tensor<3xi64>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}
