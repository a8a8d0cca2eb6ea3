// RUN: dlc-opt %s --dl-set-target=target=cpu:znver4 --affine-align-rows=min-bytes=4096 --split-input-file | filecheck %s
// RUN: dlc-opt %s --dl-set-target=target=cpu:znver4 "--affine-check-legality=assume-no-alias pass='affine-align-rows{min-bytes=4096}'" --split-input-file | filecheck %s
// RUN: dlc-opt %s --dl-set-target=target=cpu:znver4 --affine-align-rows --split-input-file | filecheck %s --check-prefix=SMALL
// RUN: not dlc-opt %s --affine-align-rows=min-bytes=-1 --split-input-file 2>&1 | filecheck %s --check-prefix=NEGATIVE

// NEGATIVE: error: {{.*}}min-bytes is -1; give 0 or more
// no-match: what the last cache holds.
// SMALL-NOT: maskedstore

// Rows of 131 numbers begin anywhere in a line: as many of the first vector as are before the first line are written alone.
// CHECK: #[[SKIPPED:.*]] = affine_map<(d0) -> ((d0 * -131) mod 8)>
// CHECK-LABEL: func.func @rows
// CHECK-SAME: %[[X:.*]]: memref<64x131xf64>, %[[Y:.*]]: memref<64x131xf64>)
// CHECK: affine.for %[[I:.*]] = 0 to 64 {
// CHECK:   %[[H:.*]] = affine.apply #[[SKIPPED]](%[[I]])
// CHECK:   %[[BEFORE:.*]] = vector.create_mask %[[H]] : vector<8xi1>
// CHECK:   vector.maskedstore %[[Y]][%[[I]], %{{.*}}], %[[BEFORE]], %{{.*}} : memref<64x131xf64>
// CHECK:   affine.for %[[J:.*]] = 0 to 15 {
// CHECK:     %[[A:.*]] = affine.vector_load %[[X]][%[[I]], %[[J]] * 8 + %[[H]] + 1] :
// CHECK:     affine.vector_store %{{.*}}, %[[Y]][%[[I]], %[[J]] * 8 + %[[H]]] :
// CHECK:   } {dlc.parallel}
// CHECK:   %[[AFTER:.*]] = arith.xori %[[BEFORE]], %{{.*}} : vector<8xi1>
// CHECK:   vector.maskedstore %[[Y]][%[[I]], %{{.*}}], %[[AFTER]], %{{.*}} : memref<64x131xf64>
func.func @rows(%x: memref<64x131xf64>, %y: memref<64x131xf64>) {
  affine.for %i = 0 to 64 {
    affine.for %j = 0 to 16 {
      %a = affine.vector_load %x[%i, %j * 8 + 1] : memref<64x131xf64>, vector<8xf64>
      %b = arith.negf %a : vector<8xf64>
      affine.vector_store %b, %y[%i, %j * 8] : memref<64x131xf64>, vector<8xf64>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// -----

// Rows that all begin one number after a line.
// CHECK-LABEL: func.func @inside
// CHECK: vector.constant_mask [7] : vector<8xi1>
// CHECK: affine.for %[[J:.*]] = 1 to 121 step 8 {
// CHECK:   affine.vector_store %{{.*}}, %{{.*}}[%{{.*}}, %[[J]] + 7] :
func.func @inside(%x: memref<64x136xf64>, %y: memref<64x136xf64>) {
  affine.for %i = 0 to 64 {
    affine.for %j = 1 to 129 step 8 {
      %a = affine.vector_load %x[%i, %j] : memref<64x136xf64>, vector<8xf64>
      affine.vector_store %a, %y[%i, %j] : memref<64x136xf64>, vector<8xf64>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// -----

// no-match: rows that begin with lines, a buffer that is read, iterations in order, lanes that differ, short rows, a carried value.
// CHECK-LABEL: func.func @others
// CHECK-NOT: maskedstore
func.func @others(%x: memref<64x131xf64>, %y: memref<64x131xf64>, %lines: memref<64x136xf64>, %start: f64) -> f64 {
  %numbers = arith.constant dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : vector<8xf64>
  affine.for %i = 0 to 64 {
    affine.for %j = 0 to 16 {
      %a = affine.vector_load %x[%i, %j * 8] : memref<64x131xf64>, vector<8xf64>
      affine.vector_store %a, %lines[%i, %j * 8] : memref<64x136xf64>, vector<8xf64>
      affine.vector_store %a, %x[%i, %j * 8] : memref<64x131xf64>, vector<8xf64>
    } {dlc.parallel}
  }
  affine.for %i = 0 to 64 {
    affine.for %j = 0 to 16 {
      affine.vector_store %numbers, %y[%i, %j * 8] : memref<64x131xf64>, vector<8xf64>
    } {dlc.parallel}
  }
  affine.for %i = 0 to 64 {
    %a = affine.vector_load %x[%i, 0] : memref<64x131xf64>, vector<8xf64>
    %s = vector.extract %a[0] : f64 from vector<8xf64>
    %v = vector.broadcast %s : f64 to vector<8xf64>
    affine.for %j = 0 to 16 {
      affine.vector_store %v, %y[%i, %j * 8] : memref<64x131xf64>, vector<8xf64>
    }
    affine.for %j = 0 to 15 {
      affine.vector_store %v, %y[%i, %j * 8] : memref<64x131xf64>, vector<8xf64>
    } {dlc.parallel}
  }
  %end = affine.for %j = 0 to 16 iter_args(%carried = %start) -> (f64) {
    %v = vector.broadcast %start : f64 to vector<8xf64>
    affine.vector_store %v, %y[3, %j * 8] : memref<64x131xf64>, vector<8xf64>
    affine.yield %carried : f64
  } {dlc.parallel}
  return %end : f64
}
