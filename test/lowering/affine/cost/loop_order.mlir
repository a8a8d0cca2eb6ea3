// RUN: dlc-opt %s --dl-set-target=target=cpu:sapphirerapids "--affine-tile-registers=vector-bits=512 registers=32" | filecheck %s
// A panel that nothing fetches ahead is waited for; what is read again within L2 comes while products are computed.

// 196 rows: all tiles of a panel follow each other, so that the next panel is fetched meanwhile.
// CHECK-LABEL: func.func private @usual(
// CHECK: order = array<i64: 0, 2, 1, 3>, prefetch = 2
func.func private @usual(%x: memref<16x?x256xf32> {dl.dims = ["", "d0", ""], llvm.noalias}, %w: memref<16x8x256x32xf32> {llvm.noalias}, %y: memref<16x?x8x32xf32> {dl.dims = ["", "d0", "", ""], llvm.noalias}) attributes {dl.kernel, dl.usual = {d0 = 196}} {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %n = memref.dim %x, %c1 : memref<16x?x256xf32>
  affine.for %p = 0 to 16 {
    affine.for %i = 0 to %n {
      affine.for %b = 0 to 8 {
        affine.for %j = 0 to 32 {
          %s = affine.for %k = 0 to 256 iter_args(%t = %zero) -> (f32) {
            %l = affine.load %x[%p, %i, %k] : memref<16x?x256xf32>
            %r = affine.load %w[%p, %b, %k, %j] : memref<16x8x256x32xf32>
            %m = arith.mulf %l, %r : f32
            %u = arith.addf %t, %m : f32
            affine.yield %u : f32
          }
          affine.store %s, %y[%p, %i, %b, %j] : memref<16x?x8x32xf32>
        } {dlc.parallel}
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// no-match: for 4096 rows the wait is short beside what rows that come again from L2 take.
// CHECK-LABEL: func.func private @many(
// CHECK: order = array<i64: 0, 1, 2, 3>
func.func private @many(%x: memref<16x?x256xf32> {dl.dims = ["", "d0", ""], llvm.noalias}, %w: memref<16x8x256x32xf32> {llvm.noalias}, %y: memref<16x?x8x32xf32> {dl.dims = ["", "d0", "", ""], llvm.noalias}) attributes {dl.kernel, dl.usual = {d0 = 4096}} {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %n = memref.dim %x, %c1 : memref<16x?x256xf32>
  affine.for %p = 0 to 16 {
    affine.for %i = 0 to %n {
      affine.for %b = 0 to 8 {
        affine.for %j = 0 to 32 {
          %s = affine.for %k = 0 to 256 iter_args(%t = %zero) -> (f32) {
            %l = affine.load %x[%p, %i, %k] : memref<16x?x256xf32>
            %r = affine.load %w[%p, %b, %k, %j] : memref<16x8x256x32xf32>
            %m = arith.mulf %l, %r : f32
            %u = arith.addf %t, %m : f32
            affine.yield %u : f32
          }
          affine.store %s, %y[%p, %i, %b, %j] : memref<16x?x8x32xf32>
        } {dlc.parallel}
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  return
}
