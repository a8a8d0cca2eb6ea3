// RUN: dlc-opt %s --convert-dl-to-linalg --canonicalize --cse | filecheck %s
// Writes at positions are loops in row-major order on a copy of x; sums of narrow floats build up in f32.

// CHECK-LABEL: func.func @scatter_nd(
// CHECK: scf.for %[[I:.*]] = %{{.*}} iter_args(%[[OUTER:.*]] = %arg0) -> (tensor<?x4xf32>)
// CHECK: scf.for %[[J:.*]] = %{{.*}} iter_args(%[[T:.*]] = %[[OUTER]]) -> (tensor<?x4xf32>)
// CHECK: tensor.extract %arg1[%[[I]], %{{.*}}] : tensor<?x1xi64>
// CHECK: arith.maxsi
// CHECK: %[[U:.*]] = tensor.extract %arg2[%[[I]], %[[J]]]
// CHECK: tensor.insert %[[U]] into %[[T]][%{{.*}}, %[[J]]]
func.func @scatter_nd(%x: tensor<?x4xf32>, %i: tensor<?x1xi64>, %u: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = "dl.scatter_nd"(%x, %i, %u) : (tensor<?x4xf32>, tensor<?x1xi64>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @scatter_add_f16(
// CHECK: arith.extf %{{.*}} : f16 to f32
// CHECK: scf.for
// CHECK: arith.addf %{{.*}}, %{{.*}} : f32
// CHECK: linalg.generic
// CHECK: arith.truncf %{{.*}} : f32 to f16
func.func @scatter_add_f16(%x: tensor<4xf16>, %i: tensor<9xi64>, %u: tensor<9xf16>) -> tensor<4xf16> {
  %0 = "dl.scatter_elements"(%x, %i, %u) {reduction = "add"} : (tensor<4xf16>, tensor<9xi64>, tensor<9xf16>) -> tensor<4xf16>
  return %0 : tensor<4xf16>
}
