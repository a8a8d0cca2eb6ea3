// RUN: dlc-opt %s | dlc-opt | filecheck %s
// Products with packed weights: with zeros and without, of all columns and of some.

// CHECK-LABEL: func.func @nbits_matmul(
// CHECK: "dl.nbits_matmul"(%arg0, %arg1, %arg2) : (tensor<?x64xf32>, tensor<2x8x16xi32>, tensor<2x2x16xf32>) -> tensor<?x32xf32>
// CHECK-NEXT: "dl.nbits_matmul"(%arg3, %arg1, %arg4, %arg4) {bits = 8 : i64, columns = 30 : i64} : (tensor<1x?x32xf16>, tensor<2x8x16xi32>, tensor<2x1x16xf16>, tensor<2x1x16xf16>) -> tensor<1x?x30xf16>
func.func @nbits_matmul(%x: tensor<?x64xf32>, %words: tensor<2x8x16xi32>, %scales: tensor<2x2x16xf32>, %y: tensor<1x?x32xf16>, %each: tensor<2x1x16xf16>)
    -> (tensor<?x32xf32>, tensor<1x?x30xf16>) {
  %0 = "dl.nbits_matmul"(%x, %words, %scales) : (tensor<?x64xf32>, tensor<2x8x16xi32>, tensor<2x2x16xf32>) -> tensor<?x32xf32>
  %1 = "dl.nbits_matmul"(%y, %words, %each, %each) {bits = 8 : i64, columns = 30 : i64} : (tensor<1x?x32xf16>, tensor<2x8x16xi32>, tensor<2x1x16xf16>, tensor<2x1x16xf16>) -> tensor<1x?x30xf16>
  return %0, %1 : tensor<?x32xf32>, tensor<1x?x30xf16>
}
