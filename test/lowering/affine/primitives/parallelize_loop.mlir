// RUN: dlc-opt %s "--affine-parallelize-loop=loop=i" --split-input-file --verify-diagnostics | filecheck %s
// A loop without dependences between iterations loses its order; a chain of iterations is refused.

// CHECK-LABEL: func.func @parallelize(
// CHECK-SAME: %[[ARG1:.*]]: memref<100xf32>) {
// CHECK: affine.parallel (%[[I2:.*]]) = (0) to (100) {
// CHECK: %[[V3:.*]] = affine.load %[[ARG1]][%[[I2]]] : memref<100xf32>
// CHECK: %[[V4:.*]] = arith.negf %[[V3]] : f32
// CHECK: affine.store %[[V4]], %[[ARG1]][%[[I2]]] : memref<100xf32>
// CHECK: } {dlc.name = "i"}
// CHECK: return
func.func @parallelize(%A: memref<100xf32>) {
  affine.for %i = 0 to 100 {
    %a = affine.load %A[%i] : memref<100xf32>
    %b = arith.negf %a : f32
    affine.store %b, %A[%i] : memref<100xf32>
  } {dlc.name = "i"}
  return
}

// -----

func.func @refused(%A: memref<100xf32>) {
  affine.for %i = 1 to 100 {
    // expected-error@below {{the new order would run S0[i0=2]}}
    %a = affine.load %A[%i - 1] : memref<100xf32>
    affine.store %a, %A[%i] : memref<100xf32>
  } {dlc.name = "i"}
  return
}

// -----

// no-match: a function without loops stays as it is.
// CHECK-LABEL: func.func @no_loops(
// CHECK-NEXT: return
func.func @no_loops(%A: memref<4xf32>) {
  return
}
