// RUN: dlc-opt %s "--affine-tile-registers=vector-bits=512 registers=32" | filecheck %s
// The last block of columns is filled up in memory, so tiles read whole vectors of it. Refuses nothing.

// CHECK-LABEL: func.func private @filled(
// CHECK-NOT: vector.maskedload
// CHECK: affine.vector_load %{{.*}} : memref<2x64x48xf32>, vector<16xf32>
// CHECK: vector.maskedstore
// CHECK: return
func.func private @filled(%x: memref<8x64xf32>, %w: memref<2x64x48xf32>, %y: memref<8x90xf32>) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 8 {
    affine.for %j = 0 to 90 {
      %1 = affine.for %k = 0 to 64 iter_args(%acc = %zero) -> (f32) {
        %a = affine.load %x[%i, %k] : memref<8x64xf32>
        %b = affine.load %w[%j floordiv 48, %k, %j mod 48] : memref<2x64x48xf32>
        %m = arith.mulf %a, %b : f32
        %s = arith.addf %acc, %m : f32
        affine.yield %s : f32
      }
      affine.store %1, %y[%i, %j] : memref<8x90xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// no-match: rows that end where their columns do.
// CHECK-LABEL: func.func private @whole(
// CHECK: vector.maskedload
// CHECK: return
func.func private @whole(%x: memref<8x64xf32>, %w: memref<64x90xf32>, %y: memref<8x90xf32>) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 8 {
    affine.for %j = 0 to 90 {
      %1 = affine.for %k = 0 to 64 iter_args(%acc = %zero) -> (f32) {
        %a = affine.load %x[%i, %k] : memref<8x64xf32>
        %b = affine.load %w[%k, %j] : memref<64x90xf32>
        %m = arith.mulf %a, %b : f32
        %s = arith.addf %acc, %m : f32
        affine.yield %s : f32
      }
      affine.store %1, %y[%i, %j] : memref<8x90xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}
