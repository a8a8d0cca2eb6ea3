// RUN: dlc-opt %s --gpu-keep-accesses --split-input-file | filecheck %s
// It refuses nothing: what does not fit stays.

// Loads of two loops: all first ones, then both loops written out, of numbers that the thread has.
// CHECK-LABEL: func.func @loads
// CHECK: %[[OWN:.*]] = memref.alloca() : memref<8xf32>
// CHECK: %[[A:.*]] = affine.vector_load %arg0[%{{.*}} * 128 + %{{.*}} * 4]
// CHECK: affine.vector_store %[[A]], %[[OWN]][%{{.*}} * 4]
// CHECK: affine.vector_load %arg0
// CHECK-NOT: affine.vector_load %arg0
// CHECK-COUNT-4: affine.vector_load %[[OWN]][%{{.*}} * 4]
// CHECK-NOT: affine.for
func.func @loads(%A: memref<256xf32> {llvm.noalias}, %B: memref<256xf32> {llvm.noalias}, %C: memref<256xf32> {llvm.noalias}) {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%x, %y, %z) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    affine.for %q = 0 to 2 {
      %a = affine.vector_load %A[128 * %q + 4 * %x] : memref<256xf32>, vector<4xf32>
      affine.vector_store %a, %B[128 * %q + 4 * %x] : memref<256xf32>, vector<4xf32>
    }
    gpu.barrier
    affine.for %p = 0 to 2 {
      %a = affine.vector_load %A[4 * %x + 128 * %p] : memref<256xf32>, vector<4xf32>
      affine.vector_store %a, %C[128 * %p + 4 * %x] : memref<256xf32>, vector<4xf32>
    }
    gpu.terminator
  }
  return
}

// -----

// A store that the same thread overwrites, and the load in between.
// CHECK-LABEL: func.func @stores
// CHECK: %[[OWN:.*]] = memref.alloca() : memref<1xf32>
// CHECK: affine.if
// CHECK: affine.store %{{.*}}, %[[OWN]][0]
// CHECK-NOT: %arg1
// CHECK: affine.if
// CHECK: %[[B:.*]] = affine.load %[[OWN]][0]
// CHECK: %[[S:.*]] = arith.addf %[[B]], %[[B]]
// CHECK: affine.store %[[S]], %arg1[%{{.*}}]
func.func @stores(%A: memref<30xf32> {llvm.noalias}, %B: memref<30xf32> {llvm.noalias}) {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%x, %y, %z) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    affine.if affine_set<(d0) : (29 - d0 >= 0)>(%x) {
      %a = affine.load %A[%x] : memref<30xf32>
      affine.store %a, %B[%x] : memref<30xf32>
    }
    affine.if affine_set<(d0) : (29 - d0 >= 0)>(%x) {
      %b = affine.load %B[%x] : memref<30xf32>
      %s = arith.addf %b, %b : f32
      affine.store %s, %B[%x] : memref<30xf32>
    }
    gpu.terminator
  }
  return
}

// -----

// no-match: another thread writes what is read again; memory that may be the same is written.
// CHECK-LABEL: func.func @others
// CHECK-NOT: memref.alloca
func.func @others(%A: memref<32xf32> {llvm.noalias}, %B: memref<32xf32>, %C: memref<32xf32>) {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%x, %y, %z) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %a = affine.load %A[%x] : memref<32xf32>
    %b = affine.load %B[%x] : memref<32xf32>
    gpu.barrier
    affine.store %b, %A[-%x + 31] : memref<32xf32>
    affine.store %a, %C[%x] : memref<32xf32>
    gpu.barrier
    %c = affine.load %A[%x] : memref<32xf32>
    %d = affine.load %B[%x] : memref<32xf32>
    %s = arith.addf %c, %d : f32
    affine.store %s, %C[%x] : memref<32xf32>
    gpu.terminator
  }
  return
}

// -----

// no match: no GPU runs blocks of so many threads.
// CHECK-LABEL: func.func @too_large
// CHECK-COUNT-2: affine.load %arg0
func.func @too_large(%A: memref<32xf32> {llvm.noalias}, %B: memref<32xf32> {llvm.noalias}) {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %many = arith.constant 4611686018427387904 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%x, %y, %z) in (%sx = %c32, %sy = %many, %sz = %many) {
    %a = affine.load %A[%x] : memref<32xf32>
    %b = affine.load %A[%x] : memref<32xf32>
    %s = arith.addf %a, %b : f32
    affine.store %s, %B[%x] : memref<32xf32>
    gpu.terminator
  }
  return
}

// -----

// no match: nor of less than one.
// CHECK-LABEL: func.func @negative
// CHECK-COUNT-2: affine.load %arg0
func.func @negative(%A: memref<32xf32> {llvm.noalias}, %B: memref<32xf32> {llvm.noalias}) {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %less = arith.constant -1 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%x, %y, %z) in (%sx = %c32, %sy = %less, %sz = %c1) {
    %a = affine.load %A[%x] : memref<32xf32>
    %b = affine.load %A[%x] : memref<32xf32>
    %s = arith.addf %a, %b : f32
    affine.store %s, %B[%x] : memref<32xf32>
    gpu.terminator
  }
  return
}
