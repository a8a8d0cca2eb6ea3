// RUN: dlc-opt %s --dl-set-target=target=cpu:sapphirerapids "--affine-tile-registers=vector-bits=512 registers=32" | filecheck %s
// A tile of several rows that alone reads a packed operand from memory is ahead of its own loads by what it reads in that time.

// Each step of four fetches as many lines as it reads: 8 rows by 3 vectors take 12 cycles for a row of the panel,
// and memory 350: it is 30 rows of 48 numbers ahead.
// CHECK: #[[AHEAD:.*]] = affine_map<(d0, d1, d2) -> (d1 + d2 * 48 + 1440)>
// CHECK-LABEL: func.func private @eight_rows(
// CHECK-SAME: %{{.*}}: memref<8x1024xf32>, %[[B:.*]]: memref<85x1024x48xf32>
// CHECK: affine.for %[[P:.*]] = 0 to 85 {
// CHECK: affine.for %[[K:.*]] = 0 to 1024 step 4 iter_args
// CHECK: affine.apply #[[AHEAD]](%[[P]], %{{.*}}, %[[K]])
// CHECK-COUNT-12: memref.prefetch %[[B]][%[[P]], {{.*}}], read, locality<2>, data
// CHECK-NOT: memref.prefetch
// CHECK: prefetch = 2 : i64
func.func private @eight_rows(%a: memref<8x1024xf32>, %b: memref<85x1024x48xf32>, %c: memref<8x85x48xf32>) {
  affine.for %i = 0 to 8 {
    affine.for %p = 0 to 85 {
      affine.for %j = 0 to 48 {
        %0 = affine.load %c[%i, %p, %j] : memref<8x85x48xf32>
        %1 = affine.for %k = 0 to 1024 iter_args(%acc = %0) -> (f32) {
          %x = affine.load %a[%i, %k] : memref<8x1024xf32>
          %y = affine.load %b[%p, %k, %j] : memref<85x1024x48xf32>
          %m = arith.mulf %x, %y : f32
          %s = arith.addf %acc, %m : f32
          affine.yield %s : f32
        }
        affine.store %1, %c[%i, %p, %j] : memref<8x85x48xf32>
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// no-match: four rows, whose products leave L2 no time to be asked for each line twice; nor has a single one.
// CHECK-LABEL: func.func private @four_rows(
// CHECK-NOT: memref.prefetch
// CHECK: return
func.func private @four_rows(%a: memref<4x1024xf32>, %b: memref<85x1024x48xf32>, %c: memref<4x85x48xf32>) {
  affine.for %i = 0 to 4 {
    affine.for %p = 0 to 85 {
      affine.for %j = 0 to 48 {
        %0 = affine.load %c[%i, %p, %j] : memref<4x85x48xf32>
        %1 = affine.for %k = 0 to 1024 iter_args(%acc = %0) -> (f32) {
          %x = affine.load %a[%i, %k] : memref<4x1024xf32>
          %y = affine.load %b[%p, %k, %j] : memref<85x1024x48xf32>
          %m = arith.mulf %x, %y : f32
          %s = arith.addf %acc, %m : f32
          affine.yield %s : f32
        }
        affine.store %1, %c[%i, %p, %j] : memref<4x85x48xf32>
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// no-match: an operand of 2.4 MB, which may lie in the last cache.
// CHECK-LABEL: func.func private @near(
// CHECK-NOT: memref.prefetch
// CHECK: return
func.func private @near(%a: memref<8x768xf32>, %b: memref<16x768x48xf32>, %c: memref<8x16x48xf32>) {
  affine.for %i = 0 to 8 {
    affine.for %p = 0 to 16 {
      affine.for %j = 0 to 48 {
        %0 = affine.load %c[%i, %p, %j] : memref<8x16x48xf32>
        %1 = affine.for %k = 0 to 768 iter_args(%acc = %0) -> (f32) {
          %x = affine.load %a[%i, %k] : memref<8x768xf32>
          %y = affine.load %b[%p, %k, %j] : memref<16x768x48xf32>
          %m = arith.mulf %x, %y : f32
          %s = arith.addf %acc, %m : f32
          affine.yield %s : f32
        }
        affine.store %1, %c[%i, %p, %j] : memref<8x16x48xf32>
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  return
}
