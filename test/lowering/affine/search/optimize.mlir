// RUN: dlc-opt %s --dl-set-target=target=cpu:skylake-avx512 --affine-optimize | filecheck %s
// RUN: dlc-opt %s --dl-set-target=target=cpu:skylake-avx512 --affine-optimize 2>&1 >/dev/null | filecheck %s --check-prefix=SAID

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

// A function with other loops stays as it is, and the reason is told.
// SAID: optimize.mlir:[[# @LINE + 6]]:3: remark: @others is left as it is: 'scf.for' is not a loop or condition of the affine dialect; lower or outline it first
// CHECK-LABEL: func.func @others
// CHECK: scf.for
// CHECK: affine.for %{{.*}} = 0 to 64
// CHECK:   affine.load
func.func @others(%A: memref<64xf32> {llvm.noalias}, %B: memref<64xf32> {llvm.noalias}, %from: index, %to: index, %step: index) {
  scf.for %i = %from to %to step %step {
    %a = memref.load %A[%i] : memref<64xf32>
    memref.store %a, %B[%i] : memref<64xf32>
  }
  affine.for %i = 0 to 64 {
    %a = affine.load %A[%i] : memref<64xf32>
    affine.store %a, %B[%i] : memref<64xf32>
  }
  return
}

// Declarations have no loops. Functions of several blocks stay as they are.
// CHECK-LABEL: func.func private @elsewhere
func.func private @elsewhere(memref<64xf32>)

// SAID: optimize.mlir:[[# @LINE + 5]]:1: remark: @branches is left as it is: it has several blocks; put the loops into a function of their own
// CHECK-LABEL: func.func @branches
// CHECK: cf.cond_br
// CHECK: affine.for %{{.*}} = 0 to 64
// CHECK: affine.for %{{.*}} = 0 to 64
func.func @branches(%A: memref<64xf32> {llvm.noalias}, %B: memref<64xf32> {llvm.noalias}, %is_first: i1) {
  cf.cond_br %is_first, ^first, ^second
^first:
  affine.for %i = 0 to 64 {
    %a = affine.load %A[%i] : memref<64xf32>
    affine.store %a, %B[%i] : memref<64xf32>
  }
  cf.br ^second
^second:
  affine.for %i = 0 to 64 {
    %b = affine.load %B[%i] : memref<64xf32>
    affine.store %b, %A[%i] : memref<64xf32>
  }
  return
}

// Elements in tiles have no strides: loops over them are ordered, and have no vectors.
// CHECK-LABEL: func.func @tiles
// CHECK: affine.for
// CHECK-NOT: affine.vector
// CHECK: return
#tiles = affine_map<(d0, d1) -> (d0 floordiv 4, d1 floordiv 4, d0 mod 4, d1 mod 4)>
func.func @tiles(%A: memref<64x64xf32, #tiles> {llvm.noalias}, %B: memref<64x64xf32, #tiles> {llvm.noalias}) {
  affine.for %i = 0 to 64 {
    affine.for %j = 0 to 64 {
      %a = affine.load %A[%i, %j] : memref<64x64xf32, #tiles>
      affine.store %a, %B[%i, %j] : memref<64x64xf32, #tiles>
    }
  }
  return
}
