// RUN: dlc-opt %s --gpu-shuffle-reductions --split-input-file | filecheck %s
// It refuses nothing: what does not fit stays.

// The first thread of each warp added 32 numbers: now all lanes exchange theirs.
// CHECK-LABEL: func.func @rows
// CHECK: threads(%[[X:.*]], %[[Y:.*]], %{{.*}}) in
// CHECK: %[[OWN:.*]] = affine.load %{{.*}}[%[[Y]], %[[X]]]
// CHECK: %[[OTHER:.*]], %{{.*}} = gpu.shuffle xor %[[OWN]], %c16_i32, %c32_i32 : f32
// CHECK: arith.addf %[[OWN]], %[[OTHER]]
// CHECK-COUNT-4: gpu.shuffle xor
// CHECK: %[[SUM:.*]] = arith.addf
// CHECK: affine.if
// CHECK-NOT: affine.for
// CHECK: %[[R:.*]] = arith.addf %arg1, %[[SUM]]
// CHECK: affine.store %[[R]], %arg0[%[[Y]]]
func.func @rows(%C: memref<2xf32>, %init: f32) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %P = gpu.alloc() : memref<2x32xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%x, %y, %z) in (%sx = %c32, %sy = %c2, %sz = %c1) {
    affine.if affine_set<(d0) : (d0 == 0)>(%x) {
      %sum = affine.for %l = 0 to 32 iter_args(%s = %init) -> f32 {
        %p = affine.load %P[%y, %l] : memref<2x32xf32>
        %t = arith.addf %s, %p : f32
        affine.yield %t : f32
      }
      affine.store %sum, %C[%y] : memref<2xf32>
    }
    gpu.terminator
  }
  return
}

// -----

// no-match: a block's rows of 16 threads share warps.
// CHECK-LABEL: func.func @narrow
// CHECK-NOT: gpu.shuffle
func.func @narrow(%C: memref<2xf32>, %init: f32) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  %P = gpu.alloc() : memref<2x32xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%x, %y, %z) in (%sx = %c16, %sy = %c2, %sz = %c1) {
    affine.if affine_set<(d0) : (d0 == 0)>(%x) {
      %sum = affine.for %l = 0 to 32 iter_args(%s = %init) -> f32 {
        %p = affine.load %P[%y, %l] : memref<2x32xf32>
        %t = arith.addf %s, %p : f32
        affine.yield %t : f32
      }
      affine.store %sum, %C[%y] : memref<2xf32>
    }
    gpu.terminator
  }
  return
}
