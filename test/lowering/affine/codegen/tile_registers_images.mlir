// RUN: dlc-opt %s "--affine-tile-registers=vector-bits=512 registers=32" | filecheck %s
// Pixels of images with channels first: those of a row share cache lines, so a tile is along rows.

// CHECK-LABEL: func.func private @strided(
// CHECK: dlc.schedule = {code_generator = "tile", lane_loop = 2 : i64, {{.*}}unroll_and_jam = [array<i64: 1, 7>]
func.func private @strided(%x: memref<64x14x14xf32>, %w: memref<64x48xf32>, %y: memref<7x7x48xf32>) {
  affine.for %i = 0 to 7 {
    affine.for %j = 0 to 7 {
      affine.for %n = 0 to 48 {
        %0 = affine.load %y[%i, %j, %n] : memref<7x7x48xf32>
        %1 = affine.for %k = 0 to 64 iter_args(%acc = %0) -> (f32) {
          %a = affine.load %x[%k, %i * 2, %j * 2] : memref<64x14x14xf32>
          %b = affine.load %w[%k, %n] : memref<64x48xf32>
          %p = arith.mulf %a, %b : f32
          %s = arith.addf %acc, %p : f32
          affine.yield %s : f32
        }
        affine.store %1, %y[%i, %j, %n] : memref<7x7x48xf32>
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// Columns of the image are contiguous instead.
// CHECK-LABEL: func.func private @columns(
// CHECK: dlc.schedule = {code_generator = "tile", lane_loop = 2 : i64, {{.*}}unroll_and_jam = [array<i64: 0, 7>]
func.func private @columns(%x: memref<64x14x14xf32>, %w: memref<64x48xf32>, %y: memref<7x7x48xf32>) {
  affine.for %i = 0 to 7 {
    affine.for %j = 0 to 7 {
      affine.for %n = 0 to 48 {
        %0 = affine.load %y[%i, %j, %n] : memref<7x7x48xf32>
        %1 = affine.for %k = 0 to 64 iter_args(%acc = %0) -> (f32) {
          %a = affine.load %x[%k, %j * 2, %i * 2] : memref<64x14x14xf32>
          %b = affine.load %w[%k, %n] : memref<64x48xf32>
          %p = arith.mulf %a, %b : f32
          %s = arith.addf %acc, %p : f32
          affine.yield %s : f32
        }
        affine.store %1, %y[%i, %j, %n] : memref<7x7x48xf32>
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// Eight pixels of a column are 32 KiB apart and share a set of the cache, those of a row do not: of tiles that cost the same, the row's.
// CHECK-LABEL: func.func private @set_conflicts(
// CHECK: dlc.schedule = {code_generator = "tile", lane_loop = 3 : i64, {{.*}}unroll_and_jam = [array<i64: 2, 3>, array<i64: 1, 8>]
func.func private @set_conflicts(%x: memref<16x16x512xf32>, %w: memref<16x512x16xf32>, %y: memref<16x2x16x16x16xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  affine.for %h = 0 to 16 {
    affine.for %v = 0 to 16 {
      affine.for %b = 0 to 16 {
        affine.for %c = 0 to 16 {
          %s = affine.for %k = 0 to 512 iter_args(%acc = %zero) -> (f32) {
            %0 = affine.load %x[%h, %v, %k] : memref<16x16x512xf32>
            %1 = affine.load %w[%b, %k, %c] : memref<16x512x16xf32>
            %2 = arith.mulf %0, %1 : f32
            %3 = arith.addf %acc, %2 : f32
            affine.yield %3 : f32
          }
          affine.store %s, %y[%h, 0, %v, %b, %c] : memref<16x2x16x16x16xf32>
        } {dlc.parallel}
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  return
}
