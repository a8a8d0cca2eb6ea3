// RUN: dlc-opt %s "--affine-tile-windows=vector-bits=128 registers=16" | filecheck %s
// A loop of absurdly many iterations is cut into borders and a row of tiles without counting these.

// CHECK-LABEL: func.func @channels_outermost(
// CHECK: return
module attributes {dlc.target = {l1_bytes = 1024 : i64, l2_bytes = 65536 : i64}} {
  func.func @channels_outermost(%x: memref<8x12x16xf32>, %k: memref<3x3x16xf32>, %y: memref<6x10x16xf32>) {
    %zero = arith.constant 0.0 : f32
    affine.for %h = 0 to 6 {
      affine.for %w = 0 to 10 {
        affine.for %c = 0 to 4611686018427387904 {
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
