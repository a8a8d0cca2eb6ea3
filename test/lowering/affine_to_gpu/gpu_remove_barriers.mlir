// RUN: dlc-opt %s --gpu-remove-barriers --split-input-file | filecheck %s
// It refuses nothing: what it does not understand stays.

// Threads read what they wrote themselves; of barriers that follow each other one is enough for what others wrote.
// CHECK-LABEL: func.func @own
// CHECK: affine.store %{{.*}}, %arg1[%{{.*}}]
// CHECK-NOT: gpu.barrier
// CHECK: affine.load %arg1[%[[X:.*]]]
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: affine.load %arg1[-%[[X]] + 31]
// CHECK-NOT: gpu.barrier
// CHECK: gpu.terminator
func.func @own(%A: memref<32xf32> {llvm.noalias}, %B: memref<32xf32> {llvm.noalias}, %C: memref<32xf32> {llvm.noalias}) {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%x, %y, %z) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %a = affine.load %A[%x] : memref<32xf32>
    affine.store %a, %B[%x] : memref<32xf32>
    gpu.barrier
    %b = affine.load %B[%x] : memref<32xf32>
    gpu.barrier
    gpu.barrier
    %c = affine.load %B[-%x + 31] : memref<32xf32>
    %d = arith.addf %b, %c : f32
    affine.store %d, %C[%x] : memref<32xf32>
    gpu.barrier
    gpu.terminator
  }
  return
}

// -----

// There is no match in a loop: an iteration must not overwrite what others still read of the one before.
// CHECK-LABEL: func.func @again
// CHECK: affine.for
// CHECK: affine.store %{{.*}}, %arg1
// CHECK: gpu.barrier
// CHECK: affine.load %arg1
// CHECK: gpu.barrier
// CHECK: }
func.func @again(%A: memref<8x32xf32> {llvm.noalias}, %B: memref<32xf32> {llvm.noalias}, %C: memref<8x32xf32> {llvm.noalias}) {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%x, %y, %z) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    affine.for %i = 0 to 8 {
      %a = affine.load %A[%i, %x] : memref<8x32xf32>
      affine.store %a, %B[%x] : memref<32xf32>
      gpu.barrier
      %b = affine.load %B[-%x + 31] : memref<32xf32>
      affine.store %b, %C[%i, %x] : memref<8x32xf32>
      gpu.barrier
    }
    gpu.terminator
  }
  return
}

// -----

// There is no match where a thread comes, in a later step of a loop around, to what another one has stored and reads.
// CHECK-LABEL: func.func @moving
// CHECK: affine.store %{{.*}}, %arg1
// CHECK: gpu.barrier
// CHECK: affine.load %arg1
// CHECK: gpu.barrier
// CHECK: }
// CHECK-LABEL: func.func @apart
// CHECK-NOT: gpu.barrier
// CHECK: return
func.func @moving(%A: memref<8x32xf32> {llvm.noalias}, %B: memref<40xf32> {llvm.noalias}, %C: memref<8x32xf32> {llvm.noalias}, %n: index) {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%x, %y, %z) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    affine.for %i = 0 to %n {
      %a = affine.load %A[%i, %x] : memref<8x32xf32>
      affine.store %a, %B[%x + %i] : memref<40xf32>
      gpu.barrier
      %b = affine.load %B[%x + %i] : memref<40xf32>
      affine.store %b, %C[%i, %x] : memref<8x32xf32>
      gpu.barrier
    }
    gpu.terminator
  }
  return
}
func.func @apart(%A: memref<8x32xf32> {llvm.noalias}, %B: memref<8x32xf32> {llvm.noalias}, %C: memref<8x32xf32> {llvm.noalias}, %n: index) {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%x, %y, %z) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    affine.for %i = 0 to %n {
      %a = affine.load %A[%i, %x] : memref<8x32xf32>
      affine.store %a, %B[%i, %x] : memref<8x32xf32>
      gpu.barrier
      %b = affine.load %B[%i, %x] : memref<8x32xf32>
      affine.store %b, %C[%i, %x] : memref<8x32xf32>
      gpu.barrier
    }
    gpu.terminator
  }
  return
}
