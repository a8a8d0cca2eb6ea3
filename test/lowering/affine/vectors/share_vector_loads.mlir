// RUN: dlc-opt %s --affine-share-vector-loads=line-bytes=32 --split-input-file | filecheck %s
// RUN: dlc-opt %s --affine-share-vector-loads=line-bytes=64 --split-input-file | filecheck %s --check-prefix=NARROW
// RUN: not dlc-opt %s --affine-share-vector-loads=copies=1 --split-input-file 2>&1 | filecheck %s --check-prefix=COPIES

// COPIES: error: {{.*}}copies is 1{{.*}}give 2 or more
// no-match: vectors of half a line.
// NARROW-NOT: vector.shuffle

// Lines are loaded, and what lies across two of them is put together; the outermost vectors are loaded as before.
// CHECK-LABEL: func.func @points
// CHECK-SAME: %[[X:.*]]: memref<200xf64> {llvm.noalias}, %[[Y:.*]]: memref<200xf64> {llvm.noalias})
// CHECK: affine.for %[[I:.*]] = 1 to 49 step 4 {
// CHECK:   affine.vector_load %[[X]][%[[I]] * 4 - 1]
// CHECK:   %[[A:.*]] = affine.vector_load %[[X]][%[[I]] * 4] :
// CHECK:   %[[B:.*]] = affine.vector_load %[[X]][%[[I]] * 4 + 4] :
// CHECK:   vector.shuffle %[[A]], %[[B]] [1, 2, 3, 4]
// CHECK:   affine.vector_store %{{.*}}, %[[Y]][%[[I]] * 4] :
// CHECK:   vector.shuffle %[[A]], %[[B]] [3, 4, 5, 6]
// CHECK-COUNT-3: affine.vector_load
// CHECK-NOT: affine.vector_load
// CHECK:   affine.vector_store %{{.*}}, %[[Y]][(%[[I]] + 3) * 4]
// CHECK: } {dlc.parallel}
// CHECK-NOT: affine.for
// CHECK: return
func.func @points(%x: memref<200xf64> {llvm.noalias}, %y: memref<200xf64> {llvm.noalias}) {
  affine.for %i = 1 to 49 {
    %a = affine.vector_load %x[%i * 4 - 1] : memref<200xf64>, vector<4xf64>
    %b = affine.vector_load %x[%i * 4] : memref<200xf64>, vector<4xf64>
    %c = affine.vector_load %x[%i * 4 + 1] : memref<200xf64>, vector<4xf64>
    %s = arith.addf %a, %b : vector<4xf64>
    %t = arith.addf %s, %c : vector<4xf64>
    affine.vector_store %t, %y[%i * 4] : memref<200xf64>, vector<4xf64>
  } {dlc.parallel}
  return
}

// -----

// Bounds that the run time knows: what is left over is a loop of its own.
// CHECK: #[[WHOLE:.*]] = affine_map<()[s0] -> (((s0 + 3) floordiv 16) * 16)>
// CHECK-LABEL: func.func @differences
// CHECK: affine.for %{{.*}} = #{{.*}} to #[[WHOLE]]()[%[[N:.*]]] step 16 {
// CHECK-COUNT-3: vector.shuffle
// CHECK-NOT: vector.shuffle
// CHECK: affine.for %{{.*}} = max #{{.*}}()[%[[N]]] to %[[N]] step 4 {
// CHECK-NOT: vector.shuffle
func.func @differences(%n: index, %x: memref<8x?xf64> {llvm.noalias}, %y: memref<?xf64> {llvm.noalias}) {
  affine.for %j = 0 to %n step 4 {
    %a = affine.vector_load %x[3, %j] : memref<8x?xf64>, vector<4xf64>
    %b = affine.vector_load %x[3, %j + 1] : memref<8x?xf64>, vector<4xf64>
    %d = arith.subf %b, %a : vector<4xf64>
    affine.vector_store %d, %y[%j] : memref<?xf64>, vector<4xf64>
  }
  return
}

// -----

// no-match: a row that is written, vectors that do not overlap, and places that move by more than a vector.
// CHECK-LABEL: func.func @others
// CHECK-NOT: vector.shuffle
func.func @others(%x: memref<200xf64>, %y: memref<2x200xf64> {llvm.noalias}, %z: memref<200xf64> {llvm.noalias}) {
  affine.for %i = 1 to 49 {
    %a = affine.vector_load %x[%i * 4 - 1] : memref<200xf64>, vector<4xf64>
    %b = affine.vector_load %x[%i * 4] : memref<200xf64>, vector<4xf64>
    %s = arith.addf %a, %b : vector<4xf64>
    affine.vector_store %s, %x[%i * 4] : memref<200xf64>, vector<4xf64>
  }
  affine.for %i = 0 to 24 {
    %a = affine.vector_load %y[0, %i * 4] : memref<2x200xf64>, vector<4xf64>
    %b = affine.vector_load %y[1, %i * 4 + 1] : memref<2x200xf64>, vector<4xf64>
    %c = affine.vector_load %y[0, %i * 8] : memref<2x200xf64>, vector<4xf64>
    %s = arith.addf %a, %b : vector<4xf64>
    %t = arith.addf %s, %c : vector<4xf64>
    affine.vector_store %t, %z[%i * 4] : memref<200xf64>, vector<4xf64>
  }
  return
}
