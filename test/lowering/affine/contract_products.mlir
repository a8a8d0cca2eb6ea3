// RUN: dlc-opt %s --affine-contract-products | filecheck %s
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
