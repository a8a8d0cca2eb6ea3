// RUN: dlc-opt %s --pass-pipeline='builtin.module(affine-outline-parallel{min-work=1000})' | filecheck %s
// The work of a loop whose bound is divided by no positive number is not known: affine maps give no meaning to that.

// CHECK-LABEL: func.func @divided
// CHECK: call @dlc_parallel_for
#map = affine_map<(d0) -> (d0 mod 0)>
func.func @divided(%y: memref<100x50xf32>, %x: f32) {
  affine.for %i = 0 to 100 {
    affine.for %j = 0 to #map(%i) {
      affine.store %x, %y[%i, %j] : memref<100x50xf32>
    }
  } {dlc.parallel}
  return
}
