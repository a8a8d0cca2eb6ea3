// RUN: dlc-opt %s --dl-set-target=target=cpu:sapphirerapids "--affine-tile-registers=vector-bits=512 registers=32" | filecheck %s
// Panels may be larger than L2 where a tile alone reads them: room is for what it is ahead by.

// CHECK: #[[AHEAD:.*]] = affine_map<(d0, d1, d2) -> (d1 + d2 * 48 + 1440)>
// CHECK-LABEL: func.func private @panels_of_3_mib(
// CHECK-SAME: %{{.*}}: memref<8x16384xf32>, %[[B:.*]]: memref<48x16384x48xf32>
// CHECK: affine.for %[[P:.*]] = 0 to 48 {
// CHECK: affine.apply #[[AHEAD]](%[[P]], %{{.*}}, %{{.*}})
// CHECK-COUNT-12: memref.prefetch %[[B]][%[[P]], {{.*}}], read, locality<2>, data
// CHECK-NOT: memref.prefetch
// CHECK: prefetch = 2 : i64
func.func private @panels_of_3_mib(%a: memref<8x16384xf32>, %b: memref<48x16384x48xf32>, %c: memref<8x48x48xf32>) {
  affine.for %i = 0 to 8 {
    affine.for %p = 0 to 48 {
      affine.for %j = 0 to 48 {
        %0 = affine.load %c[%i, %p, %j] : memref<8x48x48xf32>
        %1 = affine.for %k = 0 to 16384 iter_args(%acc = %0) -> (f32) {
          %x = affine.load %a[%i, %k] : memref<8x16384xf32>
          %y = affine.load %b[%p, %k, %j] : memref<48x16384x48xf32>
          %m = arith.mulf %x, %y : f32
          %s = arith.addf %acc, %m : f32
          affine.yield %s : f32
        }
        affine.store %1, %c[%i, %p, %j] : memref<8x48x48xf32>
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// no-match: two tiles of rows share a panel, of which L2 has no room for the next one.
// CHECK-LABEL: func.func private @two_tiles(
// CHECK-NOT: memref.prefetch
// CHECK: return
func.func private @two_tiles(%a: memref<16x16384xf32>, %b: memref<48x16384x48xf32>, %c: memref<16x48x48xf32>) {
  affine.for %i = 0 to 16 {
    affine.for %p = 0 to 48 {
      affine.for %j = 0 to 48 {
        %0 = affine.load %c[%i, %p, %j] : memref<16x48x48xf32>
        %1 = affine.for %k = 0 to 16384 iter_args(%acc = %0) -> (f32) {
          %x = affine.load %a[%i, %k] : memref<16x16384xf32>
          %y = affine.load %b[%p, %k, %j] : memref<48x16384x48xf32>
          %m = arith.mulf %x, %y : f32
          %s = arith.addf %acc, %m : f32
          affine.yield %s : f32
        }
        affine.store %1, %c[%i, %p, %j] : memref<16x48x48xf32>
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  return
}
