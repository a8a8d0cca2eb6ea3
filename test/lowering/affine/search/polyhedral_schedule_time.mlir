// RUN: dlc-opt %s --dl-set-target=target=cpu:skylake-avx512 --affine-polyhedral-schedule=time-tiles=4,4,0 --split-input-file --verify-diagnostics | filecheck %s
// RUN: dlc-opt %s --dl-set-target=target=cpu:skylake-avx512 --affine-polyhedral-schedule --split-input-file | filecheck %s --check-prefix=COST

// Rows are smoothed again and again: tiles of 4 time steps, moved by 2 rows a step. Rows stay whole.
// CHECK-DAG: #[[UP:.*]] = affine_map<(d0, d1) -> (1023, d0 * 4 - d1 * 2 + 4)>
// CHECK-LABEL: func.func @smooth
// CHECK: affine.for %[[TT:.*]] = 0 to 10 {
// CHECK:   affine.for %[[II:.*]] = {{.*}} {
// CHECK:     affine.for %[[T:.*]] = max
// CHECK:       affine.for %[[I:.*]] = max {{.*}} to min #[[UP]](%[[II]], %[[T]]) {
// CHECK:         affine.for %[[J:.*]] = 0 to 32 {
// CHECK:           affine.vector_store %{{.*}}, %arg1[%[[I]], %[[J]] * 8]
// CHECK:       affine.for {{.*}} = max {{.*}} to min
// CHECK:           affine.vector_store %{{.*}}, %arg0
// CHECK:   } {dlc.doacross = "columns", dlc.name = "tile4.2"}
// CHECK: } {dlc.doacross = "rows", dlc.name = "tile4"}

// The model takes as many steps as fit into the cache of 1 MB.
// COST-LABEL: func.func @smooth
// COST: {dlc.doacross = "rows", dlc.name = "tile16"}
func.func @smooth(%A: memref<1024x256xf64> {llvm.noalias}, %B: memref<1024x256xf64> {llvm.noalias}) {
  affine.for %t = 0 to 40 {
    affine.for %i = 1 to 1023 {
      affine.for %j = 0 to 256 {
        %a = affine.load %A[%i - 1, %j] : memref<1024x256xf64>
        %b = affine.load %A[%i + 1, %j] : memref<1024x256xf64>
        %s = arith.addf %a, %b : f64
        affine.store %s, %B[%i, %j] : memref<1024x256xf64>
      }
    }
    affine.for %i = 1 to 1023 {
      affine.for %j = 0 to 256 {
        %a = affine.load %B[%i, %j] : memref<1024x256xf64>
        affine.store %a, %A[%i, %j] : memref<1024x256xf64>
      }
    }
  }
  return
}

// -----

// Every loop waits for itself: 4 rows of 4 time steps at once, on a wavefront.
// CHECK-LABEL: func.func @sweep
// CHECK: affine.for %[[TT:.*]] = 0 to 8 {
// CHECK:   affine.for %[[II:.*]] = {{.*}} {
// CHECK:     affine.store
// CHECK:     affine.for %[[W:.*]] = #{{.*}}(%[[TT]], %[[II]]) to #{{.*}}(%[[TT]], %[[II]]) {
// CHECK-NOT:   affine.for
// CHECK-COUNT-16: affine.store
// CHECK-NEXT: }
// COST-LABEL: func.func @sweep
// COST: affine.store
// COST: affine.for
// COST-NOT: affine.for
// COST-COUNT-16: affine.store
// COST-NEXT: }
func.func @sweep(%A: memref<64x64xf32>) {
  affine.for %t = 0 to 32 {
    affine.for %i = 1 to 63 {
      affine.for %j = 1 to 63 {
        %a = affine.load %A[%i - 1, %j] : memref<64x64xf32>
        %b = affine.load %A[%i, %j - 1] : memref<64x64xf32>
        %c = affine.load %A[%i + 1, %j] : memref<64x64xf32>
        %s = arith.addf %a, %b : f32
        %s2 = arith.addf %s, %c : f32
        affine.store %s2, %A[%i, %j] : memref<64x64xf32>
      }
    }
  }
  return
}

// -----

// no-match: sums over columns need no tiles across %t.
// CHECK-LABEL: func.func @scale
// CHECK-NOT: dlc.name
// CHECK: return
func.func @scale(%A: memref<64x64xf32>, %x: f32) {
  affine.for %t = 0 to 32 {
    affine.for %i = 0 to 64 {
      affine.store %x, %A[%t, %i] : memref<64x64xf32>
    }
  }
  return
}
