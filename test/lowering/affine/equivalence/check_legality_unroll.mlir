// RUN: dlc-opt %s --split-input-file --verify-diagnostics "--affine-check-legality=pass='affine-loop-unroll{unroll-factor=3}' assume-non-negative"
// RUN: dlc-opt %s --split-input-file "--affine-check-legality=pass='affine-loop-unroll{unroll-factor=3}' assume-non-negative on-refusal=keep" | filecheck %s
// Upstream's loop for the remainder starts too early where the end lies before the start: for %n = 0 it would run from -2.

// CHECK-LABEL: func.func @starts_at_one
// CHECK: affine.for %{{.*}} = 1 to %{{.*}} iter_args
// CHECK-NOT: affine.for
func.func @starts_at_one(%a: memref<?xi32>, %n: index) -> i32 {
  %zero = arith.constant 0 : i32
  %sum = affine.for %i = 1 to %n iter_args(%x = %zero) -> i32 {
    %0 = affine.load %a[%i] : memref<?xi32>
    // expected-error @+1 {{affine-loop-unroll would change what it returns: a value would come from 'arith.addi'[-1]}}
    %1 = arith.addi %x, %0 : i32
    affine.yield %1 : i32
  }
  return %sum : i32
}

// -----

// CHECK-LABEL: func.func @starts_at_zero
// CHECK-COUNT-2: affine.for
func.func @starts_at_zero(%a: memref<?xi32>, %n: index) -> i32 {
  %zero = arith.constant 0 : i32
  %sum = affine.for %i = 0 to %n iter_args(%x = %zero) -> i32 {
    %0 = affine.load %a[%i] : memref<?xi32>
    %1 = arith.addi %x, %0 : i32
    affine.yield %1 : i32
  }
  return %sum : i32
}
