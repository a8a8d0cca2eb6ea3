// RUN: dlc-opt %s --linalg-pass-results --split-input-file --verify-diagnostics
// Sizes along axes that a buffer has not are refused.

func.func private @made(%n: index) -> index {
  %axis = arith.constant -1 : index
  %x = memref.alloc(%n, %n) : memref<?x?xf32>
  // expected-error@below {{memref<?x?xf32> has no axis -1; take one of its axes, numbered from 0}}
  %size = memref.dim %x, %axis : memref<?x?xf32>
  return %size : index
}

// -----

func.func private @given(%x: memref<?xf32>) -> memref<?xf32> {
  %axis = arith.constant 1 : index
  // expected-error@below {{memref<?xf32> has no axis 1; take one of its axes, numbered from 0}}
  %size = memref.dim %x, %axis : memref<?xf32>
  %y = memref.alloc(%size) : memref<?xf32>
  return %y : memref<?xf32>
}
func.func @main(%x: memref<?xf32>) -> memref<?xf32> {
  %y = call @given(%x) : (memref<?xf32>) -> memref<?xf32>
  return %y : memref<?xf32>
}
