// RUN: dlc-opt %s --dl-set-target=target=cpu:sapphirerapids --affine-tile-registers | filecheck %s
// Subscripts with symbols. Refuses nothing.

// no-match: where rows start is a symbol, which the place of the next ones is not made with.
// CHECK-LABEL: func.func private @from_a_symbol(
// CHECK-NOT: fetch_rows
// CHECK: return
func.func private @from_a_symbol(%x: memref<8192x128xf32> {llvm.noalias}, %at: index, %w: memref<10x128x48xf32> {llvm.noalias},
                                 %y: memref<16x480xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 16 {
    affine.for %j = 0 to 480 {
      %0 = affine.for %k = 0 to 128 iter_args(%acc = %zero) -> (f32) {
        %u = affine.load %x[%i + symbol(%at), %k] : memref<8192x128xf32>
        %v = affine.load %w[%j floordiv 48, %k, %j mod 48] : memref<10x128x48xf32>
        %p = arith.mulf %u, %v : f32
        %s = arith.addf %acc, %p : f32
        affine.yield %s : f32
      }
      affine.store %0, %y[%i, %j] : memref<16x480xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}
