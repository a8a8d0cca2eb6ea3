// RUN: dlc-opt %s --verify-diagnostics "--affine-check-legality=before=%S/Inputs/check_legality_doacross_before.mlir"
// Rows that follow each other column by column may not need a later column of the row before.

func.func @diagonal(%a: memref<16x16xf32>) {
  affine.for %r = 1 to 16 {
    affine.for %c = 0 to 15 {
      // expected-error @+1 {{at the same time as S0[r=1, c=1] (check_legality_doacross.mlir:9:7), which writes the %a[1, 1] that it reads (flow dependence, distance (1, -1))}}
      %x = affine.load %a[%r - 1, %c + 1] : memref<16x16xf32>
      affine.store %x, %a[%r, %c] : memref<16x16xf32>
    } {dlc.doacross = "columns"}
  } {dlc.doacross = "rows"}
  return
}
