// RUN: dlc-opt %s --dl-set-target=target=gpu:sm_90 --convert-contractions-to-mma --split-input-file | filecheck %s
// Extents that run time knows go to `mma.sync`, also where known ones would go to `wgmma`.

// Rows: chunks of 16 bytes of both operands, as rows of memory are known to be a multiple of that.
// CHECK-LABEL: func.func @rows(
// CHECK: arith.muli
// CHECK: gpu.launch_func @rows_kernel::@rows_kernel blocks in (%{{.*}}, %[[ONE:.*]], %[[ONE]])
// CHECK: gpu.func @rows_kernel(%[[ROWS:[a-z0-9]*]]: index
// CHECK: %[[HOLDS:.*]] = arith.cmpi slt, %{{.*}}, %[[ROWS]] : index
// CHECK: arith.minsi
// CHECK: %[[COUNT:.*]] = arith.select %[[HOLDS]]
// CHECK: nvgpu.device_async_copy {{.*}}, 8, %[[COUNT]] {bypassL1} :
// CHECK: nvgpu.device_async_copy {{.*}}, 8 {bypassL1} :
// CHECK: nvgpu.mma.sync
// CHECK-NOT: wgmma
// CHECK: affine.if #{{.*}}(%[[ROWS]], %{{.*}})
// CHECK: vector.store %{{.*}} {alignment = 8 : i64} : memref<?x1024xf32>, vector<2xf32>
func.func @rows(%A: memref<?x1024xf16> {llvm.noalias}, %B: memref<1024x1024xf16> {llvm.noalias}, %C: memref<?x1024xf32> {llvm.noalias}, %n: index) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to %n {
    affine.for %j = 0 to 1024 {
      %sum = affine.for %k = 0 to 1024 iter_args(%s = %zero) -> f32 {
        %a = affine.load %A[%i, %k] : memref<?x1024xf16>
        %b = affine.load %B[%k, %j] : memref<1024x1024xf16>
        %x = arith.extf %a : f16 to f32
        %y = arith.extf %b : f16 to f32
        %p = arith.mulf %x, %y : f32
        %new = arith.addf %s, %p : f32
        affine.yield %new : f32
      }
      affine.store %sum, %C[%i, %j] : memref<?x1024xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// -----

// no-match: a sum of bytes that may be too long for i32, at which `mma.sync` saturates.
// CHECK-LABEL: func.func @bytes
// CHECK-NOT: gpu.
func.func @bytes(%A: memref<1024x?xi8> {llvm.noalias}, %B: memref<?x1024xi8> {llvm.noalias}, %C: memref<1024x1024xi32> {llvm.noalias}, %n: index) {
  %zero = arith.constant 0 : i32
  affine.for %i = 0 to 1024 {
    affine.for %j = 0 to 1024 {
      %sum = affine.for %k = 0 to %n iter_args(%s = %zero) -> i32 {
        %a = affine.load %A[%i, %k] : memref<1024x?xi8>
        %b = affine.load %B[%k, %j] : memref<?x1024xi8>
        %x = arith.extsi %a : i8 to i32
        %y = arith.extsi %b : i8 to i32
        %p = arith.muli %x, %y : i32
        %new = arith.addi %s, %p : i32
        affine.yield %new : i32
      }
      affine.store %sum, %C[%i, %j] : memref<1024x1024xi32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}
