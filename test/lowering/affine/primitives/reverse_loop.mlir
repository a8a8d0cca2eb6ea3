// RUN: dlc-opt %s "--affine-reverse-loop=loop=i" --split-input-file --verify-diagnostics | filecheck %s
// A loop runs backwards; a chain of iterations is refused.

// CHECK-LABEL: func.func @reverse(
// CHECK-SAME: %[[ARG1:.*]]: memref<100xf32>) {
// CHECK: affine.for %[[I2:.*]] = 1 to 100 {
// CHECK: %[[V3:.*]] = affine.load %[[ARG1]][-%[[I2]] + 100] : memref<100xf32>
// CHECK: %[[V4:.*]] = arith.negf %[[V3]] : f32
// CHECK: affine.store %[[V4]], %[[ARG1]][-%[[I2]] + 100] : memref<100xf32>
// CHECK: } {dlc.name = "i"}
// CHECK: return
func.func @reverse(%A: memref<100xf32>) {
  affine.for %i = 1 to 100 {
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
