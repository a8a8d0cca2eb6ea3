// RUN: dlc-opt %s --verify-diagnostics "--affine-check-legality=before=%S/Inputs/check_legality_races_before.mlir"
// A loop that hands a value on from one iteration to the next has an order, though one order gives what it gave before.

func.func @prefix(%a: memref<16xf32>) {
  affine.parallel (%i) = (1) to (16) {
    // expected-error @+1 {{the change would run S0[i0=2] (check_legality_races.mlir:7:10) at the same time as S0[i0=1] (check_legality_races.mlir:8:5), which writes the %a[1] that it reads (flow dependence, distance (1))}}
    %x = affine.load %a[%i - 1] : memref<16xf32>
    affine.store %x, %a[%i] : memref<16xf32>
  }
  return
}
