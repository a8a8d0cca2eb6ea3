// RUN: dlc-opt %s --dl-set-target=target=cpu:skylake-avx512 --affine-polyhedral-schedule --split-input-file | filecheck %s

// Shortest paths: row and column k cut each step, so that what lies between them has no order. Refuses nothing.
// CHECK-LABEL: func.func @paths
// CHECK: affine.for %[[K:.*]] = 0 to 256 {
// CHECK:   affine.for %[[I:.*]] = 0 to #map{{[0-9]*}}(%[[K]]) {
// CHECK:     affine.for %[[J:.*]] = 0 to #map{{[0-9]*}}(%[[K]]) {
// CHECK:       affine.vector_load %arg0[%[[I]], %[[J]] * 16] : memref<256x256xi32>, vector<16xi32>
// CHECK:       affine.load %arg0[%[[I]], %[[K]]] : memref<256x256xi32>
// CHECK:       affine.vector_load %arg0[%[[K]], %[[J]] * 16] : memref<256x256xi32>, vector<16xi32>
// CHECK:     } {dlc.parallel}
// CHECK:   } {dlc.parallel}
func.func @paths(%A: memref<256x256xi32>) {
  affine.for %k = 0 to 256 {
    affine.for %i = 0 to 256 {
      affine.for %j = 0 to 256 {
        %a = affine.load %A[%i, %j] : memref<256x256xi32>
        %b = affine.load %A[%i, %k] : memref<256x256xi32>
        %c = affine.load %A[%k, %j] : memref<256x256xi32>
        %s = arith.addi %b, %c : i32
        %m = arith.minsi %a, %s : i32
        affine.store %m, %A[%i, %j] : memref<256x256xi32>
      }
    }
  }
  return
}

// -----

// no-match: each iteration of the inner loop waits for the one before.
// CHECK-LABEL: func.func @rows
// CHECK: affine.for
// CHECK-NOT: vector
// CHECK: arith.addf %{{.*}} : f64
func.func @rows(%A: memref<64xf64>) {
  affine.for %t = 0 to 64 {
    affine.for %i = 1 to 63 {
      %a = affine.load %A[%i - 1] : memref<64xf64>
      %b = affine.load %A[%i + 1] : memref<64xf64>
      %s = arith.addf %a, %b : f64
      affine.store %s, %A[%i] : memref<64xf64>
    }
  }
  return
}
