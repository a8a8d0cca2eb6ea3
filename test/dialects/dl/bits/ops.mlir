// RUN: dlc-opt %s | dlc-opt | filecheck %s
// Casts of bits, static and dynamic.

// CHECK-LABEL: func.func @bitcast(
// CHECK: "dl.bitcast"(%arg0) {to = i32} : (tensor<2x3xf32>) -> tensor<2x3xi32>
// CHECK-NEXT: "dl.bitcast"(%arg1) {to = ui8} : (tensor<?x3xi1>) -> tensor<?x3xui8>
func.func @bitcast(%arg0: tensor<2x3xf32>, %arg1: tensor<?x3xi1>) -> (tensor<2x3xi32>, tensor<?x3xui8>) {
  %0 = "dl.bitcast"(%arg0) {to = i32} : (tensor<2x3xf32>) -> tensor<2x3xi32>
  %1 = "dl.bitcast"(%arg1) {to = ui8} : (tensor<?x3xi1>) -> tensor<?x3xui8>
  return %0, %1 : tensor<2x3xi32>, tensor<?x3xui8>
}
