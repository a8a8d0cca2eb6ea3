// RUN: dlc-opt %s --convert-affine-to-llvm | filecheck %s
// Upstream's pass for transfers of vectors runs where there are such. `convert_affine_to_llvm.mlir` has what is refused, and
// functions with no match for them.

// CHECK-LABEL: llvm.func @_mlir_ciface_transfer(
// CHECK-NOT: vector.transfer_read
// CHECK: llvm.intr.masked.load
func.func @transfer(%m: memref<?x?xf32>, %y: memref<4x8xf32>, %i: index) {
  %zero = arith.constant 0.0 : f32
  %v = vector.transfer_read %m[%i, %i], %zero : memref<?x?xf32>, vector<4x8xf32>
  vector.transfer_write %v, %y[%i, %i] : vector<4x8xf32>, memref<4x8xf32>
  return
}
