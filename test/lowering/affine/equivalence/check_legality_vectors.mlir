// RUN: dlc-opt %s --split-input-file --verify-diagnostics "--affine-check-legality=pass='affine-super-vectorize{virtual-vector-size=4}' assume-no-alias"
// RUN: dlc-opt %s --split-input-file "--affine-check-legality=pass='affine-super-vectorize{virtual-vector-size=4}' assume-no-alias on-refusal=keep" | filecheck %s
// Vectors that touch more, or other, elements than the loop.

// After llvm/llvm-project issue 218120: the last vector runs over the end of the loop.
// CHECK-LABEL: func.func @remainder
// CHECK: affine.for %{{.*}} = 0 to 10 {
func.func @remainder(%m: memref<16xi32>) {
  affine.for %i = 0 to 10 {
    %v = affine.load %m[%i] : memref<16xi32>
    // expected-error @+1 {{affine-super-vectorize would change %arg0[10]: a value would come from 'arith.addi'[8, 2] (-:12:10), and not from %arg0[10] as the function found it}}
    %w = arith.addi %v, %v : i32
    affine.store %w, %m[%i] : memref<16xi32>
  }
  return
}

// -----

// After issue 225247: lanes lie side by side, iterations three apart.
// CHECK-LABEL: func.func @steps
// CHECK: affine.for %{{.*}} = 0 to 24 step 3 {
// expected-error @+1 {{affine-super-vectorize would change %arg0[5]: a value would come from the constant 1 : i32, and not from %arg0[5] as the function found it}}
func.func @steps(%out: memref<32xi32>) {
  %one = arith.constant 1 : i32
  affine.for %i = 0 to 24 step 3 {
    affine.store %one, %out[%i + 4] : memref<32xi32>
  }
  return
}

// -----

// The memref ends with the loop: lanes outside of it are left out, and the result is right.
// CHECK-LABEL: func.func @ends_with_the_memref
// CHECK: vector.transfer_write
func.func @ends_with_the_memref(%m: memref<10xi32>) {
  affine.for %i = 0 to 10 {
    %v = affine.load %m[%i] : memref<10xi32>
    %w = arith.addi %v, %v : i32
    affine.store %w, %m[%i] : memref<10xi32>
  }
  return
}
