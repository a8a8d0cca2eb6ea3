// RUN: dlc-opt %s "--affine-tile-windows=vector-bits=128 registers=16" | filecheck %s
// A padded copy turns an image whose channels lie side by side: lanes along its rows are neighbours in the copy, not in the image, so
// that they come from the copy. The pass refuses schedules only (tile_windows_invalid.mlir); no match: tile_windows.mlir.

// CHECK-LABEL: func.func @turned(
// CHECK-SAME: %[[X:.*]]: memref<16x16x4xf32> {llvm.noalias}
// CHECK: %[[P:.*]] = memref.alloc() : memref<4x18x18xf32>
// CHECK: affine.load %[[X]][%{{.*}}, %{{.*}}, %{{.*}}] : memref<16x16x4xf32>
// CHECK-NOT: %[[X]][
// CHECK: affine.vector_load %[[P]][%{{.*}}, %{{.*}}, {{[0-9]+}}] : memref<4x18x18xf32>, vector<4xf32>
// CHECK-NOT: %[[X]][
// CHECK: return
func.func @turned(%x: memref<16x16x4xf32> {llvm.noalias}, %k: memref<4x3x3xf32> {llvm.noalias}, %y: memref<4x16x16xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  %p = memref.alloc() : memref<4x18x18xf32>
  affine.for %c = 0 to 4 {
    affine.for %h = 0 to 18 {
      affine.for %w = 0 to 18 {
        affine.store %zero, %p[%c, %h, %w] : memref<4x18x18xf32>
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  affine.for %c = 0 to 4 {
    affine.for %h = 0 to 16 {
      affine.for %w = 0 to 16 {
        %e = affine.load %x[%h, %w, %c] : memref<16x16x4xf32>
        affine.store %e, %p[%c, %h + 1, %w + 1] : memref<4x18x18xf32>
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  affine.for %c = 0 to 4 {
    affine.for %h = 0 to 16 {
      affine.for %w = 0 to 16 {
        %0 = affine.for %i = 0 to 3 iter_args(%a = %zero) -> (f32) {
          %1 = affine.for %j = 0 to 3 iter_args(%b = %a) -> (f32) {
            %e = affine.load %p[%c, %h + %i, %w + %j] : memref<4x18x18xf32>
            %f = affine.load %k[%c, %i, %j] : memref<4x3x3xf32>
            %t = arith.mulf %e, %f : f32
            %s = arith.addf %b, %t : f32
            affine.yield %s : f32
          }
          affine.yield %1 : f32
        }
        affine.store %0, %y[%c, %h, %w] : memref<4x16x16xf32>
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  return
}
