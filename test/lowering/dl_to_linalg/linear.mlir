// RUN: dlc-opt %s --convert-dl-to-linalg --canonicalize | filecheck %s
// Determinants: per column a search for the pivot, an exchange of rows, and an elimination.

// CHECK-LABEL: func.func @det(
// CHECK: scf.for {{.*}} iter_args
// CHECK: math.absf
// CHECK: arith.negf
// CHECK: arith.divf
// CHECK: arith.subf
// CHECK: tensor.insert %{{.*}} into %{{.*}} : tensor<2xf32>
func.func @det(%x: tensor<2x3x3xf32>) -> tensor<2xf32> {
  %0 = "dl.det"(%x) : (tensor<2x3x3xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
