// RUN: dlc-opt %s --convert-dl-to-linalg | filecheck %s
// Elementary functions become math ops on scalars, in f32 for narrow floats.

// CHECK-LABEL: func.func @chain(
// CHECK: linalg.generic
// CHECK: %[[WIDE:.*]] = arith.extf %{{.*}} : f16 to f32
// CHECK: %[[EXP:.*]] = math.exp %[[WIDE]] : f32
// CHECK: arith.truncf %[[EXP]] : f32 to f16
// CHECK: linalg.generic
// CHECK: math.atanh
func.func @chain(%x: tensor<?x4xf16>) -> tensor<?x4xf16> {
  %0 = "dl.exp"(%x) : (tensor<?x4xf16>) -> tensor<?x4xf16>
  %1 = "dl.atanh"(%0) : (tensor<?x4xf16>) -> tensor<?x4xf16>
  return %1 : tensor<?x4xf16>
}

// CHECK-LABEL: func.func @rsqrt(
// CHECK: %[[ROOT:.*]] = math.sqrt %{{.*}} : f64
// CHECK: %[[ONE:.*]] = arith.constant 1.0{{.*}} : f64
// CHECK: arith.divf %[[ONE]], %[[ROOT]] : f64
func.func @rsqrt(%x: tensor<f64>) -> tensor<f64> {
  %0 = "dl.rsqrt"(%x) : (tensor<f64>) -> tensor<f64>
  return %0 : tensor<f64>
}
