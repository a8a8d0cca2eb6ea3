// RUN: dlc-opt %s --dl-set-target=target=cpu:sapphirerapids --affine-split-open-rows --split-input-file | filecheck %s
// RUN: dlc-opt %s --dl-set-target=target=cpu:sapphirerapids --affine-split-open-rows --affine-tile-registers --split-input-file \
// RUN:   | filecheck %s --check-prefix=TILES
// Rows of a batch that is not known: blocks of many rows, and a rest of few. The pass refuses nothing.

// CHECK-DAG: #[[BLOCKS:.*]] = affine_map<()[s0] -> (((s0 * 197) floordiv [[SIZE:[1-9][0-9]*]]) * [[SIZE]])>
// CHECK-DAG: #[[COUNT:.*]] = affine_map<()[s0] -> ((s0 * 197) floordiv [[SIZE]])>
// CHECK-DAG: #[[LEFT:.*]] = affine_map<()[s0] -> ((s0 * 197) mod [[SIZE]])>
// CHECK-LABEL: func.func @rows(
// CHECK-SAME: %[[X:[^ ]*]]: memref<?x192xf32>, %{{.*}}, %[[Y:[^ ]*]]: memref<?x576xf32>, %[[N:[^ ]*]]: index)
// CHECK: affine.for %[[M:.*]] = 0 to #[[BLOCKS]]()[%[[N]]] {
// CHECK:   affine.for %[[J:.*]] = 0 to 576 {
// CHECK:     affine.load %[[X]][%[[M]], %
// CHECK:     affine.store %{{.*}}, %[[Y]][%[[M]], %[[J]]]
// CHECK: %[[WHOLE:.*]] = affine.apply #[[COUNT]]()[%[[N]]]
// CHECK: affine.for %[[R:.*]] = 0 to #[[LEFT]]()[%[[N]]] {
// CHECK:   affine.for %[[C:.*]] = 0 to 576 {
// CHECK:     affine.load %[[X]][%[[R]] + %[[WHOLE]] * [[SIZE]], %
// CHECK:     affine.store %{{.*}}, %[[Y]][%[[R]] + %[[WHOLE]] * [[SIZE]], %[[C]]]
// Panels go outside of few rows, and are fetched ahead.
// TILES-LABEL: func.func @rows(
// TILES: order = array<i64: 0, 1>
// TILES: affine.apply
// TILES: order = array<i64: 1, 0>, {{.*}}prefetch = 2
func.func @rows(%x: memref<?x192xf32>, %w: memref<12x192x48xf32>, %y: memref<?x576xf32>, %n: index) {
  %zero = arith.constant 0.0 : f32
  affine.for %m = 0 to affine_map<()[s0] -> (s0 * 197)>()[%n] {
    affine.for %j = 0 to 576 {
      %s = affine.for %k = 0 to 192 iter_args(%t = %zero) -> (f32) {
        %l = affine.load %x[%m, %k] : memref<?x192xf32>
        %r = affine.load %w[%j floordiv 48, %k, %j mod 48] : memref<12x192x48xf32>
        %p = arith.mulf %l, %r : f32
        %u = arith.addf %t, %p : f32
        affine.yield %u : f32
      }
      affine.store %s, %y[%m, %j] : memref<?x576xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// -----

// no-match: a schedule of a user's.
// CHECK-LABEL: func.func @given(
// CHECK: affine.for %{{.*}} = 0 to #{{.*}}()[%{{.*}}] {
// CHECK-NOT: affine.apply
// CHECK: return
func.func @given(%x: memref<?x192xf32>, %w: memref<192x576xf32>, %y: memref<?x576xf32>, %n: index) {
  %zero = arith.constant 0.0 : f32
  affine.for %m = 0 to affine_map<()[s0] -> (s0 * 197)>()[%n] {
    affine.for %j = 0 to 576 {
      %s = affine.for %k = 0 to 192 iter_args(%t = %zero) -> (f32) {
        %l = affine.load %x[%m, %k] : memref<?x192xf32>
        %r = affine.load %w[%k, %j] : memref<192x576xf32>
        %p = arith.mulf %l, %r : f32
        %u = arith.addf %t, %p : f32
        affine.yield %u : f32
      }
      affine.store %s, %y[%m, %j] : memref<?x576xf32>
    } {dlc.parallel}
  } {dlc.parallel, dlc.schedule = {code_generator = "tile", lane_loop = 1 : i64, lanes = 16 : i64}}
  return
}
