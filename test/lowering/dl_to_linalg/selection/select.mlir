// RUN: dlc-opt %s --convert-dl-to-linalg --canonicalize --cse | filecheck %s
// A pass counts and finds the last match; then every element up to that is written where the next match belongs, without a branch.

// CHECK-LABEL: func.func @nonzero(
// CHECK: %[[ROWS:.*]] = tensor.collapse_shape %arg0 {{\[\[}}0, 1], [2]] : tensor<2x3x4xf32> into tensor<6x4xf32>
// CHECK: %[[FOUND:.*]]:2 = linalg.generic {{.*}}["reduction", "reduction"]} ins(%[[ROWS]]
// CHECK: %[[COUNT:.*]] = tensor.extract %[[FOUND]]#0[]
// CHECK: %[[SIZE:.*]] = arith.index_cast %[[COUNT]]
// CHECK: %[[OUT:.*]] = tensor.empty(%[[SIZE]]) : tensor<3x?xi64>
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[OUT]], %{{.*}} = %c0)
// CHECK: arith.remsi
// CHECK: scf.for
// CHECK-NOT: scf.if
// CHECK: tensor.insert
func.func @nonzero(%x: tensor<2x3x4xf32>) -> tensor<3x?xi64> {
  %0 = "dl.nonzero"(%x) : (tensor<2x3x4xf32>) -> tensor<3x?xi64>
  return %0 : tensor<3x?xi64>
}

// CHECK-LABEL: func.func @compress_rows(
// CHECK: linalg.generic {{.*}}["reduction"]} ins(%arg1 : tensor<5xi1>)
// CHECK: %[[AT:.*]]:2 = scf.for {{.*}} -> (tensor<?xi64>, index)
// CHECK: linalg.generic {{.*}} ins(%[[AT]]#0 : tensor<?xi64>) outs(%{{.*}} : tensor<?x4xf32>)
// CHECK: tensor.extract %arg0
func.func @compress_rows(%x: tensor<5x4xf32>, %c: tensor<5xi1>) -> tensor<?x4xf32> {
  %0 = "dl.compress"(%x, %c) : (tensor<5x4xf32>, tensor<5xi1>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @compress_list(
// CHECK: %[[C:.*]] = tensor.dim %arg1
// CHECK: arith.cmpi sle, %[[C]]
// CHECK: cf.assert {{.*}} condition dim 0 is {} but x dim 0 is {}"
// CHECK: scf.for {{.*}} -> (tensor<?xi8>, index)
// CHECK: tensor.extract %arg0
func.func @compress_list(%x: tensor<?xui8>, %c: tensor<?xi1>) -> tensor<?xui8> {
  %0 = "dl.compress"(%x, %c) : (tensor<?xui8>, tensor<?xi1>) -> tensor<?xui8>
  return %0 : tensor<?xui8>
}
