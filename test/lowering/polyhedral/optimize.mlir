// RUN: dlc-opt %s --dl-set-target=target=cpu:skylake-avx512 --affine-optimize | filecheck %s

// What a loop carries goes through memory while loops are ordered, and is a value again afterwards.
// CHECK-LABEL: func.func @product
// CHECK-NOT: memref.alloca
// CHECK: affine.vector_store
// CHECK: affine.for {{.*}} iter_args({{.*}}) -> (vector<16xf32>
// CHECK: math.fma {{.*}} : vector<16xf32>
func.func @product(%A: memref<64x64xf32> {llvm.noalias}, %B: memref<64x64xf32> {llvm.noalias}, %C: memref<64x64xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 64 {
    affine.for %j = 0 to 64 {
      %sum = affine.for %k = 0 to 64 iter_args(%so_far = %zero) -> f32 {
        %a = affine.load %A[%i, %k] : memref<64x64xf32>
        %b = affine.load %B[%k, %j] : memref<64x64xf32>
        %p = arith.mulf %a, %b : f32
        %next = arith.addf %so_far, %p : f32
        affine.yield %next : f32
      }
      affine.store %sum, %C[%i, %j] : memref<64x64xf32>
    }
  }
  return
}
