// RUN: dlc-opt %s "--affine-tile-windows=vector-bits=128 registers=16" --split-input-file | filecheck %s
// The tiles of windows with channels as lanes, where images are flat, and where they are wide. The pass refuses schedules only: see
// tile_windows_invalid.mlir. No match: tile_windows.mlir.

// Most of three rows are at a border: one row a tile, whose taps outside are left out by the bounds of their loop.
// CHECK-LABEL: func.func @few_rows(
// CHECK-SAME: %[[X:.*]]: memref<3x12x8xf32> {llvm.noalias}, %[[K:.*]]: memref<3x3x8xf32> {llvm.noalias}, %[[Y:.*]]: memref<3x12x8xf32> {llvm.noalias}
// CHECK: affine.for %[[H:.*]] = 0 to 3 {
// CHECK: affine.for %[[I:.*]] = max #{{.*}}(%[[H]]) to min #{{.*}}(%[[H]]) iter_args(
// The first column has no tap to its left.
// CHECK-COUNT-2: affine.vector_load %[[X]][%[[I]] + %[[H]] - 1, 0, {{[04]}}] : memref<3x12x8xf32>, vector<4xf32>
// CHECK: vector.fma
// CHECK: affine.vector_store %{{.*}}, %[[Y]][%[[H]], 0, 0]
// CHECK: affine.for %[[W:.*]] = 3 to 9 step 3 {
// CHECK: } {dlc.parallel, dlc.schedule = {code_generator = "windows", lane_loop = 2 : i64, lanes = 4 : i64, order = array<i64: 0, 1, 2>, unroll_and_jam = [array<i64: 1, 3>], vectors = 2 : i64}}
func.func @few_rows(%x: memref<3x12x8xf32> {llvm.noalias}, %k: memref<3x3x8xf32> {llvm.noalias}, %y: memref<3x12x8xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  %p = memref.alloc() : memref<5x14x8xf32>
  affine.for %h = 0 to 5 {
    affine.for %w = 0 to 14 {
      affine.for %c = 0 to 8 {
        affine.store %zero, %p[%h, %w, %c] : memref<5x14x8xf32>
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  %inside = memref.subview %p[1, 1, 0] [3, 12, 8] [1, 1, 1] : memref<5x14x8xf32> to memref<3x12x8xf32, strided<[112, 8, 1], offset: 120>>
  affine.for %h = 0 to 3 {
    affine.for %w = 0 to 12 {
      affine.for %c = 0 to 8 {
        %e = affine.load %x[%h, %w, %c] : memref<3x12x8xf32>
        affine.store %e, %inside[%h, %w, %c] : memref<3x12x8xf32, strided<[112, 8, 1], offset: 120>>
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  affine.for %h = 0 to 3 {
    affine.for %w = 0 to 12 {
      affine.for %c = 0 to 8 {
        %0 = affine.for %i = 0 to 3 iter_args(%a = %zero) -> (f32) {
          %1 = affine.for %j = 0 to 3 iter_args(%b = %a) -> (f32) {
            %e = affine.load %p[%h + %i, %w + %j, %c] : memref<5x14x8xf32>
            %t = affine.load %k[%i, %j, %c] : memref<3x3x8xf32>
            %m = arith.mulf %e, %t : f32
            %s = arith.addf %b, %m : f32
            affine.yield %s : f32
          }
          affine.yield %1 : f32
        }
        affine.store %0, %y[%h, %w, %c] : memref<3x12x8xf32>
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  memref.dealloc %p : memref<5x14x8xf32>
  return
}

// -----

// Four rows of all channels fall out of the first cache: channels go outermost.
// CHECK-LABEL: func.func @channels_outermost(
// CHECK: affine.for %[[C:.*]] = 0 to 16 step 8 {
// CHECK: affine.for %[[H:.*]] = 0 to 6 step 2 {
// CHECK: affine.for %[[W:.*]] = 0 to 10 step 2 {
// CHECK: dlc.schedule = {code_generator = "windows", {{.*}}order = array<i64: 2, 0, 1>, {{.*}}unroll_and_jam = [array<i64: 0, 2>, array<i64: 1, 2>]
module attributes {dlc.target = {l1_bytes = 1024 : i64, l2_bytes = 65536 : i64}} {
  func.func @channels_outermost(%x: memref<8x12x16xf32>, %k: memref<3x3x16xf32>, %y: memref<6x10x16xf32>) {
    %zero = arith.constant 0.0 : f32
    affine.for %h = 0 to 6 {
      affine.for %w = 0 to 10 {
        affine.for %c = 0 to 16 {
          %0 = affine.for %i = 0 to 3 iter_args(%a = %zero) -> (f32) {
            %1 = affine.for %j = 0 to 3 iter_args(%b = %a) -> (f32) {
              %e = affine.load %x[%h + %i, %w + %j, %c] : memref<8x12x16xf32>
              %t = affine.load %k[%i, %j, %c] : memref<3x3x16xf32>
              %m = arith.mulf %e, %t : f32
              %s = arith.addf %b, %m : f32
              affine.yield %s : f32
            }
            affine.yield %1 : f32
          }
          affine.store %0, %y[%h, %w, %c] : memref<6x10x16xf32>
        } {dlc.parallel}
      } {dlc.parallel}
    } {dlc.parallel}
    return
  }
}
