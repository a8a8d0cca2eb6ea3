// RUN: dlc-opt %s --affine-tile-registers | filecheck %s
// Rows whose number changes with a loop around them: whole steps, then single rows.

// CHECK-DAG: #[[WHOLE:.*]] = affine_map<(d0) -> ((d0 floordiv 4) * 4)>
// CHECK-LABEL: func.func private @triangle(
// CHECK: affine.for %[[END:.*]] = 0 to 30 {
// CHECK: affine.for %{{.*}} = 0 to #[[WHOLE]](%[[END]]) step 4 {
// CHECK: affine.for %{{.*}} = #[[WHOLE]](%[[END]]) to #{{.*}}(%[[END]]) {
// CHECK: return
func.func private @triangle(%a: memref<30x30x64xf32>, %b: memref<64x16xf32>, %c: memref<30x30x16xf32>) {
  %zero = arith.constant 0.0 : f32
  affine.for %o = 0 to 30 {
    affine.for %i = 0 to affine_map<(d0) -> (d0)>(%o) {
      affine.for %j = 0 to 16 {
        %0 = affine.for %k = 0 to 64 iter_args(%acc = %zero) -> (f32) {
          %x = affine.load %a[%o, %i, %k] : memref<30x30x64xf32>
          %y = affine.load %b[%k, %j] : memref<64x16xf32>
          %p = arith.mulf %x, %y : f32
          %s = arith.addf %acc, %p : f32
          affine.yield %s : f32
        }
        affine.store %0, %c[%o, %i, %j] : memref<30x30x16xf32>
      } {dlc.parallel}
    } {dlc.parallel, dlc.schedule = {code_generator = "tile", lane_loop = 1, lanes = 8, vectors = 2, unroll_and_jam = [array<i64: 0, 4>]}}
  } {dlc.parallel}
  return
}

// no-match: rows of a known number take steps of like heights.
// CHECK-LABEL: func.func private @known(
// CHECK: affine.for %{{.*}} = 0 to 4 step 4 {
// CHECK: affine.for %{{.*}} = 4 to 7 step 3 {
// CHECK: return
func.func private @known(%a: memref<7x64xf32>, %b: memref<64x16xf32>, %c: memref<7x16xf32>) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 7 {
    affine.for %j = 0 to 16 {
      %0 = affine.for %k = 0 to 64 iter_args(%acc = %zero) -> (f32) {
        %x = affine.load %a[%i, %k] : memref<7x64xf32>
        %y = affine.load %b[%k, %j] : memref<64x16xf32>
        %p = arith.mulf %x, %y : f32
        %s = arith.addf %acc, %p : f32
        affine.yield %s : f32
      }
      affine.store %0, %c[%i, %j] : memref<7x16xf32>
    } {dlc.parallel}
  } {dlc.parallel, dlc.schedule = {code_generator = "tile", lane_loop = 1, lanes = 8, vectors = 2, unroll_and_jam = [array<i64: 0, 4>]}}
  return
}
