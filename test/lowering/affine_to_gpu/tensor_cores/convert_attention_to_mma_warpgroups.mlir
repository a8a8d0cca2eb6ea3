// RUN: dlc-opt %s --dl-set-target=target=gpu:sm_90 --convert-attention-to-mma | filecheck %s
// RUN: dlc-opt %s --dl-set-target=target=gpu:sm_80 --convert-attention-to-mma | filecheck %s --check-prefix=AMPERE
// The pass refuses nothing. Where the GPU has wgmma, TMA brings the panels, and products run beside exponentials.

// AMPERE-NOT: wgmma
// AMPERE: nvgpu.mma.sync

// CHECK-LABEL: func.func @causal
// CHECK-NOT: memref.alloc
// CHECK-COUNT-3: nvgpu.tma.create.descriptor
// CHECK: gpu.launch_func @causal_kernel::@causal_kernel
// CHECK: nvvm.mbarrier.init
// The producer: queries, the first tile, and further ones once their stage is empty.
// CHECK: nvvm.setmaxregister decrease 24
// CHECK: nvvm.mbarrier.arrive.expect_tx
// CHECK: nvvm.cp.async.bulk.tensor
// CHECK: affine.for %{{.*}} = 1 to min
// CHECK: nvvm.mbarrier.try_wait.parity
// CHECK: nvvm.cp.async.bulk.tensor
// Warpgroups: scores of the first tile.
// CHECK: nvvm.setmaxregister increase
// CHECK: nvvm.wgmma.fence.aligned
// CHECK: nvvm.wgmma.mma_async
// CHECK: llvm.inline_asm has_side_effects "wgmma.wait_group.sync.aligned 0;"
// CHECK: nvvm.ex2
// Scores of a tile that all queries see; the values before it are multiplied while its exponentials are computed.
// CHECK: affine.for %{{.*}} = 1 to min
// CHECK: nvvm.wgmma.mma_async
// CHECK: llvm.inline_asm has_side_effects "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {
// CHECK: nvvm.wgmma.commit.group.sync.aligned
// CHECK: llvm.inline_asm has_side_effects "wgmma.wait_group.sync.aligned 1;"
// CHECK: nvvm.mbarrier.arrive
// CHECK: nvvm.ex2
// CHECK: llvm.inline_asm has_side_effects "wgmma.wait_group.sync.aligned 0;"
// CHECK: arith.mulf
// Tiles that some queries do not see are masked.
// CHECK: affine.for %{{.*}} = max
// CHECK: arith.cmpi sle
// CHECK: nvvm.ex2
// CHECK: arith.divf
func.func @causal(%Q: memref<4096x64xf16> {llvm.noalias}, %K: memref<4096x64xf16> {llvm.noalias}, %V: memref<4096x64xf16> {llvm.noalias}, %O: memref<4096x64xf16> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %scale = arith.constant 0.125 : f32
  %S = memref.alloc() : memref<4096x4096xf32>
  %T = memref.alloc() : memref<4096xf32>
  affine.for %i = 0 to 4096 {
    affine.for %j = 0 to 4096 {
      %seen = arith.cmpi sle, %j, %i : index
      %sum = affine.for %d = 0 to 64 iter_args(%s = %zero) -> f32 {
        %q = affine.load %Q[%i, %d] : memref<4096x64xf16>
        %k = affine.load %K[%j, %d] : memref<4096x64xf16>
        %x = arith.extf %q : f16 to f32
        %y = arith.extf %k : f16 to f32
        %p = arith.mulf %x, %y : f32
        %new = arith.addf %s, %p : f32
        affine.yield %new : f32
      }
      %scaled = arith.mulf %sum, %scale : f32
      %score = arith.select %seen, %scaled, %lowest : f32
      affine.store %score, %S[%i, %j] : memref<4096x4096xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  affine.for %i = 0 to 4096 {
    %m = affine.for %j = 0 to 4096 iter_args(%top = %lowest) -> f32 {
      %s = affine.load %S[%i, %j] : memref<4096x4096xf32>
      %c = arith.cmpf ogt, %s, %top : f32
      %new = arith.select %c, %s, %top : f32
      affine.yield %new : f32
    }
    %none = arith.cmpf oeq, %m, %lowest : f32
    %finite = arith.select %none, %zero, %m : f32
    %t = affine.for %j = 0 to 4096 iter_args(%sum = %zero) -> f32 {
      %s = affine.load %S[%i, %j] : memref<4096x4096xf32>
      %d = arith.subf %s, %finite : f32
      %e = math.exp %d : f32
      affine.store %e, %S[%i, %j] : memref<4096x4096xf32>
      %new = arith.addf %sum, %e : f32
      affine.yield %new : f32
    }
    affine.store %t, %T[%i] : memref<4096xf32>
  } {dlc.parallel}
  affine.for %i = 0 to 4096 {
    affine.for %d = 0 to 64 {
      %r = affine.for %j = 0 to 4096 iter_args(%s = %zero) -> f32 {
        %e = affine.load %S[%i, %j] : memref<4096x4096xf32>
        %v = affine.load %V[%j, %d] : memref<4096x64xf16>
        %y = arith.extf %v : f16 to f32
        %p = arith.mulf %e, %y : f32
        %new = arith.addf %s, %p : f32
        affine.yield %new : f32
      }
      %t = affine.load %T[%i] : memref<4096xf32>
      %o = arith.divf %r, %t : f32
      %n = arith.truncf %o : f32 to f16
      affine.store %n, %O[%i, %d] : memref<4096x64xf16>
    } {dlc.parallel}
  } {dlc.parallel}
  memref.dealloc %S : memref<4096x4096xf32>
  memref.dealloc %T : memref<4096xf32>
  return
}
