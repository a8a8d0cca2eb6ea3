// RUN: dlc-opt %s "--affine-tile-registers=vector-bits=512 registers=32" | filecheck %s
// The order of the loops over tiles, on a machine with 48 KiB of L1 and 2 MiB of L2.

module attributes {dlc.target = {l1_bytes = 49152 : i64, l2_bytes = 2097152 : i64}} {

// Rows of one position stay in L1 either way; with panels of columns outside, the next one is fetched ahead.
// CHECK-LABEL: func.func private @positions(
// CHECK: dlc.schedule = {code_generator = "tile", {{.*}}lane_loop = 3 : i64, {{.*}}order = array<i64: 0, 2, 1, 3>, prefetch = 2 : i64
func.func private @positions(%x: memref<16x49x256xf32>, %w: memref<16x16x256x16xf32>, %y: memref<16x49x16x16xf32>) {
  affine.for %p = 0 to 16 {
    affine.for %i = 0 to 49 {
      affine.for %b = 0 to 16 {
        affine.for %n = 0 to 16 {
          %0 = affine.load %y[%p, %i, %b, %n] : memref<16x49x16x16xf32>
          %1 = affine.for %k = 0 to 256 iter_args(%acc = %0) -> (f32) {
            %u = affine.load %x[%p, %i, %k] : memref<16x49x256xf32>
            %v = affine.load %w[%p, %b, %k, %n] : memref<16x16x256x16xf32>
            %m = arith.mulf %u, %v : f32
            %s = arith.addf %acc, %m : f32
            affine.yield %s : f32
          }
          affine.store %1, %y[%p, %i, %b, %n] : memref<16x49x16x16xf32>
        } {dlc.parallel}
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// One row has no loop to copy: as many vectors that sums do not wait for each other.
// CHECK-LABEL: func.func private @row(
// CHECK: step 192
// CHECK: dlc.schedule = {code_generator = "tile", lanes = 16 : i64, order = array<i64: 0>, unroll = 4 : i64, vectors = 12 : i64}
func.func private @row(%x: memref<256xf32>, %w: memref<16x256x48xf32>, %y: memref<768xf32>) {
  %zero = arith.constant 0.0 : f32
  affine.for %n = 0 to 768 {
    %0 = affine.for %k = 0 to 256 iter_args(%acc = %zero) -> (f32) {
      %u = affine.load %x[%k] : memref<256xf32>
      %v = affine.load %w[%n floordiv 48, %k, %n mod 48] : memref<16x256x48xf32>
      %m = arith.mulf %u, %v : f32
      %s = arith.addf %acc, %m : f32
      affine.yield %s : f32
    }
    affine.store %0, %y[%n] : memref<768xf32>
  } {dlc.parallel}
  return
}

}
