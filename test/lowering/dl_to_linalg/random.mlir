// RUN: dlc-opt %s --convert-dl-to-linalg --canonicalize | filecheck %s
// Random numbers read nothing: rounds on the place of each element, the last of 20 for one word alone.

// CHECK-LABEL: func.func @uniform(
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<2x3xf32>)
// CHECK: linalg.index
// CHECK-COUNT-19: arith.xori
// CHECK-NOT: arith.xori
// CHECK: arith.sitofp
func.func @uniform(%x: tensor<2x3xf16>) -> tensor<2x3xf32> {
  %0 = "dl.random_uniform"(%x) {seed = 7 : i64} : (tensor<2x3xf16>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
