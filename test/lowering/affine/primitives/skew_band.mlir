// RUN: dlc-opt %s "--affine-skew-band=inner=j outer=i" --split-input-file --verify-diagnostics | filecheck %s
// The inner loop moves with the outer one; both have to be named.

// CHECK-DAG: #[[$MAP0:.*]] = affine_map<(d0) -> (d0)>
// CHECK-DAG: #[[$MAP1:.*]] = affine_map<(d0) -> (d0 + 50)>
// CHECK-LABEL: func.func @skew(
// CHECK-SAME: %[[ARG1:.*]]: memref<100x50xf32>) {
// CHECK: affine.for %[[I2:.*]] = 0 to 100 {
// CHECK: affine.for %[[I3:.*]] = #[[$MAP0]](%[[I2]]) to #[[$MAP1]](%[[I2]]) {
// CHECK: %[[V4:.*]] = affine.load %[[ARG1]][%[[I2]], -%[[I2]] + %[[I3]]] : memref<100x50xf32>
// CHECK: %[[V5:.*]] = arith.negf %[[V4]] : f32
// CHECK: affine.store %[[V5]], %[[ARG1]][%[[I2]], -%[[I2]] + %[[I3]]] : memref<100x50xf32>
// CHECK: } {dlc.name = "j"}
// CHECK: } {dlc.name = "i"}
// CHECK: return
func.func @skew(%A: memref<100x50xf32>) {
  affine.for %i = 0 to 100 {
    affine.for %j = 0 to 50 {
      %a = affine.load %A[%i, %j] : memref<100x50xf32>
      %b = arith.negf %a : f32
      affine.store %b, %A[%i, %j] : memref<100x50xf32>
    } {dlc.name = "j"}
  } {dlc.name = "i"}
  return
}

// -----

func.func @refused(%A: memref<100xf32>) {
  // expected-error@below {{no loop is called 'j'; use one of k}}
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
