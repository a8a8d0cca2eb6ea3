// RUN: dlc-opt %s "--affine-tile-band=loops=i,j sizes=32,16" --split-input-file --verify-diagnostics | filecheck %s
// Two loops run tile by tile; a dependence that a tile would turn around is refused.

// CHECK-DAG: #[[$MAP0:.*]] = affine_map<(d0) -> (d0)>
// CHECK-DAG: #[[$MAP1:.*]] = affine_map<(d0) -> (100, d0 + 32)>
// CHECK-DAG: #[[$MAP2:.*]] = affine_map<(d0) -> (50, d0 + 16)>
// CHECK-LABEL: func.func @tile(
// CHECK-SAME: %[[ARG1:.*]]: memref<100x50xf32>) {
// CHECK: affine.for %[[I2:.*]] = 0 to 100 step 32 {
// CHECK: affine.for %[[I3:.*]] = 0 to 50 step 16 {
// CHECK: affine.for %[[I4:.*]] = #[[$MAP0]](%[[I2]]) to min #[[$MAP1]](%[[I2]]) {
// CHECK: affine.for %[[I5:.*]] = #[[$MAP0]](%[[I3]]) to min #[[$MAP2]](%[[I3]]) {
// CHECK: %[[V6:.*]] = affine.load %[[ARG1]][%[[I4]], %[[I5]]] : memref<100x50xf32>
// CHECK: %[[V7:.*]] = arith.negf %[[V6]] : f32
// CHECK: affine.store %[[V7]], %[[ARG1]][%[[I4]], %[[I5]]] : memref<100x50xf32>
// CHECK: } {dlc.name = "j"}
// CHECK: } {dlc.name = "i"}
// CHECK: } {dlc.name = "j.tile"}
// CHECK: } {dlc.name = "i.tile"}
// CHECK: return
func.func @tile(%A: memref<100x50xf32>) {
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

func.func @refused(%A: memref<100x50xf32>) {
  affine.for %i = 1 to 100 {
    affine.for %j = 0 to 49 {
      // expected-error@below {{the new order would run S0[i0=2, i1=15]}}
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
