// RUN: dlc-opt %s --legalize-float-truncations | filecheck %s
// RUN: dlc-opt %s --dl-set-target=target=znver4 --legalize-float-truncations | filecheck %s --check-prefix=ROUND
// RUN: dlc-opt %s --dl-set-target=target=icelake-server --legalize-float-truncations | filecheck %s --check-prefix=PLAIN
// f64 becomes f16 or bf16 through f32 rounded to odd. The pass refuses nothing.

// CHECK-LABEL: func.func @scalar(
// CHECK-SAME: %[[X:.*]]: f64)
// CHECK: %[[NEAREST:.*]] = arith.truncf %[[X]] : f64 to f32
// CHECK: %[[BACK:.*]] = arith.extf %[[NEAREST]] : f32 to f64
// CHECK: arith.cmpf one, %[[BACK]], %[[X]] : f64
// CHECK: %[[ODD:.*]] = arith.bitcast %{{.*}} : i32 to f32
// CHECK: %[[Y:.*]] = arith.truncf %[[ODD]] : f32 to bf16
// CHECK: return %[[Y]]
func.func @scalar(%x: f64) -> bf16 {
  %y = arith.truncf %x : f64 to bf16
  return %y : bf16
}

// CHECK-LABEL: func.func @vector(
// CHECK: arith.truncf %{{.*}} : vector<8xf32> to vector<8xf16>
func.func @vector(%x: vector<8xf64>) -> vector<8xf16> {
  %y = arith.truncf %x : vector<8xf64> to vector<8xf16>
  return %y : vector<8xf16>
}

// bf16 becomes f64 through f32.
// CHECK-LABEL: func.func @extended(
// CHECK-NEXT: %[[SINGLE:.*]] = arith.extf %{{.*}} : bf16 to f32
// CHECK-NEXT: arith.extf %[[SINGLE]] : f32 to f64
func.func @extended(%x: bf16) -> f64 {
  %y = arith.extf %x : bf16 to f64
  return %y : f64
}

// CHECK-LABEL: func.func @no_match(
// CHECK-NEXT: arith.truncf %{{.*}} : f64 to f32
// CHECK-NEXT: arith.truncf %{{.*}} : f32 to f16
// CHECK-NEXT: return
func.func @no_match(%x: f64, %y: f32) -> (f32, f16) {
  %a = arith.truncf %x : f64 to f32
  %b = arith.truncf %y : f32 to f16
  return %a, %b : f32, f16
}

// f32 becomes bf16 by an instruction where subnormal numbers may become 0 and the target has it for so many.
// ROUND-LABEL: func.func @flushes(
// ROUND-SAME: %[[X:.*]]: vector<16xf32>, %[[Y:.*]]: vector<8xf32>, %[[Z:.*]]: f32)
// ROUND: llvm.call_intrinsic "llvm.x86.avx512bf16.cvtneps2bf16.512"(%[[X]]) : (vector<16xf32>) -> vector<16xbf16>
// ROUND: llvm.call_intrinsic "llvm.x86.avx512bf16.cvtneps2bf16.256"(%[[Y]]) : (vector<8xf32>) -> vector<8xbf16>
// ROUND: arith.truncf %[[Z]]
// PLAIN-LABEL: func.func @flushes(
// PLAIN-COUNT-3: arith.truncf
func.func @flushes(%x: vector<16xf32>, %y: vector<8xf32>, %z: f32) -> (vector<16xbf16>, vector<8xbf16>, bf16) {
  %a = arith.truncf %x fastmath<afn> : vector<16xf32> to vector<16xbf16>
  %b = arith.truncf %y fastmath<afn> : vector<8xf32> to vector<8xbf16>
  %c = arith.truncf %z fastmath<afn> : f32 to bf16
  return %a, %b, %c : vector<16xbf16>, vector<8xbf16>, bf16
}

// no-match: subnormal numbers stay.
// ROUND-LABEL: func.func @exact(
// ROUND-NOT: llvm.call_intrinsic
func.func @exact(%x: vector<16xf32>) -> vector<16xbf16> {
  %a = arith.truncf %x : vector<16xf32> to vector<16xbf16>
  return %a : vector<16xbf16>
}
