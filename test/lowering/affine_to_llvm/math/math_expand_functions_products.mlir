// RUN: dlc-opt %s --math-expand-functions | filecheck %s
// A sigmoid times a tanh, as the gates of recurrent layers, is one quotient of products.

// CHECK-LABEL: func.func @gate
// CHECK-SAME: (%[[X:.*]]: vector<8xf32>, %{{.*}}: vector<8xf32>)
// CHECK-DAG: %[[LIMIT:.*]] = arith.constant dense<9.020000e+00> : vector<8xf32>
// CHECK: %[[HALF:.*]] = arith.bitcast %{{.*}} : vector<8xi32> to vector<8xf32>
// CHECK: %[[SUM:.*]] = math.fma %{{.*}}, %[[HALF]], %{{.*}} : vector<8xf32>
// CHECK: arith.select %{{.*}}, %[[LIMIT]], %{{.*}} : vector<8xi1>, vector<8xf32>
// CHECK: %[[BOTH:.*]] = arith.mulf %{{.*}}, %[[SUM]] : vector<8xf32>
// CHECK: %[[Y:.*]] = arith.divf %{{.*}}, %[[BOTH]] : vector<8xf32>
// CHECK-NEXT: return %[[Y]]
func.func @gate(%x: vector<8xf32>, %gate: vector<8xf32>) -> vector<8xf32> {
  %one = arith.constant dense<1.0> : vector<8xf32>
  %n = arith.negf %gate : vector<8xf32>
  %e = math.exp %n : vector<8xf32>
  %s = arith.addf %e, %one : vector<8xf32>
  %q = arith.divf %one, %s : vector<8xf32>
  %t = math.tanh %x : vector<8xf32>
  %y = arith.mulf %t, %q : vector<8xf32>
  return %y : vector<8xf32>
}

// no-match: the sigmoid is wanted alone, too.
// CHECK-LABEL: func.func @shared_gate
// CHECK-COUNT-2: arith.divf
// CHECK: return
func.func @shared_gate(%x: f32, %gate: f32) -> (f32, f32) {
  %one = arith.constant 1.0 : f32
  %e = math.exp %gate : f32
  %s = arith.addf %one, %e : f32
  %q = arith.divf %one, %s : f32
  %t = math.tanh %x : f32
  %y = arith.mulf %q, %t : f32
  return %q, %y : f32, f32
}

// no-match: the denominator may be any number, so that its product with another one may overflow.
// CHECK-LABEL: func.func @quotient
// CHECK-COUNT-2: arith.divf
// CHECK: return
func.func @quotient(%x: f32, %d: f32) -> f32 {
  %one = arith.constant 1.0 : f32
  %q = arith.divf %one, %d : f32
  %t = math.tanh %x : f32
  %y = arith.mulf %q, %t : f32
  return %y : f32
}

// no-match: the product is one of the loop's steps, the tanh is computed once.
// CHECK-LABEL: func.func @other_block
// CHECK: arith.divf
// CHECK: scf.for
// CHECK: arith.divf
// CHECK: return
func.func @other_block(%m: memref<?xf32>, %x: f32, %from: index, %to: index, %step: index) {
  %one = arith.constant 1.0 : f32
  %t = math.tanh %x : f32
  scf.for %i = %from to %to step %step {
    %gate = memref.load %m[%i] : memref<?xf32>
    %e = math.exp %gate : f32
    %s = arith.addf %one, %e : f32
    %q = arith.divf %one, %s : f32
    %y = arith.mulf %q, %t : f32
    memref.store %y, %m[%i] : memref<?xf32>
  }
  return
}
