// RUN: dlc-opt %s "--affine-fuse-loops=first=i second=i2" --split-input-file --verify-diagnostics | filecheck %s
// Two loops become one; a value that would be read before it is written is refused.

// CHECK-LABEL: func.func @fuse(
// CHECK-SAME: %[[ARG1:.*]]: memref<100xf32> {llvm.noalias}, %[[ARG2:.*]]: memref<102xf32> {llvm.noalias}) {
// CHECK: affine.for %[[I3:.*]] = 0 to 100 {
// CHECK: %[[V4:.*]] = affine.load %[[ARG1]][%[[I3]]] : memref<100xf32>
// CHECK: affine.store %[[V4]], %[[ARG2]][%[[I3]]] : memref<102xf32>
// CHECK: %[[V5:.*]] = affine.load %[[ARG2]][%[[I3]]] : memref<102xf32>
// CHECK: affine.store %[[V5]], %[[ARG1]][%[[I3]]] : memref<100xf32>
// CHECK: } {dlc.name = "i"}
// CHECK: return
func.func @fuse(%A: memref<100xf32> {llvm.noalias}, %B: memref<102xf32> {llvm.noalias}) {
  affine.for %i = 0 to 100 {
    %a = affine.load %A[%i] : memref<100xf32>
    affine.store %a, %B[%i] : memref<102xf32>
  } {dlc.name = "i"}
  affine.for %i = 0 to 100 {
    %b = affine.load %B[%i] : memref<102xf32>
    affine.store %b, %A[%i] : memref<100xf32>
  } {dlc.name = "i2"}
  return
}

// -----

func.func @refused(%A: memref<100xf32> {llvm.noalias}, %B: memref<102xf32> {llvm.noalias}) {
  affine.for %i = 0 to 100 {
    %a = affine.load %A[%i] : memref<100xf32>
    affine.store %a, %B[%i] : memref<102xf32>
  } {dlc.name = "i"}
  affine.for %i = 0 to 100 {
    // expected-error@below {{the new order would run S1[i0=0]}}
    %b = affine.load %B[%i + 1] : memref<102xf32>
    affine.store %b, %A[%i] : memref<100xf32>
  } {dlc.name = "i2"}
  return
}

// -----

// no-match: a function without loops stays as it is.
// CHECK-LABEL: func.func @no_loops(
// CHECK-NEXT: return
func.func @no_loops(%A: memref<4xf32>) {
  return
}
