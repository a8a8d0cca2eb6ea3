// RUN: dlc-opt %s "--affine-split-loop=loop=i factor=32" --split-input-file --verify-diagnostics | filecheck %s
// A loop becomes two that count from 0.

// CHECK-DAG: #[[$MAP0:.*]] = affine_map<(d0) -> (32, d0 * -32 + 100)>
// CHECK-LABEL: func.func @split(
// CHECK-SAME: %[[ARG1:.*]]: memref<100xf32>) {
// CHECK: affine.for %[[I2:.*]] = 0 to 4 {
// CHECK: affine.for %[[I3:.*]] = 0 to min #[[$MAP0]](%[[I2]]) {
// CHECK: %[[V4:.*]] = affine.load %[[ARG1]][%[[I2]] * 32 + %[[I3]]] : memref<100xf32>
// CHECK: %[[V5:.*]] = arith.negf %[[V4]] : f32
// CHECK: affine.store %[[V5]], %[[ARG1]][%[[I2]] * 32 + %[[I3]]] : memref<100xf32>
// CHECK: } {dlc.name = "i.inner"}
// CHECK: } {dlc.name = "i.outer"}
// CHECK: return
func.func @split(%A: memref<100xf32>) {
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
