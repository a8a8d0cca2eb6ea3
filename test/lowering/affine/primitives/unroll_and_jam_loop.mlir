// RUN: dlc-opt %s "--affine-unroll-and-jam-loop=loop=i factor=2" --split-input-file --verify-diagnostics | filecheck %s
// Two rows run together in the inner loop; rows that depend on each other are refused.

// CHECK-LABEL: func.func @jam(
// CHECK-SAME: %[[ARG1:.*]]: memref<100x50xf32>) {
// CHECK: affine.for %[[I2:.*]] = 0 to 100 step 2 {
// CHECK: affine.for %[[I3:.*]] = 0 to 50 {
// CHECK: %[[V4:.*]] = affine.load %[[ARG1]][%[[I2]], %[[I3]]] : memref<100x50xf32>
// CHECK: %[[V5:.*]] = arith.negf %[[V4]] : f32
// CHECK: affine.store %[[V5]], %[[ARG1]][%[[I2]], %[[I3]]] : memref<100x50xf32>
// CHECK: %[[V6:.*]] = affine.load %[[ARG1]][%[[I2]] + 1, %[[I3]]] : memref<100x50xf32>
// CHECK: %[[V7:.*]] = arith.negf %[[V6]] : f32
// CHECK: affine.store %[[V7]], %[[ARG1]][%[[I2]] + 1, %[[I3]]] : memref<100x50xf32>
// CHECK: } {dlc.name = "j"}
// CHECK: } {dlc.name = "i"}
// CHECK: return
func.func @jam(%A: memref<100x50xf32>) {
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
