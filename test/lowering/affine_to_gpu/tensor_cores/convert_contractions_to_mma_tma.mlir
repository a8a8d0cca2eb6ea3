// RUN: dlc-opt %s --dl-set-target=target=gpu:sm_90 --convert-contractions-to-mma | filecheck %s
// RUN: dlc compile %s --target=gpu:sm_90 --emit=ptx | filecheck %s --check-prefix=PTX
// RUN: dlc compile %s --target=gpu:sm_90 --emit=nvvm | filecheck %s --check-prefix=NVVM
// On sm_90 TMA brings panels, by tensor maps that the host makes: the first thread of a warp of its own starts copies to stages that are
// empty, and warpgroups multiply those that are full. Refuses nothing.

// PTX: .param .align 64 .b8 large_kernel_param_0[128]
// PTX: cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
// PTX: wgmma.mma_async.sync.aligned.m64n{{[0-9]+}}k16.f32.bf16.bf16
// NVVM: llvm.func @large_kernel(%{{[a-z0-9]+}}: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}

// CHECK: #[[TURN:map[0-9]*]] = affine_map<(d0) -> ((d0 floordiv 4 + 1) mod 2)>
// CHECK: #[[PRODUCER:set[0-9]*]] = affine_set<(d0) : (d0 - 256 == 0)>
// CHECK: %[[A:.*]] = memref.reinterpret_cast %{{.*}} to offset: [0], sizes: [4096, 4096], strides: [4096, 1]
// CHECK: %[[U:.*]] = memref.cast %[[A]]
// CHECK: %[[D:.*]] = nvgpu.tma.create.descriptor %[[U]] box[%{{.*}}, %{{.*}}] : memref<*xbf16> -> <tensor = memref<128x64xbf16
// CHECK-SAME: swizzle = swizzle_128b
// CHECK: %[[M:.*]] = builtin.unrealized_conversion_cast %[[D]]
// CHECK: nvgpu.tma.create.descriptor
// CHECK: gpu.launch_func @large_kernel::@large_kernel
// CHECK-SAME: args(%[[M]] : !llvm.ptr
// CHECK: gpu.func @large_kernel(%[[MAP:[a-z0-9]+]]: !llvm.ptr
// CHECK: %[[THREAD:.*]] = gpu.thread_id x
// CHECK: nvvm.mbarrier.init
// CHECK: nvvm.fence.mbarrier.init
// CHECK: gpu.barrier
// CHECK: affine.if #[[PRODUCER]](%[[THREAD]])
// CHECK: affine.for %[[TILE:.*]] = 0 to 64
// CHECK: affine.apply #[[TURN]](%[[TILE]])
// CHECK: nvvm.mbarrier.try_wait.parity
// CHECK: %[[FULL:.*]] = llvm.inttoptr %{{.*}} : i64 to !llvm.ptr<3>
// CHECK: nvvm.mbarrier.arrive.expect_tx %[[FULL]]
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[MAP]], %[[FULL]], box[%{{.*}}, %{{.*}}]
// CHECK: affine.for
// CHECK: nvvm.mbarrier.try_wait.parity
// CHECK: nvvm.wgmma.fence.aligned
// CHECK: nvvm.wgmma.mma_async
// CHECK: nvvm.wgmma.wait.group.sync.aligned
// CHECK: nvvm.mbarrier.arrive
// CHECK-NOT: nvgpu.device_async_copy
func.func @large(%A: memref<4096x4096xbf16> {llvm.noalias}, %B: memref<4096x4096xbf16> {llvm.noalias}, %C: memref<4096x4096xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 4096 {
    affine.for %j = 0 to 4096 {
      %sum = affine.for %k = 0 to 4096 iter_args(%s = %zero) -> f32 {
        %a = affine.load %A[%i, %k] : memref<4096x4096xbf16>
        %b = affine.load %B[%k, %j] : memref<4096x4096xbf16>
        %x = arith.extf %a : bf16 to f32
        %y = arith.extf %b : bf16 to f32
        %p = arith.mulf %x, %y : f32
        %new = arith.addf %s, %p : f32
        affine.yield %new : f32
      }
      affine.store %sum, %C[%i, %j] : memref<4096x4096xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}
