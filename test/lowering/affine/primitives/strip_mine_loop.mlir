// RUN: dlc-opt %s "--affine-strip-mine-loop=loop=i size=32" --split-input-file --verify-diagnostics | filecheck %s
// A loop becomes one in steps around one with the old values.

// CHECK-DAG: #[[$MAP0:.*]] = affine_map<(d0) -> (d0)>
// CHECK-DAG: #[[$MAP1:.*]] = affine_map<(d0) -> (100, d0 + 32)>
// CHECK-LABEL: func.func @strip(
// CHECK-SAME: %[[ARG1:.*]]: memref<100xf32>) {
// CHECK: affine.for %[[I2:.*]] = 0 to 100 step 32 {
// CHECK: affine.for %[[I3:.*]] = #[[$MAP0]](%[[I2]]) to min #[[$MAP1]](%[[I2]]) {
// CHECK: %[[V4:.*]] = affine.load %[[ARG1]][%[[I3]]] : memref<100xf32>
// CHECK: %[[V5:.*]] = arith.negf %[[V4]] : f32
// CHECK: affine.store %[[V5]], %[[ARG1]][%[[I3]]] : memref<100xf32>
// CHECK: } {dlc.name = "i"}
// CHECK: } {dlc.name = "i.strip"}
// CHECK: return
func.func @strip(%A: memref<100xf32>) {
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
