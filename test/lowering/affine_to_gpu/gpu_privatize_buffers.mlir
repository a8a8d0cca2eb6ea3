// RUN: dlc-opt %s --gpu-privatize-buffers --split-input-file | filecheck %s
// It refuses nothing: what does not fit stays.

// A number for each thread, and one for each row, which all lanes compute where one did.
// CHECK-LABEL: func.func @rows
// CHECK-NOT: gpu.alloc
// CHECK: gpu.launch
// CHECK: %[[OF_ROW:.*]] = memref.alloca() : memref<1xf32>
// CHECK: %[[OWN:.*]] = memref.alloca() : memref<1xf32>
// CHECK: affine.store %{{.*}}, %[[OWN]][0]
// CHECK: gpu.barrier
// CHECK: affine.load %[[OWN]][0]
// CHECK: %[[SUM:.*]] = arith.addf %{{.*}} {dlc.uniform}
// CHECK-NOT: affine.if
// CHECK: affine.store %[[SUM]], %[[OF_ROW]][0]
// CHECK: gpu.barrier
// CHECK: %[[R:.*]] = affine.load %[[OF_ROW]][0]
// CHECK: affine.store %[[R]], %arg1[%{{.*}}, %{{.*}}]
// CHECK-NOT: gpu.dealloc
func.func @rows(%A: memref<4x32xf32> {llvm.noalias}, %C: memref<4x32xf32> {llvm.noalias}) {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  %P = gpu.alloc() : memref<4x32xf32>
  %R = gpu.alloc() : memref<4xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%x, %y, %z) in (%sx = %c32, %sy = %c4, %sz = %c1) {
    %a = affine.load %A[%y, %x] : memref<4x32xf32>
    affine.store %a, %P[%y, %x] : memref<4x32xf32>
    gpu.barrier
    %p = affine.load %P[%y, %x] : memref<4x32xf32>
    %sum = arith.addf %p, %p {dlc.uniform} : f32
    affine.if affine_set<(d0) : (d0 == 0)>(%x) {
      affine.store %sum, %R[%y] : memref<4xf32>
    }
    gpu.barrier
    %r = affine.load %R[%y] : memref<4xf32>
    affine.store %r, %C[%y, %x] : memref<4x32xf32>
    gpu.terminator
  }
  gpu.dealloc %P : memref<4x32xf32>
  gpu.dealloc %R : memref<4xf32>
  return
}

// -----

// no-match: a lane reads what another one wrote; and what the first lane stores, others do not have.
// CHECK-LABEL: func.func @shared
// CHECK-COUNT-2: gpu.alloc
// CHECK-NOT: memref.alloca
// CHECK: affine.if
func.func @shared(%A: memref<4x32xf32> {llvm.noalias}, %C: memref<4x32xf32> {llvm.noalias}) {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  %P = gpu.alloc() : memref<4x32xf32>
  %R = gpu.alloc() : memref<4xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%x, %y, %z) in (%sx = %c32, %sy = %c4, %sz = %c1) {
    %a = affine.load %A[%y, %x] : memref<4x32xf32>
    affine.store %a, %P[%y, %x] : memref<4x32xf32>
    gpu.barrier
    %p = affine.load %P[%y, -%x + 31] : memref<4x32xf32>
    affine.if affine_set<(d0) : (d0 == 0)>(%x) {
      affine.store %p, %R[%y] : memref<4xf32>
    }
    gpu.barrier
    %r = affine.load %R[%y] : memref<4xf32>
    affine.store %r, %C[%y, %x] : memref<4x32xf32>
    gpu.terminator
  }
  gpu.dealloc %P : memref<4x32xf32>
  gpu.dealloc %R : memref<4xf32>
  return
}
