// RUN: dlc-opt %s | dlc-opt | filecheck %s
// Walks that start at the same nodes for all rows, and at nodes of their own.

// CHECK-LABEL: func.func @tree_walk(
// CHECK: "dl.tree_walk"(%arg0, %arg1, %arg2, %arg3, %arg4) {levels = 3 : i64} : (tensor<?x4xf32>, tensor<2xi32>, tensor<9xi32>, tensor<9xf32>, tensor<9xi32>) -> tensor<?x2xi32>
// CHECK-NEXT: "dl.tree_walk"(%arg0, %0, %arg2, %arg3, %arg4) {levels = 16 : i64} : (tensor<?x4xf32>, tensor<?x2xi32>, tensor<9xi32>, tensor<9xf32>, tensor<9xi32>) -> tensor<?x2xi32>
func.func @tree_walk(%x: tensor<?x4xf32>, %roots: tensor<2xi32>, %feature: tensor<9xi32>, %split: tensor<9xf32>, %below: tensor<9xi32>)
    -> tensor<?x2xi32> {
  %0 = "dl.tree_walk"(%x, %roots, %feature, %split, %below) {levels = 3 : i64} : (tensor<?x4xf32>, tensor<2xi32>, tensor<9xi32>, tensor<9xf32>, tensor<9xi32>) -> tensor<?x2xi32>
  %1 = "dl.tree_walk"(%x, %0, %feature, %split, %below) {levels = 16 : i64} : (tensor<?x4xf32>, tensor<?x2xi32>, tensor<9xi32>, tensor<9xf32>, tensor<9xi32>) -> tensor<?x2xi32>
  return %1 : tensor<?x2xi32>
}
