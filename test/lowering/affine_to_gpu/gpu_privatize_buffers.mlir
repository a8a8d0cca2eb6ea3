// RUN: dlc-opt %s --gpu-privatize-buffers --split-input-file | filecheck %s
// It refuses nothing: what does not fit stays.

// Each thread has its own element of P; that of S is the same for all lanes of a warp.
// CHECK-LABEL: func.func @own
// CHECK-NOT: gpu.alloc
// CHECK: gpu.launch
// CHECK: %[[S:.*]] = memref.alloca() : memref<f32>
// CHECK: %[[P:.*]] = memref.alloca() : memref<f32>
// CHECK-NOT: affine.if
// CHECK: affine.store %arg1, %[[S]][]
// CHECK: %[[V:.*]] = affine.load %[[S]][]
// CHECK: affine.store %[[V]], %[[P]][]
func.func @own(%C: memref<2x32xf32>, %init: f32) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %P = gpu.alloc() : memref<2x32xf32>
  %S = gpu.alloc() : memref<2xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%x, %y, %z) in (%sx = %c32, %sy = %c2, %sz = %c1) {
    affine.if affine_set<(d0) : (d0 == 0)>(%x) {
      affine.store %init, %S[%y] : memref<2xf32>
    }
    gpu.barrier
    %v = affine.load %S[%y] : memref<2xf32>
    affine.store %v, %P[%y, %x] : memref<2x32xf32>
    %p = affine.load %P[%y, %x] : memref<2x32xf32>
    affine.store %p, %C[%y, %x] : memref<2x32xf32>
    gpu.terminator
  }
  gpu.dealloc %P : memref<2x32xf32>
  gpu.dealloc %S : memref<2xf32>
  return
}

// -----

// no-match: a thread reads what its neighbour wrote, and what is written once for a warp differs by lane.
// CHECK-LABEL: func.func @shared
// CHECK-COUNT-2: gpu.alloc
// CHECK-NOT: memref.alloca
func.func @shared(%A: memref<32xf32>, %C: memref<2x32xf32>) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %P = gpu.alloc() : memref<2x32xf32>
  %S = gpu.alloc() : memref<2xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%x, %y, %z) in (%sx = %c32, %sy = %c2, %sz = %c1) {
    %a = affine.load %A[%x] : memref<32xf32>
    affine.store %a, %P[%y, %x] : memref<2x32xf32>
    affine.if affine_set<(d0) : (d0 == 0)>(%x) {
      affine.store %a, %S[%y] : memref<2xf32>
    }
    gpu.barrier
    %v = affine.load %S[%y] : memref<2xf32>
    %p = affine.load %P[%y, 31 - %x] : memref<2x32xf32>
    %s = arith.addf %v, %p : f32
    affine.store %s, %C[%y, %x] : memref<2x32xf32>
    gpu.terminator
  }
  return
}
