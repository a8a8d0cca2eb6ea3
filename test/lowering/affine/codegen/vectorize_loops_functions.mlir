// RUN: dlc-opt %s --affine-vectorize-loops --split-input-file --verify-diagnostics | filecheck %s
// Functions are long chains of instructions: several vectors side by side fill the time, as far as registers hold them.
// Refuses nothing: a body without functions, or with loops, is weighed as before.

// The gates of a recurrent layer wait for three functions, one after the other.
// CHECK-LABEL: func.func @gates(
// CHECK:         affine.for %{{.*}} = 0 to 128 step 64 {
// CHECK-COUNT-4:   math.exp %{{.*}} : vector<16xf32>
// CHECK-COUNT-8:   math.tanh %{{.*}} : vector<16xf32>
// CHECK-NOT:       math
// CHECK:         }
module attributes {dlc.target = {features = ["avx512f", "fma"]}} {
  func.func @gates(%x: memref<128xf32>, %y: memref<128xf32>, %z: memref<128xf32>) {
    affine.for %i = 0 to 128 {
      %0 = affine.load %x[%i] : memref<128xf32>
      %1 = affine.load %y[%i] : memref<128xf32>
      %2 = math.exp %0 : f32
      %3 = arith.addf %2, %1 : f32
      %4 = math.tanh %3 : f32
      %5 = math.tanh %4 : f32
      affine.store %5, %z[%i] : memref<128xf32>
    } {dlc.parallel}
    return
  }
}

// -----

// A core with a larger scheduler sees the next vectors by itself.
// CHECK-LABEL: func.func @far_ahead(
// CHECK:         affine.for %{{.*}} = 0 to 128 step 16 {
// CHECK:         }
module attributes {dlc.target = {features = ["avx512f", "fma"], scheduler_entries = 1000 : i64}} {
  func.func @far_ahead(%x: memref<128xf32>, %y: memref<128xf32>) {
    affine.for %i = 0 to 128 {
      %0 = affine.load %x[%i] : memref<128xf32>
      %1 = math.tanh %0 : f32
      affine.store %1, %y[%i] : memref<128xf32>
    } {dlc.parallel}
    return
  }
}

// -----

// no-match: a product waits for nothing that the next vectors would not, too.
// CHECK-LABEL: func.func @scaled(
// CHECK:         affine.for %{{.*}} = 0 to 128 step 16 {
// CHECK:         }
module attributes {dlc.target = {features = ["avx512f", "fma"]}} {
  func.func @scaled(%x: memref<128xf32>, %y: memref<128xf32>) {
    affine.for %i = 0 to 128 {
      %0 = affine.load %x[%i] : memref<128xf32>
      %1 = arith.mulf %0, %0 : f32
      affine.store %1, %y[%i] : memref<128xf32>
    } {dlc.parallel}
    return
  }
}
