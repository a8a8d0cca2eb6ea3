// RUN: dlc-opt %s --dl-set-target=target=gpu:sm_80 --convert-attention-to-mma | filecheck %s
// no-match: rows of queries, keys and values as long as run time says, of which 64 elements are taken. Refuses nothing.

// CHECK: func.func @exact({{.*}}dlc.not_fused = "queries, keys or values lie at distances that run time knows"
// CHECK-NOT: gpu.launch
// CHECK: math.exp
func.func @exact(%Q: memref<128x?xf32> {llvm.noalias}, %K: memref<512x?xf32> {llvm.noalias}, %V: memref<512x?xf32> {llvm.noalias}, %O: memref<128x?xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %scale = arith.constant 0.125 : f32
  %S = memref.alloc() : memref<128x512xf32>
  %T = memref.alloc() : memref<128xf32>
  affine.for %i = 0 to 128 {
    affine.for %j = 0 to 512 {
      %sum = affine.for %d = 0 to 64 iter_args(%s = %zero) -> f32 {
        %q = affine.load %Q[%i, %d] : memref<128x?xf32>
        %k = affine.load %K[%j, %d] : memref<512x?xf32>
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
        %v = affine.load %V[%j, %d] : memref<512x?xf32>
        %p = arith.mulf %e, %v : f32
        %new = arith.addf %s, %p : f32
        affine.yield %new : f32
      }
      %t = affine.load %T[%i] : memref<128xf32>
      %o = arith.divf %r, %t : f32
      affine.store %o, %O[%i, %d] : memref<128x?xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}
