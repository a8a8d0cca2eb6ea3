// RUN: dlc-opt %s "--affine-tile-windows=vector-bits=128 registers=16" | filecheck %s
// A number without axes, as the scale that a model computes for quantised images, goes to all lanes. The pass refuses schedules only
// (tile_windows_invalid.mlir); no match: tile_windows.mlir.

// CHECK-LABEL: func.func @scaled(
// CHECK-SAME: %[[X:.*]]: memref<14x14x8xi32> {llvm.noalias}, %[[K:.*]]: memref<3x3x8xi32> {llvm.noalias}, %[[S:.*]]: memref<f32>
// CHECK: affine.vector_load %[[X]]
// CHECK: arith.addi %{{.*}} : vector<4xi32>
// CHECK: %[[WIDE:.*]] = arith.sitofp %{{.*}} : vector<4xi32> to vector<4xf32>
// CHECK: %[[SCALE:.*]] = affine.load %[[S]][] : memref<f32>
// CHECK: %[[ALL:.*]] = vector.broadcast %[[SCALE]] : f32 to vector<4xf32>
// CHECK: arith.mulf %[[WIDE]], %[[ALL]] : vector<4xf32>
func.func @scaled(%x: memref<14x14x8xi32> {llvm.noalias}, %k: memref<3x3x8xi32> {llvm.noalias}, %s: memref<f32> {llvm.noalias}, %y: memref<12x12x8xf32> {llvm.noalias}) {
  %zero = arith.constant 0 : i32
  affine.for %h = 0 to 12 {
    affine.for %w = 0 to 12 {
      affine.for %c = 0 to 8 {
        %0 = affine.for %i = 0 to 3 iter_args(%a = %zero) -> (i32) {
          %1 = affine.for %j = 0 to 3 iter_args(%b = %a) -> (i32) {
            %e = affine.load %x[%h + %i, %w + %j, %c] : memref<14x14x8xi32>
            %f = affine.load %k[%i, %j, %c] : memref<3x3x8xi32>
            %p = arith.muli %e, %f : i32
            %t = arith.addi %b, %p : i32
            affine.yield %t : i32
          }
          affine.yield %1 : i32
        }
        %wide = arith.sitofp %0 : i32 to f32
        %scale = affine.load %s[] : memref<f32>
        %r = arith.mulf %wide, %scale : f32
        affine.store %r, %y[%h, %w, %c] : memref<12x12x8xf32>
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  return
}
