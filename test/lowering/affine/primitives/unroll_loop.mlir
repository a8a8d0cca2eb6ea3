// RUN: dlc-opt %s "--affine-unroll-loop=loop=i factor=3" --split-input-file --verify-diagnostics | filecheck %s
// Three iterations at a time are written out, the last one runs on its own.

// CHECK-LABEL: func.func @unroll(
// CHECK-SAME: %[[ARG1:.*]]: memref<100xf32>) {
// CHECK: affine.for %[[I2:.*]] = 0 to 99 step 3 {
// CHECK: %[[V3:.*]] = affine.load %[[ARG1]][%[[I2]]] : memref<100xf32>
// CHECK: %[[V4:.*]] = arith.negf %[[V3]] : f32
// CHECK: affine.store %[[V4]], %[[ARG1]][%[[I2]]] : memref<100xf32>
// CHECK: %[[V5:.*]] = affine.load %[[ARG1]][%[[I2]] + 1] : memref<100xf32>
// CHECK: %[[V6:.*]] = arith.negf %[[V5]] : f32
// CHECK: affine.store %[[V6]], %[[ARG1]][%[[I2]] + 1] : memref<100xf32>
// CHECK: %[[V7:.*]] = affine.load %[[ARG1]][%[[I2]] + 2] : memref<100xf32>
// CHECK: %[[V8:.*]] = arith.negf %[[V7]] : f32
// CHECK: affine.store %[[V8]], %[[ARG1]][%[[I2]] + 2] : memref<100xf32>
// CHECK: } {dlc.name = "i"}
// CHECK: %[[V9:.*]] = affine.load %[[ARG1]][99] : memref<100xf32>
// CHECK: %[[V10:.*]] = arith.negf %[[V9]] : f32
// CHECK: affine.store %[[V10]], %[[ARG1]][99] : memref<100xf32>
// CHECK: return
func.func @unroll(%A: memref<100xf32>) {
  affine.for %i = 0 to 100 {
    %a = affine.load %A[%i] : memref<100xf32>
    %b = arith.negf %a : f32
    affine.store %b, %A[%i] : memref<100xf32>
  } {dlc.name = "i"}
  return
}

// -----

func.func @refused(%A: memref<100xf32>) {
  // expected-error@below {{no loop is called 'i'; use one of k}}
  affine.for %i = 0 to 100 {
    %a = affine.load %A[%i] : memref<100xf32>
    %b = arith.negf %a : f32
    affine.store %b, %A[%i] : memref<100xf32>
  } {dlc.name = "k"}
  return
}

// -----

// no-match: a function without loops stays as it is.
// CHECK-LABEL: func.func @no_loops(
// CHECK-NEXT: return
func.func @no_loops(%A: memref<4xf32>) {
  return
}
