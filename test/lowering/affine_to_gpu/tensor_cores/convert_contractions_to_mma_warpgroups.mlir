// RUN: dlc-opt %s --dl-set-target=target=gpu:sm_90 --convert-contractions-to-mma | filecheck %s
// RUN: dlc-opt %s --dl-set-target=target=gpu:sm_80 --convert-contractions-to-mma | filecheck %s --check-prefix=AMPERE
// RUN: dlc compile %s --target=gpu:sm_90 --emit=ptx | filecheck %s --check-prefix=PTX
// Large products on sm_90 are wgmma's: both operands are read in shared memory, by descriptors. Where a pitch is no multiple of 16 bytes,
// threads copy them there. Refuses nothing.

// AMPERE-NOT: wgmma
// AMPERE: nvgpu.mma.sync
// PTX: .target sm_90a
// PTX: wgmma.mma_async.sync.aligned.m64n{{[0-9]+}}k16.f32.bf16.bf16

// CHECK-NOT: nvgpu.tma
// CHECK: gpu.launch_func @large_kernel::@large_kernel
// CHECK-SAME: dynamic_shared_memory_size
// CHECK: gpu.func @large_kernel
// CHECK: gpu.dynamic_shared_memory
// CHECK: nvgpu.device_async_copy
// CHECK: nvvm.cp.async.wait.group
// CHECK: gpu.barrier
// CHECK: nvvm.wgmma.fence.aligned
// CHECK: nvvm.wgmma.mma_async
// CHECK: nvvm.wgmma.commit.group.sync.aligned
// CHECK: nvvm.wgmma.wait.group.sync.aligned
func.func @large(%A: memref<4096x4096xbf16> {llvm.noalias}, %B: memref<4096x4092xbf16> {llvm.noalias}, %C: memref<4096x4092xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 4096 {
    affine.for %j = 0 to 4092 {
      %sum = affine.for %k = 0 to 4096 iter_args(%s = %zero) -> f32 {
        %a = affine.load %A[%i, %k] : memref<4096x4096xbf16>
        %b = affine.load %B[%k, %j] : memref<4096x4092xbf16>
        %x = arith.extf %a : bf16 to f32
        %y = arith.extf %b : bf16 to f32
        %p = arith.mulf %x, %y : f32
        %new = arith.addf %s, %p : f32
        affine.yield %new : f32
      }
      affine.store %sum, %C[%i, %j] : memref<4096x4092xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}
