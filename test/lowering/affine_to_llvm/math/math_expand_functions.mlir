// RUN: dlc-opt %s --math-expand-functions --split-input-file --verify-diagnostics | filecheck %s
// Elementary functions become arithmetic in place; functions that are instructions, and tensors, stay.

// CHECK-LABEL: func.func @exp_of_a_vector
// CHECK-SAME: (%[[X:.*]]: vector<16xf32>)
// CHECK-DAG: %[[LOG2E:.*]] = arith.constant dense<0.72134751> : vector<16xf32>
// CHECK-DAG: %[[MAGIC:.*]] = arith.constant dense<0x4B40007F> : vector<16xf32>
// CHECK: %[[SHIFTED:.*]] = math.fma %{{.*}}, %[[LOG2E]], %[[MAGIC]] : vector<16xf32>
// CHECK: %[[N:.*]] = arith.subf %[[SHIFTED]], %[[MAGIC]] : vector<16xf32>
// CHECK: %[[R:.*]] = math.fma %[[N]]
// CHECK: arith.shli
// CHECK: %[[ROOT:.*]] = arith.bitcast %{{.*}} : vector<16xi32> to vector<16xf32>
// CHECK: arith.mulf %{{.*}}, %[[ROOT]] : vector<16xf32>
// CHECK: %[[Y:.*]] = arith.mulf %{{.*}}, %[[ROOT]] : vector<16xf32>
// CHECK-NEXT: return %[[Y]]
module attributes {dlc.target = {features = ["avx2"]}} {
  func.func @exp_of_a_vector(%x: vector<16xf32>) -> vector<16xf32> {
    %y = math.exp %x : vector<16xf32>
    return %y : vector<16xf32>
  }
}

// -----

// With AVX-512 a vector of 512 bits is scaled by one instruction, which masks no lane.
// CHECK-LABEL: func.func @exp_by_scalef
// CHECK-SAME: (%[[X:.*]]: vector<16xf32>)
// CHECK-DAG: %[[ALL:.*]] = arith.constant -1 : i16
// CHECK-DAG: %[[MAGIC:.*]] = arith.constant dense<0x4B400000> : vector<16xf32>
// CHECK: %[[N:.*]] = arith.subf %{{.*}}, %[[MAGIC]] : vector<16xf32>
// CHECK-NOT: arith.shli
// CHECK: %[[Y:.*]] = llvm.call_intrinsic "llvm.x86.avx512.mask.scalef.ps.512"(%[[P:.*]], %[[N]], %[[P]], %[[ALL]], %{{.*}})
// CHECK-NEXT: return %[[Y]]
module attributes {dlc.target = {features = ["avx512f"]}} {
  func.func @exp_by_scalef(%x: vector<16xf32>) -> vector<16xf32> {
    %y = math.exp %x : vector<16xf32>
    return %y : vector<16xf32>
  }
}

// -----

// An argument that is known not to be positive needs no clamp: results without a normal number are masked.
// CHECK-LABEL: func.func @exp_of_nonpositive
// CHECK-SAME: (%[[X:.*]]: vector<16xf32>)
// CHECK-NOT: arith.select
// CHECK: %[[LOW:.*]] = arith.cmpf olt, %[[X]], %{{.*}} : vector<16xf32>
// CHECK: %[[P:.*]] = arith.mulf
// CHECK: %[[Y:.*]] = arith.select %[[LOW]], %{{.*}}, %[[P]]
// CHECK-NEXT: return %[[Y]]
func.func @exp_of_nonpositive(%x: vector<16xf32>) -> vector<16xf32> {
  %y = math.exp %x {dlc.nonpositive} : vector<16xf32>
  return %y : vector<16xf32>
}

// -----

// 1 + exp(-x) is a multiply-add with half of a power of two; the sign goes into constants.
// CHECK-LABEL: func.func @one_and_exp
// CHECK-SAME: (%[[X:.*]]: vector<8xf32>)
// CHECK-DAG: %[[ONE:.*]] = arith.constant dense<1.000000e+00> : vector<8xf32>
// CHECK-DAG: %[[LOG2E:.*]] = arith.constant dense<-1.44269502> : vector<8xf32>
// CHECK: math.fma %{{.*}}, %[[LOG2E]]
// CHECK: %[[HALF:.*]] = arith.bitcast %{{.*}} : vector<8xi32> to vector<8xf32>
// CHECK-NOT: arith.addf
// CHECK: %[[Y:.*]] = math.fma %{{.*}}, %[[HALF]], %{{.*}} : vector<8xf32>
// CHECK-NEXT: return %[[Y]]
func.func @one_and_exp(%x: vector<8xf32>) -> vector<8xf32> {
  %one = arith.constant dense<1.0> : vector<8xf32>
  %n = arith.negf %x : vector<8xf32>
  %e = math.exp %n : vector<8xf32>
  %y = arith.addf %one, %e : vector<8xf32>
  return %y : vector<8xf32>
}

// -----

// The exponential is wanted alone, too, or the number is not 1.
// CHECK-LABEL: func.func @other_sums
// CHECK-COUNT-2: arith.addf
// CHECK: return
func.func @other_sums(%x: vector<8xf32>) -> (vector<8xf32>, vector<8xf32>, vector<8xf32>) {
  %one = arith.constant dense<1.0> : vector<8xf32>
  %two = arith.constant dense<2.0> : vector<8xf32>
  %e = math.exp %x : vector<8xf32>
  %y = arith.addf %e, %one : vector<8xf32>
  %f = math.exp %one : vector<8xf32>
  %z = arith.addf %f, %two : vector<8xf32>
  return %e, %y, %z : vector<8xf32>, vector<8xf32>, vector<8xf32>
}

// -----

// An argument between 0 and 1 takes one division and no exponent.
// CHECK-LABEL: func.func @log1p_of_unit
// CHECK-NOT: arith.shrsi
// CHECK-COUNT-1: arith.divf
// CHECK-COUNT-4: math.fma
// CHECK-NEXT: return
func.func @log1p_of_unit(%x: vector<8xf32>) -> vector<8xf32> {
  %y = math.log1p %x {dlc.unit_interval} : vector<8xf32>
  return %y : vector<8xf32>
}

// -----

// Two equal expansions share their constants, which stand at the entry.
// CHECK-LABEL: func.func @constants_once
// CHECK-COUNT-1: arith.constant 0x7F800000 : f32
// CHECK-NOT: arith.constant
// CHECK: scf.for
// CHECK-NOT: arith.constant
// CHECK-NOT: math.log
// CHECK: return
func.func @constants_once(%m: memref<?xf32>, %from: index, %to: index, %step: index) {
  scf.for %i = %from to %to step %step {
    %x = memref.load %m[%i] : memref<?xf32>
    %y = math.log %x : f32
    %z = math.log %y : f32
    memref.store %z, %m[%i] : memref<?xf32>
  }
  return
}

// -----

// Huge angles take a branch to the exact reduction, lane by lane.
// CHECK-LABEL: func.func private @dlc_reduce_huge_angle(
// CHECK-SAME: f64) -> (f64, f64, i64)
// CHECK-LABEL: func.func @sin
// CHECK: %[[ANY:.*]] = vector.reduction <or>
// CHECK: scf.if %[[ANY]]
// CHECK: scf.for
// CHECK: func.call @dlc_reduce_huge_angle
// CHECK-NOT: math.sin
// CHECK: return
func.func @sin(%x: vector<4x2xf64>) -> vector<4x2xf64> {
  %y = math.sin %x : vector<4x2xf64>
  return %y : vector<4x2xf64>
}

// -----

// CHECK-LABEL: func.func @narrow_floats_compute_in_f32
// CHECK: arith.extf %{{.*}} : vector<8xbf16> to vector<8xf32>
// CHECK: arith.divf %{{.*}} : vector<8xf32>
// CHECK: arith.truncf %{{.*}} : vector<8xf32> to vector<8xbf16>
func.func @narrow_floats_compute_in_f32(%x: vector<8xbf16>) -> vector<8xbf16> {
  %y = math.tanh %x : vector<8xbf16>
  return %y : vector<8xbf16>
}

// -----

// CHECK-LABEL: func.func @instructions_stay
// CHECK-NEXT: math.sqrt
// CHECK-NEXT: math.roundeven
// CHECK-NEXT: return
func.func @instructions_stay(%x: vector<8xf32>) -> vector<8xf32> {
  %y = math.sqrt %x : vector<8xf32>
  %z = math.roundeven %y : vector<8xf32>
  return %z : vector<8xf32>
}

// -----

// no-match: tensors are not computed on yet.
// CHECK-LABEL: func.func @tensors_stay
// CHECK-NEXT: math.exp
// CHECK-NEXT: return
func.func @tensors_stay(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = math.exp %x : tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

func.func @scalable(%x: vector<[4]xf32>) -> vector<[4]xf32> {
  // expected-error@+1 {{'math.exp' on a scalable vector; vectorize with a fixed width}}
  %y = math.exp %x : vector<[4]xf32>
  return %y : vector<[4]xf32>
}

// -----

func.func @too_many_lanes(%x: vector<9223372036854775807x2xf64>) -> vector<9223372036854775807x2xf64> {
  // expected-error@+1 {{'math.sin' on a vector of 18446744073709551614 lanes; split it into some of up to 4294967296}}
  %y = math.sin %x : vector<9223372036854775807x2xf64>
  return %y : vector<9223372036854775807x2xf64>
}
