// RUN: dlc-opt %s "--affine-interchange-band=loops=j,i" --split-input-file --verify-diagnostics | filecheck %s
// A triangle is walked by columns; an order that a dependence forbids is refused.

// CHECK-DAG: #[[$MAP0:.*]] = affine_map<(d0) -> (d0 * 2 + 2)>
// CHECK-LABEL: func.func @triangle(
// CHECK-SAME: %[[ARG1:.*]]: memref<100x50xf32>) {
// CHECK: affine.for %[[I2:.*]] = 0 to 49 {
// CHECK: affine.for %[[I3:.*]] = #[[$MAP0]](%[[I2]]) to 100 {
// CHECK: %[[V4:.*]] = affine.load %[[ARG1]][%[[I3]], %[[I2]]] : memref<100x50xf32>
// CHECK: %[[V5:.*]] = arith.negf %[[V4]] : f32
// CHECK: affine.store %[[V5]], %[[ARG1]][%[[I3]], %[[I2]]] : memref<100x50xf32>
// CHECK: } {dlc.name = "i"}
// CHECK: } {dlc.name = "j"}
// CHECK: return
#map = affine_map<(d0) -> (d0 floordiv 2)>
func.func @triangle(%A: memref<100x50xf32>) {
  affine.for %i = 0 to 100 {
    affine.for %j = 0 to #map(%i) {
      %a = affine.load %A[%i, %j] : memref<100x50xf32>
      %b = arith.negf %a : f32
      affine.store %b, %A[%i, %j] : memref<100x50xf32>
    } {dlc.name = "j"}
  } {dlc.name = "i"}
  return
}

// -----

func.func @refused(%A: memref<100x50xf32>) {
  affine.for %i = 1 to 100 {
    affine.for %j = 0 to 49 {
      // expected-error@below {{the new order would run S0[i0=2, i1=0]}}
      %a = affine.load %A[%i - 1, %j + 1] : memref<100x50xf32>
      affine.store %a, %A[%i, %j] : memref<100x50xf32>
    } {dlc.name = "j"}
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

// -----

#divided = affine_map<(d0) -> (d0 floordiv -1)>
func.func @divided_by_a_negative_number(%A: memref<100x50xf32>) {
  affine.for %i = 0 to 100 {
    // expected-error @below {{an index is divided by -1; divide by a positive number}}
    affine.for %j = 0 to #divided(%i) {
      %a = affine.load %A[%i, %j] : memref<100x50xf32>
      affine.store %a, %A[%i, %j] : memref<100x50xf32>
    } {dlc.name = "j"}
  } {dlc.name = "i"}
  return
}
