// RUN: dlc-opt %s --dl-set-target=target=cpu:znver3 --affine-tile-registers --split-input-file | filecheck %s
// Tiles by the lines that they come to: with vectors of half a line those of a line are taken together. Refuses nothing.

// Two vectors from each block of 16 channels, although results are stored with their lanes apart.
// CHECK-LABEL: func.func private @blocks(
// CHECK: dlc.schedule = {code_generator = "tile", lane_loop = 2 : i64, lanes = 8 : i64, {{.*}}unroll_and_jam = [array<i64: 0, 6>]
// CHECK-SAME: vectors = 2
func.func private @blocks(%x: memref<192x196xf32>, %w: memref<4x192x16xf32>, %y: memref<4x16x196xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  affine.for %p = 0 to 196 {
    affine.for %b = 0 to 4 {
      affine.for %c = 0 to 16 {
        %s = affine.for %k = 0 to 192 iter_args(%acc = %zero) -> (f32) {
          %0 = affine.load %x[%k, %p] : memref<192x196xf32>
          %1 = affine.load %w[%b, %k, %c] : memref<4x192x16xf32>
          %2 = arith.mulf %0, %1 : f32
          %3 = arith.addf %acc, %2 : f32
          affine.yield %3 : f32
        }
        affine.store %s, %y[%b, %c, %p] : memref<4x16x196xf32>
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// -----

// Neighbouring pixels lie 4 KiB apart, so no tile of two rows by seven of them, whose lines share a set of eight, nor half of a line.
// CHECK-LABEL: func.func private @set_conflicts(
// CHECK-NOT: unroll_and_jam = [array<i64: 0, 2>, array<i64: 1, 7>]
// CHECK: dlc.schedule = {code_generator = "tile", lane_loop = 3 : i64, lanes = 8 : i64, {{.*}}unroll_and_jam = [array<i64: {{[01]}}, 4>]
// CHECK-SAME: vectors = 2
func.func private @set_conflicts(%x: memref<14x14x512xf32>, %w: memref<32x512x16xf32>, %y: memref<7x7x32x16xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  affine.for %h = 0 to 7 {
    affine.for %v = 0 to 7 {
      affine.for %b = 0 to 32 {
        affine.for %c = 0 to 16 {
          %s = affine.for %k = 0 to 512 iter_args(%acc = %zero) -> (f32) {
            %0 = affine.load %x[%h * 2, %v * 2, %k] : memref<14x14x512xf32>
            %1 = affine.load %w[%b, %k, %c] : memref<32x512x16xf32>
            %2 = arith.mulf %0, %1 : f32
            %3 = arith.addf %acc, %2 : f32
            affine.yield %3 : f32
          }
          affine.store %s, %y[%h, %v, %b, %c] : memref<7x7x32x16xf32>
        } {dlc.parallel}
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// -----

// no-match: 20 channels, stored apart, are no whole number of pairs of vectors; the lanes are pixels.
// CHECK-LABEL: func.func private @partial(
// CHECK: dlc.schedule = {code_generator = "tile", {{.*}}lanes = 8 : i64
// CHECK-NOT: lane_loop = 1
func.func private @partial(%x: memref<192x196xf32>, %w: memref<192x20xf32>, %y: memref<20x196xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  affine.for %p = 0 to 196 {
    affine.for %c = 0 to 20 {
      %s = affine.for %k = 0 to 192 iter_args(%acc = %zero) -> (f32) {
        %0 = affine.load %x[%k, %p] : memref<192x196xf32>
        %1 = affine.load %w[%k, %c] : memref<192x20xf32>
        %2 = arith.mulf %0, %1 : f32
        %3 = arith.addf %acc, %2 : f32
        affine.yield %3 : f32
      }
      affine.store %s, %y[%c, %p] : memref<20x196xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}
