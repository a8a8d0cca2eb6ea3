// RUN: dlc-opt %s --legalize-float-truncations | filecheck %s
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

// CHECK-LABEL: func.func @no_match(
// CHECK-NEXT: arith.truncf %{{.*}} : f64 to f32
// CHECK-NEXT: arith.truncf %{{.*}} : f32 to f16
// CHECK-NEXT: return
func.func @no_match(%x: f64, %y: f32) -> (f32, f16) {
  %a = arith.truncf %x : f64 to f32
  %b = arith.truncf %y : f32 to f16
  return %a, %b : f32, f16
}
