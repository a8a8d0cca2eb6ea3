// RUN: dlc-opt %s --dl-set-target=target=cpu:sapphirerapids "--affine-tile-registers=vector-bits=512 registers=32" | filecheck %s
// The panel that the next tiles read is fetched ahead, spread over the tiles that run over this one, in a loop unrolled by four.

// 16 tiles of rows share a panel of 128x48: each fetches 24 of its 384 lines, one a step.
// CHECK-LABEL: func.func private @packed(
// CHECK-SAME: %{{.*}}: memref<128x128xf32>, %[[B:.*]]: memref<64x128x48xf32>
// CHECK: affine.for %[[P:.*]] = 0 to 64 {
// CHECK: affine.for %[[M:.*]] = 0 to 128 step 8 {
// CHECK: %[[START:.*]] = affine.apply #{{.*}}(%[[M]])
// CHECK: affine.for %[[K:.*]] = 0 to 128 step 4 iter_args
// CHECK: %[[NEXT:.*]] = affine.apply #{{.*}}(%[[P]], %{{.*}}, %[[K]])
// CHECK: %[[LINE:.*]] = arith.addi %{{.*}}, %[[START]]
// CHECK: memref.prefetch %[[B]][%[[NEXT]], %{{.*}}, %[[LINE]]], read, locality<2>, data
// CHECK-NOT: memref.prefetch
// CHECK: prefetch = 2 : i64, unroll = 4 : i64
func.func private @packed(%a: memref<128x128xf32>, %b: memref<64x128x48xf32>, %c: memref<128x64x48xf32>) {
  affine.for %i = 0 to 128 {
    affine.for %p = 0 to 64 {
      affine.for %j = 0 to 48 {
        %0 = affine.load %c[%i, %p, %j] : memref<128x64x48xf32>
        %1 = affine.for %k = 0 to 128 iter_args(%acc = %0) -> (f32) {
          %x = affine.load %a[%i, %k] : memref<128x128xf32>
          %y = affine.load %b[%p, %k, %j] : memref<64x128x48xf32>
          %m = arith.mulf %x, %y : f32
          %s = arith.addf %acc, %m : f32
          affine.yield %s : f32
        }
        affine.store %1, %c[%i, %p, %j] : memref<128x64x48xf32>
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// A panel of 1.2 MB: rows run inside panels, for all panels would be read again for every seven rows.
// CHECK-LABEL: func.func private @long_panels(
// CHECK: order = array<i64: 1, 0, 2>
func.func private @long_panels(%a: memref<49x6144xf32>, %b: memref<11x6144x48xf32>, %c: memref<49x11x48xf32>) {
  affine.for %i = 0 to 49 {
    affine.for %p = 0 to 11 {
      affine.for %j = 0 to 48 {
        %0 = affine.load %c[%i, %p, %j] : memref<49x11x48xf32>
        %1 = affine.for %k = 0 to 6144 iter_args(%acc = %0) -> (f32) {
          %x = affine.load %a[%i, %k] : memref<49x6144xf32>
          %y = affine.load %b[%p, %k, %j] : memref<11x6144x48xf32>
          %m = arith.mulf %x, %y : f32
          %s = arith.addf %acc, %m : f32
          affine.yield %s : f32
        }
        affine.store %1, %c[%i, %p, %j] : memref<49x11x48xf32>
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// A dynamic number of rows: the share of a tile ends with the panel.
// CHECK-LABEL: func.func private @dynamic_rows(
// CHECK: affine.min
// CHECK: memref.prefetch
func.func private @dynamic_rows(%a: memref<?x128xf32>, %b: memref<64x128x48xf32>, %c: memref<?x64x48xf32>, %n: index) {
  affine.for %i = 0 to %n {
    affine.for %p = 0 to 64 {
      affine.for %j = 0 to 48 {
        %0 = affine.load %c[%i, %p, %j] : memref<?x64x48xf32>
        %1 = affine.for %k = 0 to 128 iter_args(%acc = %0) -> (f32) {
          %x = affine.load %a[%i, %k] : memref<?x128xf32>
          %y = affine.load %b[%p, %k, %j] : memref<64x128x48xf32>
          %m = arith.mulf %x, %y : f32
          %s = arith.addf %acc, %m : f32
          affine.yield %s : f32
        }
        affine.store %1, %c[%i, %p, %j] : memref<?x64x48xf32>
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// Blocks of 16 filters that a tile reads side by side are fetched as one panel, for the pixels that run over it.
// CHECK-LABEL: func.func private @blocks(
// CHECK: memref.prefetch
func.func private @blocks(%x: memref<14x14x64xf32>, %w: memref<16x64x16xf32>, %y: memref<14x14x16x16xf32>) {
  affine.for %h = 0 to 14 {
    affine.for %v = 0 to 14 {
      affine.for %p = 0 to 16 {
        affine.for %j = 0 to 16 {
          %0 = affine.load %y[%h, %v, %p, %j] : memref<14x14x16x16xf32>
          %1 = affine.for %k = 0 to 64 iter_args(%acc = %0) -> (f32) {
            %a = affine.load %x[%h, %v, %k] : memref<14x14x64xf32>
            %b = affine.load %w[%p, %k, %j] : memref<16x64x16xf32>
            %m = arith.mulf %a, %b : f32
            %s = arith.addf %acc, %m : f32
            affine.yield %s : f32
          }
          affine.store %1, %y[%h, %v, %p, %j] : memref<14x14x16x16xf32>
        } {dlc.parallel}
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel, dlc.schedule = {code_generator = "tile", unroll_and_jam = [array<i64: 1, 7>, array<i64: 2, 2>], lane_loop = 3 : i64, lanes = 16 : i64,
                                   order = array<i64: 2, 0, 1, 3>, prefetch = 2 : i64, unroll = 4 : i64}}
  return
}

// Rows that all lanes share are fetched for the next tile, into the level that the schedule says: 8 rows of 128 in 32 steps.
// CHECK-LABEL: func.func private @rows(
// CHECK-SAME: %[[A:.*]]: memref<4096x128xf32>
// CHECK: affine.for %[[I:.*]] = 0 to 4096 step 8 {
// CHECK: affine.for %[[K:.*]] = 0 to 128 step 4 iter_args
// CHECK: %[[NEXT:.*]] = affine.apply #{{.*}}(%[[I]], %[[K]])
// CHECK-COUNT-2: memref.prefetch %[[A]][%[[NEXT]], %{{.*}}], read, locality<3>, data
// CHECK-NOT: memref.prefetch
// CHECK: return
func.func private @rows(%a: memref<4096x128xf32>, %b: memref<128x48xf32>, %c: memref<4096x48xf32>) {
  affine.for %i = 0 to 4096 {
    affine.for %j = 0 to 48 {
      %0 = affine.load %c[%i, %j] : memref<4096x48xf32>
      %1 = affine.for %k = 0 to 128 iter_args(%acc = %0) -> (f32) {
        %x = affine.load %a[%i, %k] : memref<4096x128xf32>
        %y = affine.load %b[%k, %j] : memref<128x48xf32>
        %m = arith.mulf %x, %y : f32
        %s = arith.addf %acc, %m : f32
        affine.yield %s : f32
      }
      affine.store %1, %c[%i, %j] : memref<4096x48xf32>
    } {dlc.parallel}
  } {dlc.parallel, dlc.schedule = {code_generator = "tile", unroll_and_jam = [array<i64: 0, 8>], lane_loop = 1 : i64, lanes = 16 : i64, vectors = 3 : i64,
                                   fetch_rows = 1 : i64, unroll = 4 : i64}}
  return
}

// no-match: every tile reads the same panel, and rows of a matrix that stays in the cache.
// CHECK-LABEL: func.func private @one_panel(
// CHECK-NOT: memref.prefetch
// CHECK: return
func.func private @one_panel(%a: memref<128x128xf32>, %b: memref<128x48xf32>, %c: memref<128x48xf32>) {
  affine.for %i = 0 to 128 {
    affine.for %j = 0 to 48 {
      %0 = affine.load %c[%i, %j] : memref<128x48xf32>
      %1 = affine.for %k = 0 to 128 iter_args(%acc = %0) -> (f32) {
        %x = affine.load %a[%i, %k] : memref<128x128xf32>
        %y = affine.load %b[%k, %j] : memref<128x48xf32>
        %m = arith.mulf %x, %y : f32
        %s = arith.addf %acc, %m : f32
        affine.yield %s : f32
      }
      affine.store %1, %c[%i, %j] : memref<128x48xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}
