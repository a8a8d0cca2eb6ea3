// RUN: dlc-opt %s --dl-set-target=target=gpu:sm_80 --convert-attention-to-mma | filecheck %s
// RUN: dlc-opt %s --dl-set-target=target=gpu:sm_75 --convert-attention-to-mma | filecheck %s --check-prefix=TURING
// RUN: dlc-opt %s --dl-set-target=target=gpu:sm_80 --convert-attention-to-mma --gpu-print-accesses 2>&1 | filecheck %s --check-prefix=ACCESSES
// The pass refuses nothing. Attention in f32 is one kernel of multiply-adds, whose weights go through shared memory.

// TURING: dlc.not_fused = "sm_75 has no mma.sync of f32, or no cp.async"
// ACCESSES: kernel @exact_kernel, {{.*}}: 0 of {{.*}} accesses uncoalesced

// CHECK-LABEL: func.func @exact
// CHECK-NOT: memref.alloc
// CHECK-NOT: affine.for
// CHECK: gpu.launch_func @exact_kernel::@exact_kernel
// CHECK: affine.for %{{.*}} iter_args
// Chunks of queries and keys, each read once for all products of the thread.
// CHECK: affine.for %{{.*}} = 0 to 16 iter_args
// CHECK: vector.load %[[Q:.*]][{{.*}} {alignment = 16 : i64}
// CHECK: math.fma
// The scale is part of the exponents.
// CHECK-NOT: arith.mulf
// CHECK: gpu.shuffle xor
// CHECK: math.fma
// CHECK: nvvm.ex2
// The lanes of a warp exchange weights.
// CHECK: memref.store %{{.*}}, %[[P:.*]][
// CHECK: nvvm.bar.warp.sync
// CHECK: affine.for
// CHECK: vector.load %[[P]][
// CHECK: math.fma
// CHECK: gpu.shuffle xor
// CHECK: arith.divf
func.func @exact(%Q: memref<128x64xf32> {llvm.noalias}, %K: memref<512x64xf32> {llvm.noalias}, %V: memref<512x64xf32> {llvm.noalias}, %O: memref<128x64xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %scale = arith.constant 0.125 : f32
  %S = memref.alloc() : memref<128x512xf32>
  %T = memref.alloc() : memref<128xf32>
  affine.for %i = 0 to 128 {
    affine.for %j = 0 to 512 {
      %sum = affine.for %d = 0 to 64 iter_args(%s = %zero) -> f32 {
        %q = affine.load %Q[%i, %d] : memref<128x64xf32>
        %k = affine.load %K[%j, %d] : memref<512x64xf32>
        %p = arith.mulf %q, %k : f32
        %new = arith.addf %s, %p : f32
        affine.yield %new : f32
      }
      %scaled = arith.mulf %sum, %scale : f32
      affine.store %scaled, %S[%i, %j] : memref<128x512xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  affine.for %i = 0 to 128 {
    %m = affine.for %j = 0 to 512 iter_args(%top = %lowest) -> f32 {
      %s = affine.load %S[%i, %j] : memref<128x512xf32>
      %c = arith.cmpf ogt, %s, %top : f32
      %new = arith.select %c, %s, %top : f32
      affine.yield %new : f32
    }
    %none = arith.cmpf oeq, %m, %lowest : f32
    %finite = arith.select %none, %zero, %m : f32
    %t = affine.for %j = 0 to 512 iter_args(%sum = %zero) -> f32 {
      %s = affine.load %S[%i, %j] : memref<128x512xf32>
      %d = arith.subf %s, %finite : f32
      %e = math.exp %d : f32
      affine.store %e, %S[%i, %j] : memref<128x512xf32>
      %new = arith.addf %sum, %e : f32
      affine.yield %new : f32
    }
    affine.store %t, %T[%i] : memref<128xf32>
  } {dlc.parallel}
  affine.for %i = 0 to 128 {
    affine.for %d = 0 to 64 {
      %r = affine.for %j = 0 to 512 iter_args(%s = %zero) -> f32 {
        %e = affine.load %S[%i, %j] : memref<128x512xf32>
        %v = affine.load %V[%j, %d] : memref<512x64xf32>
        %p = arith.mulf %e, %v : f32
        %new = arith.addf %s, %p : f32
        affine.yield %new : f32
      }
      %t = affine.load %T[%i] : memref<128xf32>
      %o = arith.divf %r, %t : f32
      affine.store %o, %O[%i, %d] : memref<128x64xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  memref.dealloc %S : memref<128x512xf32>
  memref.dealloc %T : memref<128xf32>
  return
}
