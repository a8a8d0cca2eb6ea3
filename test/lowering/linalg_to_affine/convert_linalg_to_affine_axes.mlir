// RUN: dlc-opt %s --convert-linalg-to-affine --split-input-file --verify-diagnostics
// Sizes along axes that an argument has not are refused; of what has no rank run time knows them.

func.func @beyond(%x: memref<?x?xf32>) -> index {
  %axis = arith.constant 2147483648 : index
  // expected-error@below {{memref<?x?xf32> has no axis 2147483648; take one of its axes, numbered from 0}}
  %n = memref.dim %x, %axis : memref<?x?xf32>
  return %n : index
}

// -----

func.func @before(%x: memref<?x?xf32>) -> index {
  %axis = arith.constant -1 : index
  // expected-error@below {{memref<?x?xf32> has no axis -1; take one of its axes, numbered from 0}}
  %n = memref.dim %x, %axis : memref<?x?xf32>
  return %n : index
}

// -----

func.func @unranked(%x: memref<*xf32>) -> index {
  %axis = arith.constant 2 : index
  %n = memref.dim %x, %axis : memref<*xf32>
  return %n : index
}
