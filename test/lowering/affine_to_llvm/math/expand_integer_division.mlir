// RUN: dlc-opt %s --expand-integer-division | filecheck %s
// Vectors of short integers are divided as floats, those of 32 bits by way of reciprocals. The pass refuses nothing.

// CHECK-LABEL: func.func private @quotient(
// CHECK-SAME: %[[A:.*]]: vector<16xi32>, %[[B:.*]]: vector<16xi32>
// CHECK: %[[S:.*]] = arith.sitofp %[[B]] : vector<16xi32> to vector<16xf32>
// CHECK: %[[F:.*]] = arith.divf %{{.*}}, %[[S]] : vector<16xf32>
// CHECK: %[[X:.*]] = arith.extf %[[F]] : vector<16xf32> to vector<16xf64>
// CHECK: %[[Y:.*]] = arith.sitofp %[[B]] : vector<16xi32> to vector<16xf64>
// CHECK: %[[P:.*]] = arith.mulf %[[Y]], %[[X]] fastmath<contract>
// A little too large, so that whole quotients stay whole.
// CHECK: %[[ONE:.*]] = arith.constant dense<1.000000000003638> : vector<16xf64>
// CHECK: %[[E:.*]] = arith.subf %[[ONE]], %[[P]]
// CHECK: %[[D:.*]] = arith.mulf %[[X]], %[[E]]
// CHECK: %[[I:.*]] = arith.addf %[[X]], %[[D]]
// CHECK: %[[A2:.*]] = arith.sitofp %[[A]] : vector<16xi32> to vector<16xf64>
// CHECK: %[[Q:.*]] = arith.mulf %[[A2]], %[[I]] : vector<16xf64>
// CHECK: %[[R:.*]] = arith.fptosi %[[Q]] : vector<16xf64> to vector<16xi32>
// CHECK: return %[[R]]
func.func private @quotient(%a: vector<16xi32>, %b: vector<16xi32>) -> vector<16xi32> {
  %q = arith.divsi %a, %b : vector<16xi32>
  return %q : vector<16xi32>
}

// CHECK-LABEL: func.func private @remainder(
// CHECK-SAME: %[[A:.*]]: vector<32xi8>, %[[B:.*]]: vector<32xi8>
// CHECK: arith.uitofp %[[A]] : vector<32xi8> to vector<32xf32>
// CHECK: %[[Q:.*]] = arith.fptoui {{.*}} : vector<32xf32> to vector<32xi8>
// CHECK: %[[P:.*]] = arith.muli %[[Q]], %[[B]]
// CHECK: %[[R:.*]] = arith.subi %[[A]], %[[P]]
// CHECK: return %[[R]]
func.func private @remainder(%a: vector<32xi8>, %b: vector<32xi8>) -> vector<32xi8> {
  %r = arith.remui %a, %b : vector<32xi8>
  return %r : vector<32xi8>
}

// No match: processors divide scalars, and no float holds 64 bits.
// CHECK-LABEL: func.func private @no_match(
// CHECK: arith.divsi {{.*}} : i32
// CHECK: arith.remsi {{.*}} : vector<8xi64>
func.func private @no_match(%a: i32, %b: i32, %c: vector<8xi64>, %d: vector<8xi64>) -> (i32, vector<8xi64>) {
  %q = arith.divsi %a, %b : i32
  %r = arith.remsi %c, %d : vector<8xi64>
  return %q, %r : i32, vector<8xi64>
}
