// RUN: dlc-opt %s --affine-demote-values --split-input-file --verify-diagnostics
// Values that are no data: memory, and indices that bounds need.

func.func @memrefs(%a: memref<8xf32>, %b: memref<8xf32>, %n: index) {
  // expected-error @below {{'affine.if' has memrefs among its results; choose among elements instead}}
  %c = affine.if affine_set<(d0) : (d0 >= 0)>(%n) -> memref<8xf32> {
    affine.yield %a : memref<8xf32>
  } else {
    affine.yield %b : memref<8xf32>
  }
  return
}

// -----

func.func @bound(%a: memref<8xf32>, %x: f32, %n: index) {
  %small = arith.constant 4 : index
  // expected-error @below {{a bound or subscript depends on a value that it computes; keep this nest out of the affine passes}}
  %c = affine.if affine_set<(d0) : (d0 >= 0)>(%n) -> index {
    affine.yield %small : index
  } else {
    affine.yield %n : index
  }
  affine.for %i = 0 to %c {
    affine.store %x, %a[%i] : memref<8xf32>
  }
  return
}
