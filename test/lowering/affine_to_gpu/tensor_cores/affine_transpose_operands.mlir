// RUN: dlc-opt %s --dl-set-target=target=gpu:sm_90 --affine-transpose-operands=tf32=true --split-input-file | filecheck %s
// RUN: dlc-opt %s --dl-set-target=target=gpu:sm_90 --affine-transpose-operands --split-input-file | filecheck %s --check-prefix=EXACT
// RUN: dlc-opt %s --dl-set-target=target=gpu:sm_90 --affine-transpose-operands=tf32=true --convert-contractions-to-mma=tf32=true --split-input-file | filecheck %s --check-prefix=KERNEL
// An operand of tf32 whose rows lie across the sum is copied first. The pass refuses nothing.

// EXACT-NOT: memref.alloc
// KERNEL: nvgpu.tma.create.descriptor
// KERNEL: nvvm.wgmma.mma_async{{.*}}tf32

// CHECK-LABEL: func.func @across
// CHECK-SAME: %[[A:arg0]]: memref<4096x4096xf32> {llvm.noalias}, %[[B:arg1]]: memref<4096x2048xf32> {llvm.noalias}
// CHECK: %[[T:.*]] = memref.alloc() : memref<2048x4096xf32>
// CHECK: affine.for %[[J:.*]] = 0 to 2048
// CHECK: affine.for %[[K:.*]] = 0 to 4096
// CHECK: %[[V:.*]] = affine.load %[[B]][%[[K]], %[[J]]]
// CHECK: affine.store %[[V]], %[[T]][%[[J]], %[[K]]]
// CHECK: affine.for %[[I:.*]] = 0 to 4096
// CHECK: affine.for %[[N:.*]] = 0 to 2048
// CHECK: affine.for %[[S:.*]] = 0 to 4096 iter_args
// CHECK-DAG: affine.load %[[A]][%[[I]], %[[S]]]
// CHECK-DAG: affine.load %[[T]][%[[N]], %[[S]]]
// CHECK: memref.dealloc %[[T]]
func.func @across(%A: memref<4096x4096xf32> {llvm.noalias}, %B: memref<4096x2048xf32> {llvm.noalias}, %C: memref<4096x2048xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 4096 {
    affine.for %j = 0 to 2048 {
      %sum = affine.for %k = 0 to 4096 iter_args(%s = %zero) -> f32 {
        %a = affine.load %A[%i, %k] : memref<4096x4096xf32>
        %b = affine.load %B[%k, %j] : memref<4096x2048xf32>
        %p = arith.mulf %a, %b : f32
        %new = arith.addf %s, %p : f32
        affine.yield %new : f32
      }
      affine.store %sum, %C[%i, %j] : memref<4096x2048xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// -----

// no-match: a copy costs more than it saves where there are few rows.
// CHECK-LABEL: func.func @few
// CHECK-NOT: memref.alloc
func.func @few(%A: memref<16x512xf32> {llvm.noalias}, %B: memref<512x2048xf32> {llvm.noalias}, %C: memref<16x2048xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 16 {
    affine.for %j = 0 to 2048 {
      %sum = affine.for %k = 0 to 512 iter_args(%s = %zero) -> f32 {
        %a = affine.load %A[%i, %k] : memref<16x512xf32>
        %b = affine.load %B[%k, %j] : memref<512x2048xf32>
        %p = arith.mulf %a, %b : f32
        %new = arith.addf %s, %p : f32
        affine.yield %new : f32
      }
      affine.store %sum, %C[%i, %j] : memref<16x2048xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}
