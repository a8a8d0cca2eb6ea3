// RUN: dlc-opt %s "--affine-tile-registers=vector-bits=128 registers=16" --split-input-file --verify-diagnostics | filecheck %s
// Contractions become tiles of vectors whose accumulators are carried through the reduction loops.

// Columns are the lanes, rows are copies; every loaded value is used for the whole tile.
// CHECK-LABEL: func.func private @matmul(
// CHECK-SAME: %[[A:.*]]: memref<8x32xf32>, %[[B:.*]]: memref<32x8xf32>, %[[C:.*]]: memref<8x8xf32>
// CHECK: affine.for %[[I:.*]] = 0 to 8 step [[ROWS:[2-8]]] {
// CHECK: affine.for %[[J:.*]] = 0 to 8 step [[COLUMNS:4|8]] {
// CHECK: affine.for %[[K:.*]] = 0 to 32 step 4 iter_args({{.*}}) -> (vector<4xf32>, vector<4xf32>
// CHECK-DAG: affine.load %[[A]][%[[I]] + 1, %[[K]]]
// CHECK-DAG: affine.vector_load %[[B]][%[[K]], %[[J]]] : memref<32x8xf32>, vector<4xf32>
// CHECK: vector.fma {{.*}} : vector<4xf32>
// CHECK: affine.vector_store %{{.*}}, %[[C]][%[[I]], %[[J]]]
// CHECK: } {dlc.parallel}
// CHECK-NEXT: } {dlc.parallel, dlc.schedule = {code_generator = "tile"
func.func private @matmul(%a: memref<8x32xf32>, %b: memref<32x8xf32>, %c: memref<8x8xf32>) {
  affine.for %i = 0 to 8 {
    affine.for %j = 0 to 8 {
      %0 = affine.load %c[%i, %j] : memref<8x8xf32>
      %1 = affine.for %k = 0 to 32 iter_args(%acc = %0) -> (f32) {
        %x = affine.load %a[%i, %k] : memref<8x32xf32>
        %y = affine.load %b[%k, %j] : memref<32x8xf32>
        %p = arith.mulf %x, %y : f32
        %s = arith.addf %acc, %p : f32
        affine.yield %s : f32
      }
      affine.store %1, %c[%i, %j] : memref<8x8xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// Nine rows are a tile of five and one of four, not eight and a single one.
// CHECK-LABEL: func.func private @like_heights(
// CHECK: affine.for %{{.*}} = 0 to 5 step 5 {
// CHECK: affine.for %{{.*}} = 5 to 9 step 4 {
func.func private @like_heights(%a: memref<9x32xf32>, %b: memref<32x4xf32>, %c: memref<9x4xf32>) {
  affine.for %i = 0 to 9 {
    affine.for %j = 0 to 4 {
      %0 = affine.load %c[%i, %j] : memref<9x4xf32>
      %1 = affine.for %k = 0 to 32 iter_args(%acc = %0) -> (f32) {
        %x = affine.load %a[%i, %k] : memref<9x32xf32>
        %y = affine.load %b[%k, %j] : memref<32x4xf32>
        %p = arith.mulf %x, %y : f32
        %s = arith.addf %acc, %p : f32
        affine.yield %s : f32
      }
      affine.store %1, %c[%i, %j] : memref<9x4xf32>
    } {dlc.parallel}
  } {dlc.parallel, dlc.schedule = {code_generator = "tile", unroll_and_jam = [array<i64: 0, 8>], lane_loop = 1 : i64, lanes = 4 : i64}}
  return
}

// A column of a packed matrix tells its block and its place there; lanes stay within a block.
// CHECK-LABEL: func.func private @packed(
// CHECK: affine.vector_load %{{.*}}[%[[J:.*]] floordiv 8, %{{.*}}, %[[J]] mod 8] : memref<3x32x8xf32>, vector<4xf32>
// CHECK: vector.fma
func.func private @packed(%a: memref<2x32xf32>, %b: memref<3x32x8xf32>, %c: memref<2x20xf32>) {
  affine.for %i = 0 to 2 {
    affine.for %j = 0 to 20 {
      %0 = affine.load %c[%i, %j] : memref<2x20xf32>
      %1 = affine.for %k = 0 to 32 iter_args(%acc = %0) -> (f32) {
        %x = affine.load %a[%i, %k] : memref<2x32xf32>
        %y = affine.load %b[%j floordiv 8, %k, %j mod 8] : memref<3x32x8xf32>
        %p = arith.mulf %x, %y : f32
        %s = arith.addf %acc, %p : f32
        affine.yield %s : f32
      }
      affine.store %1, %c[%i, %j] : memref<2x20xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// Only the reduction is contiguous in both operands: its iterations are the lanes, and a masked step takes the tail.
// CHECK-LABEL: func.func private @dot(
// CHECK: affine.for %{{.*}} = 0 to {{.*}} iter_args
// CHECK: affine.vector_load
// CHECK: vector.create_mask
// CHECK: vector.maskedload
// CHECK: arith.select
// CHECK: vector.reduction <add>
func.func private @dot(%a: memref<?xf32>, %b: memref<8x?xf32>, %c: memref<8xf32>, %n: index) {
  affine.for %i = 0 to 8 {
    %0 = affine.load %c[%i] : memref<8xf32>
    %1 = affine.for %k = 0 to %n iter_args(%acc = %0) -> (f32) {
      %x = affine.load %a[%k] : memref<?xf32>
      %y = affine.load %b[%i, %k] : memref<8x?xf32>
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %acc, %p : f32
      affine.yield %s : f32
    }
    affine.store %1, %c[%i] : memref<8xf32>
  } {dlc.parallel}
  return
}

// One vector of columns: fourteen rows stand in the tile.
// CHECK-LABEL: func.func private @narrow(
// CHECK: affine.for %{{.*}} = 0 to 42 step 14 {
// CHECK: affine.vector_load
// CHECK-COUNT-14: vector.fma
// CHECK-NOT: vector.fma
// CHECK: unroll_and_jam = [array<i64: 0, 14>]
func.func private @narrow(%a: memref<42x100xf32>, %b: memref<100x4xf32>, %c: memref<42x4xf32>) {
  affine.for %i = 0 to 42 {
    affine.for %j = 0 to 4 {
      %0 = affine.load %c[%i, %j] : memref<42x4xf32>
      %1 = affine.for %k = 0 to 2 iter_args(%acc = %0) -> (f32) {
        %x = affine.load %a[%i, %k] : memref<42x100xf32>
        %y = affine.load %b[%k, %j] : memref<100x4xf32>
        %p = arith.mulf %x, %y : f32
        %s = arith.addf %acc, %p : f32
        affine.yield %s : f32
      }
      affine.store %1, %c[%i, %j] : memref<42x4xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// Rows 4096 bytes apart share a set of the nearest cache: no more than eight of them.
// CHECK-LABEL: func.func private @narrow_in_one_set(
// CHECK: affine.for %{{.*}} = 0 to 42 step 7 {
// CHECK: unroll_and_jam = [array<i64: 0, 7>]
func.func private @narrow_in_one_set(%a: memref<42x1024xf32>, %b: memref<1024x4xf32>, %c: memref<42x4xf32>) {
  affine.for %i = 0 to 42 {
    affine.for %j = 0 to 4 {
      %0 = affine.load %c[%i, %j] : memref<42x4xf32>
      %1 = affine.for %k = 0 to 2 iter_args(%acc = %0) -> (f32) {
        %x = affine.load %a[%i, %k] : memref<42x1024xf32>
        %y = affine.load %b[%k, %j] : memref<1024x4xf32>
        %p = arith.mulf %x, %y : f32
        %s = arith.addf %acc, %p : f32
        affine.yield %s : f32
      }
      affine.store %1, %c[%i, %j] : memref<42x4xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// Loops without the mark may depend on each other and stay.
// CHECK-LABEL: func.func private @not_known_parallel(
// CHECK-NOT: vector
// CHECK: return
func.func private @not_known_parallel(%a: memref<8x32xf32>, %b: memref<32x8xf32>, %c: memref<8x8xf32>) {
  affine.for %i = 0 to 8 {
    affine.for %j = 0 to 8 {
      %0 = affine.load %c[%i, %j] : memref<8x8xf32>
      %1 = affine.for %k = 0 to 32 iter_args(%acc = %0) -> (f32) {
        %x = affine.load %a[%i, %k] : memref<8x32xf32>
        %y = affine.load %b[%k, %j] : memref<32x8xf32>
        %p = arith.mulf %x, %y : f32
        %s = arith.addf %acc, %p : f32
        affine.yield %s : f32
      }
      affine.store %1, %c[%i, %j] : memref<8x8xf32>
    }
  }
  return
}

// A plain sum is no contraction.
// CHECK-LABEL: func.func private @no_match(
// CHECK-NOT: vector
// CHECK: return
func.func private @no_match(%x: memref<8x32xf32>, %y: memref<8xf32>) {
  affine.for %i = 0 to 8 {
    %0 = affine.load %y[%i] : memref<8xf32>
    %1 = affine.for %k = 0 to 32 iter_args(%acc = %0) -> (f32) {
      %v = affine.load %x[%i, %k] : memref<8x32xf32>
      %s = arith.addf %acc, %v : f32
      affine.yield %s : f32
    }
    affine.store %1, %y[%i] : memref<8xf32>
  } {dlc.parallel}
  return
}
