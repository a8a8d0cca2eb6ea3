// RUN: dlc-opt %s --convert-dl-to-linalg --canonicalize | filecheck %s
// Bits are cast element by element; integers that differ in their sign alone are what they are.

// CHECK-LABEL: func.func @floats(
// CHECK: arith.bitcast %{{.*}} : f32 to i32
func.func @floats(%x: tensor<2x3xf32>) -> tensor<2x3xi32> {
  %0 = "dl.bitcast"(%x) {to = i32} : (tensor<2x3xf32>) -> tensor<2x3xi32>
  return %0 : tensor<2x3xi32>
}

// CHECK-LABEL: func.func @signs(
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<?xi8>
// CHECK-NEXT: return %[[X]]
func.func @signs(%x: tensor<?xi8>) -> tensor<?xui8> {
  %0 = "dl.bitcast"(%x) {to = ui8} : (tensor<?xi8>) -> tensor<?xui8>
  return %0 : tensor<?xui8>
}
