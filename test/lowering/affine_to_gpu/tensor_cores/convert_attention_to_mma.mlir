// RUN: dlc-opt %s --dl-set-target=target=gpu:sm_80 --convert-attention-to-mma | filecheck %s
// RUN: dlc-opt %s --dl-set-target=target=gpu:sm_75 --convert-attention-to-mma | filecheck %s --check-prefix=TURING
// RUN: dlc-opt %s --dl-set-target=target=gpu:sm_80 --convert-attention-to-mma --gpu-print-accesses 2>&1 | filecheck %s --check-prefix=ACCESSES
// The pass refuses nothing: what it cannot fuse stays, and says why. Causal attention is one kernel without scores in memory.

// TURING: dlc.not_fused = "sm_75 has no mma.sync of f16, or no cp.async"
// TURING-NOT: nvgpu.mma.sync
// ACCESSES: kernel @causal_kernel, {{.*}}: 0 of {{.*}} accesses uncoalesced, {{.*}}, no bank conflicts

// CHECK-LABEL: func.func @causal
// CHECK-NOT: memref.alloc
// CHECK-NOT: affine.for
// CHECK: gpu.launch_func @causal_kernel::@causal_kernel
// CHECK: gpu.func @causal_kernel
// CHECK-SAME: workgroup(%[[Q:.*]] : memref<1x{{.*}}x64xf16, #gpu.address_space<workgroup>>, %[[K:.*]] : memref<1x[[N:.*]]x64xf16, #gpu.address_space<workgroup>>, %[[V:.*]] : memref<1x[[N]]x64xf16, #gpu.address_space<workgroup>>)
// CHECK: nvgpu.device_async_copy %{{.*}}, %[[Q]]
// CHECK: nvgpu.device_async_copy %{{.*}}, %[[K]]
// CHECK: %[[A:.*]] = nvgpu.ldmatrix %[[Q]]{{.*}} transpose = false
// The loop ends behind the last key that the block's queries see; values come while scores are computed, the next keys behind a test.
// CHECK: affine.for %{{.*}} = 0 to min #{{.*}} iter_args(%{{.*}} = %[[LOWEST:.*]],
// CHECK: nvgpu.device_async_copy %{{.*}}, %[[V]]
// CHECK: %[[B:.*]] = nvgpu.ldmatrix %[[K]]{{.*}} transpose = false
// CHECK: %[[S:.*]] = nvgpu.mma.sync(%[[A]], %{{.*}}) {mmaShape = [16, 8, 16]}
// CHECK: affine.if
// CHECK-NEXT: {{.*}}affine.apply
// CHECK: nvgpu.device_async_copy %{{.*}}, %[[K]]
// CHECK: arith.cmpi sle
// CHECK: arith.select
// CHECK: arith.maximumf
// CHECK: gpu.shuffle xor
// CHECK: nvvm.ex2
// The exponentials are the left operand as they are; what was summed before is scaled.
// CHECK: %[[O:.*]] = arith.mulf %{{.*}} : vector<2x2xf32>
// CHECK: %[[P:.*]] = vector.from_elements {{.*}} : vector<4x2xf16>
// CHECK: nvgpu.ldmatrix %[[V]]{{.*}} transpose = true
// CHECK: nvgpu.mma.sync(%[[P]], %{{.*}}, %[[O]])
// CHECK: gpu.shuffle xor
// CHECK: arith.divf
// CHECK: vector.store %{{.*}} : memref<4096x64xf16>, vector<2xf16>
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
