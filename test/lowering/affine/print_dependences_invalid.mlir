// RUN: dlc-opt %s --affine-print-dependences --split-input-file --verify-diagnostics
// What the model has no meaning for is an error at the op, with what to do.

func.func @aliases(%a: memref<8xf32>, %b: memref<8xf32>) {
  affine.for %i = 0 to 8 {
    // expected-error @below {{it touches a memref that may share memory with %arg1, which is written here; mark the arguments {llvm.noalias}, or pass assume-no-alias}}
    %x = affine.load %a[%i] : memref<8xf32>
    affine.store %x, %b[%i] : memref<8xf32>
  }
  return
}

// -----

func.func @combines(%a: memref<8xf32>) -> f32 {
  // expected-error @below {{'affine.parallel' combines values of its iterations; run --affine-demote-values first}}
  %sum = affine.parallel (%i) = (0) to (8) reduce ("addf") -> f32 {
    %x = affine.load %a[%i] : memref<8xf32>
    affine.yield %x : f32
  }
  return %sum : f32
}

// -----

func.func @gathered(%a: memref<8xf32>, %at: memref<8xindex>) {
  affine.for %i = 0 to 8 {
    %k = affine.load %at[%i] : memref<8xindex>
    %x = arith.constant 0.0 : f32
    // expected-error @below {{an index is computed or read inside the loops and is not affine in their variables}}
    memref.store %x, %a[%k] : memref<8xf32>
  }
  return
}
