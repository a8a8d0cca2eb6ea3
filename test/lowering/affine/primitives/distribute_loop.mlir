// RUN: dlc-opt %s "--affine-distribute-loop=loop=i" --split-input-file --verify-diagnostics | filecheck %s
// Each statement gets its own loop; a value that would be read after it is overwritten is refused.

// CHECK-LABEL: func.func @distribute(
// CHECK-SAME: %[[ARG1:.*]]: memref<100xf32> {llvm.noalias}, %[[ARG2:.*]]: memref<102xf32> {llvm.noalias}) {
// CHECK: affine.for %[[I3:.*]] = 0 to 100 {
// CHECK: %[[V4:.*]] = affine.load %[[ARG1]][%[[I3]]] : memref<100xf32>
// CHECK: affine.store %[[V4]], %[[ARG2]][%[[I3]]] : memref<102xf32>
// CHECK: } {dlc.name = "i.0"}
// CHECK: affine.for %[[I5:.*]] = 0 to 100 {
// CHECK: %[[V6:.*]] = affine.load %[[ARG2]][%[[I5]]] : memref<102xf32>
// CHECK: affine.store %[[V6]], %[[ARG1]][%[[I5]]] : memref<100xf32>
// CHECK: } {dlc.name = "i.1"}
// CHECK: return
func.func @distribute(%A: memref<100xf32> {llvm.noalias}, %B: memref<102xf32> {llvm.noalias}) {
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
