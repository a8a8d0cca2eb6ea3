// RUN: dlc-opt %s --dl-set-target=target=gpu:sm_80 --convert-contractions-to-simt --split-input-file | filecheck %s
// Extents that run time knows: the grid has one dim of so many blocks, edges are masked, and strides that are sizes are multiplied.

// Rows of the left operand: as many blocks as they take, for the four of columns. B is copied 16 bytes at a time.
// CHECK-LABEL: func.func @rows(
// CHECK-SAME: %[[N:[a-z0-9]*]]: index
// CHECK: %[[DOWN:.*]] = affine.apply #{{.*}}(%[[N]])
// CHECK: arith.muli %{{.*}}, %[[DOWN]]
// CHECK: gpu.launch_func @rows_kernel::@rows_kernel blocks in (%{{.*}}, %[[ONE:.*]], %[[ONE]]) {{.*}} args(%[[N]] : index
// CHECK: gpu.func @rows_kernel(%[[ROWS:[a-z0-9]*]]: index
// CHECK: memref.reinterpret_cast %{{.*}} to offset: [0], sizes: [%{{.*}}], strides: [1] : memref<?x512xf32> to memref<?xf32>
// CHECK: arith.cmpi slt, %{{.*}}, %[[ROWS]]
// CHECK: nvgpu.device_async_copy {{.*}}, 1, %{{.*}} :
// CHECK: nvgpu.device_async_copy {{.*}}, 4 {bypassL1} :
// CHECK: math.fma
// CHECK: affine.if #{{.*}}(%[[ROWS]], %{{.*}})
// CHECK: vector.store %{{.*}} {alignment = 16 : i64} : memref<?x512xf32>, vector<4xf32>
func.func @rows(%A: memref<?x512xf32> {llvm.noalias}, %B: memref<512x512xf32> {llvm.noalias}, %C: memref<?x512xf32> {llvm.noalias}, %n: index) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to %n {
    affine.for %j = 0 to 512 {
      %sum = affine.for %k = 0 to 512 iter_args(%s = %zero) -> f32 {
        %a = affine.load %A[%i, %k] : memref<?x512xf32>
        %b = affine.load %B[%k, %j] : memref<512x512xf32>
        %p = arith.mulf %a, %b : f32
        %new = arith.addf %s, %p : f32
        affine.yield %new : f32
      }
      affine.store %sum, %C[%i, %j] : memref<?x512xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// -----

// Columns and the sum: places are counted by quotients of run time, and single elements are copied.
// CHECK-LABEL: func.func @all(
// CHECK: gpu.func @all_kernel
// CHECK: arith.divui %{{.*}} : i32
// CHECK: arith.remui %{{.*}} : i32
// CHECK: %[[SIZE:.*]] = memref.dim %{{.*}} : memref<?x?xf32>
// CHECK: nvgpu.device_async_copy {{.*}}, 1, %{{.*}} :
// CHECK: affine.for %{{.*}} = 0 to #{{.*}}(%{{.*}}) iter_args
// CHECK: memref.store %{{.*}} : memref<?x?xf32>
func.func @all(%A: memref<?x?xf32> {llvm.noalias}, %B: memref<?x?xf32> {llvm.noalias}, %C: memref<?x?xf32> {llvm.noalias}, %m: index, %n: index, %l: index) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to %m {
    affine.for %j = 0 to %n {
      %sum = affine.for %k = 0 to %l iter_args(%s = %zero) -> f32 {
        %a = affine.load %A[%i, %k] : memref<?x?xf32>
        %b = affine.load %B[%k, %j] : memref<?x?xf32>
        %p = arith.mulf %a, %b : f32
        %new = arith.addf %s, %p : f32
        affine.yield %new : f32
      }
      affine.store %sum, %C[%i, %j] : memref<?x?xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// -----

// no-match: two loops of one axis whose extents run time knows, and a sum as long as its row says.
// CHECK-LABEL: func.func @pixels
// CHECK-NOT: gpu.
func.func @pixels(%A: memref<?x?x64xf32> {llvm.noalias}, %B: memref<64x64xf32> {llvm.noalias}, %C: memref<?x?x64xf32> {llvm.noalias}, %h: index, %w: index) {
  %zero = arith.constant 0.0 : f32
  affine.for %y = 0 to %h {
    affine.for %x = 0 to %w {
      affine.for %j = 0 to 64 {
        %sum = affine.for %k = 0 to 64 iter_args(%s = %zero) -> f32 {
          %a = affine.load %A[%y, %x, %k] : memref<?x?x64xf32>
          %b = affine.load %B[%k, %j] : memref<64x64xf32>
          %p = arith.mulf %a, %b : f32
          %new = arith.addf %s, %p : f32
          affine.yield %new : f32
        }
        affine.store %sum, %C[%y, %x, %j] : memref<?x?x64xf32>
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// CHECK-LABEL: func.func @triangle
// CHECK-NOT: gpu.
func.func @triangle(%A: memref<64x64xf32> {llvm.noalias}, %B: memref<64x64xf32> {llvm.noalias}, %C: memref<64x64xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 64 {
    affine.for %j = 0 to 64 {
      %sum = affine.for %k = 0 to affine_map<(i) -> (i + 1)>(%i) iter_args(%s = %zero) -> f32 {
        %a = affine.load %A[%i, %k] : memref<64x64xf32>
        %b = affine.load %B[%k, %j] : memref<64x64xf32>
        %p = arith.mulf %a, %b : f32
        %new = arith.addf %s, %p : f32
        affine.yield %new : f32
      }
      affine.store %sum, %C[%i, %j] : memref<64x64xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}
