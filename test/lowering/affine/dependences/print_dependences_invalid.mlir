// RUN: dlc-opt %s --affine-print-dependences --split-input-file --verify-diagnostics
// What the model does not support is an error at the op, with what to do.

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

// -----

func.func @overlaps(%a: memref<8x8xf32>, %b: memref<8x8xf32, strided<[7, 1]>>) {
  affine.for %i = 0 to 8 {
    affine.for %j = 0 to 8 {
      %x = affine.load %a[%i, %j] : memref<8x8xf32>
      // expected-error @below {{it writes a memref whose strides put elements of different subscripts into one place; give the memref strides that keep its elements apart}}
      affine.store %x, %b[%i, %j] : memref<8x8xf32, strided<[7, 1]>>
    }
  }
  return
}
