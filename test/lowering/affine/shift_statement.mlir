// RUN: dlc-opt %s "--affine-shift-statement=statement=S1 loop=i distance=1" --split-input-file --verify-diagnostics | filecheck %s
// The second statement runs one iteration later; one that would miss its value is refused.

// CHECK-DAG: #[[$MAP0:.*]] = affine_set<(d0) : (-d0 + 99 >= 0)>
// CHECK-DAG: #[[$MAP1:.*]] = affine_set<(d0) : (d0 - 1 >= 0)>
// CHECK-LABEL: func.func @shift(
// CHECK-SAME: %[[ARG1:.*]]: memref<100xf32> {llvm.noalias}, %[[ARG2:.*]]: memref<102xf32> {llvm.noalias}) {
// CHECK: affine.for %[[I3:.*]] = 0 to 101 {
// CHECK: affine.if #[[$MAP0]](%[[I3]]) {
// CHECK: %[[V4:.*]] = affine.load %[[ARG1]][%[[I3]]] : memref<100xf32>
// CHECK: affine.store %[[V4]], %[[ARG2]][%[[I3]]] : memref<102xf32>
// CHECK: affine.if #[[$MAP1]](%[[I3]]) {
// CHECK: %[[V5:.*]] = affine.load %[[ARG2]][%[[I3]] - 1] : memref<102xf32>
// CHECK: affine.store %[[V5]], %[[ARG1]][%[[I3]] - 1] : memref<100xf32>
// CHECK: } {dlc.name = "i"}
// CHECK: return
func.func @shift(%A: memref<100xf32> {llvm.noalias}, %B: memref<102xf32> {llvm.noalias}) {
  affine.for %i = 0 to 100 {
    %a = affine.load %A[%i] : memref<100xf32>
    affine.store %a, %B[%i] : memref<102xf32>
    %b = affine.load %B[%i] : memref<102xf32>
    affine.store %b, %A[%i] : memref<100xf32>
  } {dlc.name = "i"}
  return
}

// -----

func.func @refused(%A: memref<100xf32> {llvm.noalias}, %B: memref<102xf32> {llvm.noalias}) {
  affine.for %i = 0 to 100 {
    %a = affine.load %A[%i] : memref<100xf32>
    // expected-error@below {{the new order would run S0[i0=1]}}
    affine.store %a, %B[%i] : memref<102xf32>
    %b = affine.load %B[%i + 1] : memref<102xf32>
    affine.store %b, %A[%i] : memref<100xf32>
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
