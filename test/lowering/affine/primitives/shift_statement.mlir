// RUN: dlc-opt %s "--affine-shift-statement=statement=S1 loop=i distance=1" --split-input-file --verify-diagnostics | filecheck %s
// The second statement runs one iteration later; one that would miss its value is refused.

// CHECK-LABEL: func.func @shift(
// CHECK-SAME: %[[ARG1:.*]]: memref<100xf32> {llvm.noalias}, %[[ARG2:.*]]: memref<102xf32> {llvm.noalias}) {
// CHECK: %[[V3:.*]] = affine.load %[[ARG1]][0] : memref<100xf32>
// CHECK: affine.store %[[V3]], %[[ARG2]][0] : memref<102xf32>
// CHECK: affine.for %[[I4:.*]] = 1 to 100 {
// CHECK: %[[V5:.*]] = affine.load %[[ARG1]][%[[I4]]] : memref<100xf32>
// CHECK: affine.store %[[V5]], %[[ARG2]][%[[I4]]] : memref<102xf32>
// CHECK: %[[V6:.*]] = affine.load %[[ARG2]][%[[I4]] - 1] : memref<102xf32>
// CHECK: affine.store %[[V6]], %[[ARG1]][%[[I4]] - 1] : memref<100xf32>
// CHECK: } {dlc.name = "i"}
// CHECK: %[[V7:.*]] = affine.load %[[ARG2]][99] : memref<102xf32>
// CHECK: affine.store %[[V7]], %[[ARG1]][99] : memref<100xf32>
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
