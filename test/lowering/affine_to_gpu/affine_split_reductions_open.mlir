// RUN: dlc-opt %s --affine-split-reductions --split-input-file | filecheck %s
// Sums whose length run time knows become one for each of the threads that a likely length takes, here two warps; the last step has fewer lanes.

// CHECK-DAG: #[[STEPS:.*]] = affine_map<()[s0] -> (s0 ceildiv 64)>
// CHECK-DAG: #[[LANES:.*]] = affine_map<(d0)[s0] -> (64, d0 * -64 + s0)>
// CHECK-DAG: #[[PLACE:.*]] = affine_map<(d0, d1) -> (d0 * 64 + d1)>
// CHECK-LABEL: func.func @rows
// CHECK: affine.for %[[I:.*]] = 0 to 64 {
// CHECK:   %[[P:.*]] = memref.alloca() : memref<64xf32>
// CHECK:   affine.for %[[Q:.*]] = 0 to #[[STEPS]]()
// CHECK:     affine.for %[[L:.*]] = 0 to min #[[LANES]](%[[Q]])
// CHECK:       %[[J:.*]] = affine.apply #[[PLACE]](%[[Q]], %[[L]])
// CHECK:       affine.load %arg0[%[[I]], %[[J]]]
// CHECK:   affine.for %{{.*}} = 0 to 64 iter_args
func.func @rows(%A: memref<64x?xf32>, %C: memref<64xf32>, %n: index) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 64 {
    %sum = affine.for %j = 0 to %n iter_args(%s = %zero) -> f32 {
      %a = affine.load %A[%i, %j] : memref<64x?xf32>
      %t = arith.addf %s, %a : f32
      affine.yield %t : f32
    }
    affine.store %sum, %C[%i] : memref<64xf32>
  }
  return
}

// -----

// no-match: a triangle has rows of other lengths each, and a column's neighbours are rows apart.
// CHECK-LABEL: func.func @others
// CHECK-NOT: memref.alloca
func.func @others(%A: memref<64x64xf32>, %B: memref<?x64xf32>, %C: memref<64xf32>, %n: index) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 64 {
    %sum = affine.for %j = 0 to affine_map<(d0) -> (d0)>(%i) iter_args(%s = %zero) -> f32 {
      %a = affine.load %A[%i, %j] : memref<64x64xf32>
      %t = arith.addf %s, %a : f32
      affine.yield %t : f32
    }
    %all = affine.for %j = 0 to %n iter_args(%s = %sum) -> f32 {
      %b = affine.load %B[%j, %i] : memref<?x64xf32>
      %t = arith.addf %s, %b : f32
      affine.yield %t : f32
    }
    affine.store %all, %C[%i] : memref<64xf32>
  }
  return
}
