// RUN: dlc-opt %s "--affine-split-index-set=loop=i at=64" --split-input-file --verify-diagnostics | filecheck %s
// A loop is cut at a value.

// CHECK-LABEL: func.func @cut(
// CHECK-SAME: %[[ARG1:.*]]: memref<100xf32>) {
// CHECK: affine.for %[[I2:.*]] = 0 to 64 {
// CHECK: %[[V3:.*]] = affine.load %[[ARG1]][%[[I2]]] : memref<100xf32>
// CHECK: %[[V4:.*]] = arith.negf %[[V3]] : f32
// CHECK: affine.store %[[V4]], %[[ARG1]][%[[I2]]] : memref<100xf32>
// CHECK: } {dlc.name = "i.below"}
// CHECK: affine.for %[[I5:.*]] = 64 to 100 {
// CHECK: %[[V6:.*]] = affine.load %[[ARG1]][%[[I5]]] : memref<100xf32>
// CHECK: %[[V7:.*]] = arith.negf %[[V6]] : f32
// CHECK: affine.store %[[V7]], %[[ARG1]][%[[I5]]] : memref<100xf32>
// CHECK: } {dlc.name = "i.above"}
// CHECK: return
func.func @cut(%A: memref<100xf32>) {
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
