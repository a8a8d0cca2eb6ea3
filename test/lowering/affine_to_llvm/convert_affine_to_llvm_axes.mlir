// RUN: dlc-opt %s --convert-affine-to-llvm --verify-diagnostics
// Sizes along axes that a buffer has not are refused.

func.func @beyond(%x: memref<?x?xf32>) -> index {
  %axis = arith.constant 2 : index
  // expected-error@below {{memref<?x?xf32> has no axis 2; take one of its axes, numbered from 0}}
  %n = memref.dim %x, %axis : memref<?x?xf32>
  return %n : index
}
