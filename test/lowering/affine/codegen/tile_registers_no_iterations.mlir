// RUN: dlc-opt %s --split-input-file --affine-tile-registers='vector-bits=512 registers=32' | filecheck %s
// Loops whose upper bound lies below the lower one run no iteration: they are read as such, and take no time to choose tiles for.

// CHECK-LABEL: func.func private @outer
func.func private @outer(%x: memref<16x256xf32>, %w: memref<256x16xf32>, %y: memref<16x16xf32>) {
  affine.for %i = 0 to -9223372036854775808 {
    affine.for %n = 0 to 16 {
      %0 = affine.load %y[%i, %n] : memref<16x16xf32>
      %1 = affine.for %k = 0 to 256 iter_args(%acc = %0) -> (f32) {
        %u = affine.load %x[%i, %k] : memref<16x256xf32>
        %v = affine.load %w[%k, %n] : memref<256x16xf32>
        %m = arith.mulf %u, %v : f32
        %s = arith.addf %acc, %m : f32
        affine.yield %s : f32
      }
      affine.store %1, %y[%i, %n] : memref<16x16xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// -----

// CHECK-LABEL: func.func private @inner
func.func private @inner(%x: memref<768xf32> {llvm.noalias}, %w: memref<768x96xf32> {llvm.noalias}, %y: memref<96xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  affine.for %j = 0 to -1 {
    %0 = affine.for %k = 0 to 768 iter_args(%acc = %zero) -> (f32) {
      %u = affine.load %x[%k] : memref<768xf32>
      %v = affine.load %w[%k, %j] : memref<768x96xf32>
      %p = arith.mulf %u, %v : f32
      %s = arith.addf %acc, %p : f32
      affine.yield %s : f32
    }
    affine.store %0, %y[%j] : memref<96xf32>
  } {dlc.parallel}
  return
}

// -----

// CHECK-LABEL: func.func private @blocks
func.func private @blocks(%a: memref<10x6xf32>, %b: memref<6x8xf32>, %c: memref<10x8xf32>) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to -2147483648 {
    affine.for %j = 0 to 8 {
      %1 = affine.for %k = 0 to 6 iter_args(%acc = %zero) -> (f32) {
        %x = affine.load %a[%i, %k] : memref<10x6xf32>
        %y = affine.load %b[%k, %j] : memref<6x8xf32>
        %p = arith.mulf %x, %y : f32
        %s = arith.addf %acc, %p : f32
        affine.yield %s : f32
      }
      affine.store %1, %c[%i, %j] : memref<10x8xf32>
    } {dlc.parallel}
  } {dlc.parallel, dlc.schedule = {code_generator = "tile", unroll_and_jam = [array<i64: 0, 2>], lane_loop = 1 : i64, lanes = 4 : i64, blocks = [array<i64: 0, 4>]}}
  return
}
