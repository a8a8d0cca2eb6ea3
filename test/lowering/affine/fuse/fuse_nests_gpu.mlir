// RUN: dlc-opt %s --dl-set-target=target=gpu:sm_80 --affine-fuse-nests=explain=true | filecheck %s
// RUN: dlc-opt %s --dl-set-target=target=cpu:haswell --affine-fuse-nests=explain=true | filecheck %s --check-prefix=CPU
// Products of matrices keep all loops for kernels of a GPU; on CPUs rows are summed beside the products of a head.

// CHECK-LABEL: func.func @heads
// CHECK: %[[S:.*]] = memref.alloc() : memref<4x16x32xf32>
// CHECK: affine.for
// CHECK: affine.store %{{.*}}, %[[S]]
// CHECK: affine.for
// CHECK: affine.load %[[S]]
// CHECK: dlc.fusion_refusal = "kernels of a GPU take all loops of a product of matrices together"
// CPU-LABEL: func.func @heads
// CPU: affine.for %{{.*}} = 0 to 4
// CPU-NEXT: memref.alloca() : memref<16x32xf32>
// CPU-NOT: dlc.fusion_refusal = "kernels
func.func @heads(%A: memref<4x16x8xf16> {llvm.noalias}, %B: memref<4x8x32xf16> {llvm.noalias}, %R: memref<4x16xf32> {llvm.noalias}) attributes {dl.kernel} {
  %zero = arith.constant 0.0 : f32
  %S = memref.alloc() : memref<4x16x32xf32>
  affine.for %h = 0 to 4 {
    affine.for %i = 0 to 16 {
      affine.for %j = 0 to 32 {
        %sum = affine.for %k = 0 to 8 iter_args(%s = %zero) -> f32 {
          %a = affine.load %A[%h, %i, %k] : memref<4x16x8xf16>
          %b = affine.load %B[%h, %k, %j] : memref<4x8x32xf16>
          %x = arith.extf %a : f16 to f32
          %y = arith.extf %b : f16 to f32
          %p = arith.mulf %x, %y : f32
          %new = arith.addf %s, %p : f32
          affine.yield %new : f32
        }
        affine.store %sum, %S[%h, %i, %j] : memref<4x16x32xf32>
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  affine.for %h = 0 to 4 {
    affine.for %i = 0 to 16 {
      %row = affine.for %j = 0 to 32 iter_args(%s = %zero) -> f32 {
        %e = affine.load %S[%h, %i, %j] : memref<4x16x32xf32>
        %new = arith.addf %s, %e : f32
        affine.yield %new : f32
      }
      affine.store %row, %R[%h, %i] : memref<4x16xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  memref.dealloc %S : memref<4x16x32xf32>
  return
}

// The same of f32 and of a batch that run time knows.
// CHECK-LABEL: func.func @open_batch
// CHECK: %[[T:.*]] = memref.alloc(%{{.*}}) : memref<?x16x32xf32>
// CHECK: affine.store %{{.*}}, %[[T]]
// CHECK: dlc.fusion_refusal = "kernels of a GPU take all loops of a product of matrices together"
// CPU-LABEL: func.func @open_batch
// CPU-NOT: dlc.fusion_refusal = "kernels
func.func @open_batch(%A: memref<?x16x8xf32> {llvm.noalias}, %B: memref<?x8x32xf32> {llvm.noalias}, %R: memref<?x16xf32> {llvm.noalias}) attributes {dl.kernel} {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %n = memref.dim %A, %c0 : memref<?x16x8xf32>
  %S = memref.alloc(%n) : memref<?x16x32xf32>
  affine.for %h = 0 to %n {
    affine.for %i = 0 to 16 {
      affine.for %j = 0 to 32 {
        %sum = affine.for %k = 0 to 8 iter_args(%s = %zero) -> f32 {
          %a = affine.load %A[%h, %i, %k] : memref<?x16x8xf32>
          %b = affine.load %B[%h, %k, %j] : memref<?x8x32xf32>
          %p = arith.mulf %a, %b : f32
          %new = arith.addf %s, %p : f32
          affine.yield %new : f32
        }
        affine.store %sum, %S[%h, %i, %j] : memref<?x16x32xf32>
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  affine.for %h = 0 to %n {
    affine.for %i = 0 to 16 {
      %row = affine.for %j = 0 to 32 iter_args(%s = %zero) -> f32 {
        %e = affine.load %S[%h, %i, %j] : memref<?x16x32xf32>
        %new = arith.addf %s, %e : f32
        affine.yield %new : f32
      }
      affine.store %row, %R[%h, %i] : memref<?x16xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  memref.dealloc %S : memref<?x16x32xf32>
  return
}
