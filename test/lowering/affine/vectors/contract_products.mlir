// RUN: dlc-opt %s --dl-set-target=target=cpu:skylake-avx512 --affine-contract-products | filecheck %s
// RUN: dlc-opt %s --dl-set-target=target=cpu:znver3 --affine-contract-products | filecheck %s --check-prefix=ZEN
// The pass refuses nothing.

// CHECK-LABEL: func.func @add
// CHECK: %[[R:.*]] = math.fma %arg0, %arg1, %arg2 : f32
// CHECK-NEXT: return %[[R]]
func.func @add(%a: f32, %b: f32, %c: f32) -> f32 {
  %p = arith.mulf %a, %b : f32
  %s = arith.addf %c, %p : f32
  return %s : f32
}

// CHECK-LABEL: func.func @take_away
// CHECK: %[[N:.*]] = arith.negf %arg0 : vector<8xf64>
// CHECK: math.fma %[[N]], %arg1, %arg2 : vector<8xf64>
func.func @take_away(%a: vector<8xf64>, %b: vector<8xf64>, %c: vector<8xf64>) -> vector<8xf64> {
  %p = arith.mulf %a, %b : vector<8xf64>
  %s = arith.subf %c, %p : vector<8xf64>
  return %s : vector<8xf64>
}

// CHECK-LABEL: func.func @take_from_product
// CHECK: %[[N:.*]] = arith.negf %arg2 : f64
// CHECK: math.fma %arg0, %arg1, %[[N]] : f64
func.func @take_from_product(%a: f64, %b: f64, %c: f64) -> f64 {
  %p = arith.mulf %a, %b : f64
  %s = arith.subf %p, %c : f64
  return %s : f64
}

// Of two products one keeps its rounding.
// CHECK-LABEL: func.func @two_products
// CHECK: %[[P:.*]] = arith.mulf %arg0, %arg1
// CHECK: math.fma %arg2, %arg0, %[[P]]
func.func @two_products(%a: f32, %b: f32, %c: f32) -> f32 {
  %p = arith.mulf %a, %b : f32
  %q = arith.mulf %c, %a : f32
  %s = arith.addf %p, %q : f32
  return %s : f32
}

// no-match: the product is used elsewhere; whole numbers.
// CHECK-LABEL: func.func @used_twice
// CHECK-NOT: math.fma
// CHECK-LABEL: func.func @whole
// CHECK-NOT: math.fma
// CHECK: return
func.func @used_twice(%a: f32, %b: f32, %c: f32) -> (f32, f32) {
  %p = arith.mulf %a, %b : f32
  %s = arith.addf %c, %p : f32
  return %s, %p : f32, f32
}
func.func @whole(%a: i32, %b: i32, %c: i32) -> i32 {
  %p = arith.muli %a, %b : i32
  %s = arith.addi %c, %p : i32
  return %s : i32
}

// A loop that waits for one sum: on Zen a sum takes three cycles, a multiply-add four.
// CHECK-LABEL: func.func @one_sum
// CHECK: math.fma
// ZEN-LABEL: func.func @one_sum
// ZEN: %[[P:.*]] = arith.mulf
// ZEN: arith.subf %{{.*}}, %[[P]]
func.func @one_sum(%x: memref<256xf64>, %y: memref<256xf64>, %c: f64) -> f64 {
  %s = affine.for %i = 0 to 256 iter_args(%sum = %c) -> (f64) {
    %a = affine.load %x[%i] : memref<256xf64>
    %b = affine.load %y[%i] : memref<256xf64>
    %p = arith.mulf %a, %b : f64
    %t = arith.subf %sum, %p : f64
    affine.yield %t : f64
  }
  return %s : f64
}

// Four sums at a time keep the units busy.
// ZEN-LABEL: func.func @four_sums
// ZEN-COUNT-4: math.fma
func.func @four_sums(%x: memref<256xf64>, %y: memref<4x256xf64>, %c: f64) -> (f64, f64, f64, f64) {
  %s:4 = affine.for %i = 0 to 256 iter_args(%s0 = %c, %s1 = %c, %s2 = %c, %s3 = %c) -> (f64, f64, f64, f64) {
    %a = affine.load %x[%i] : memref<256xf64>
    %b0 = affine.load %y[0, %i] : memref<4x256xf64>
    %b1 = affine.load %y[1, %i] : memref<4x256xf64>
    %b2 = affine.load %y[2, %i] : memref<4x256xf64>
    %b3 = affine.load %y[3, %i] : memref<4x256xf64>
    %p0 = arith.mulf %a, %b0 : f64
    %p1 = arith.mulf %a, %b1 : f64
    %p2 = arith.mulf %a, %b2 : f64
    %p3 = arith.mulf %a, %b3 : f64
    %t0 = arith.addf %s0, %p0 : f64
    %t1 = arith.addf %p1, %s1 : f64
    %t2 = arith.addf %s2, %p2 : f64
    %t3 = arith.addf %s3, %p3 : f64
    affine.yield %t0, %t1, %t2, %t3 : f64, f64, f64, f64
  }
  return %s#0, %s#1, %s#2, %s#3 : f64, f64, f64, f64
}

// What comes around is a factor: the product and the sum are one chain.
// ZEN-LABEL: func.func @recurrence
// ZEN: math.fma
func.func @recurrence(%x: memref<256xf64>, %a: f64, %c: f64) -> f64 {
  %s = affine.for %i = 0 to 256 iter_args(%last = %c) -> (f64) {
    %b = affine.load %x[%i] : memref<256xf64>
    %p = arith.mulf %a, %last : f64
    %t = arith.addf %b, %p : f64
    affine.yield %t : f64
  }
  return %s : f64
}

// Vectors are fused all the same: the last columns of a matrix round as those in tiles do.
// ZEN-LABEL: func.func @one_vector
// ZEN: math.fma
func.func @one_vector(%x: memref<256xvector<4xf64>>, %c: vector<4xf64>) -> vector<4xf64> {
  %s = affine.for %i = 0 to 256 iter_args(%sum = %c) -> (vector<4xf64>) {
    %a = affine.load %x[%i] : memref<256xvector<4xf64>>
    %p = arith.mulf %a, %a : vector<4xf64>
    %t = arith.addf %sum, %p : vector<4xf64>
    affine.yield %t : vector<4xf64>
  }
  return %s : vector<4xf64>
}
