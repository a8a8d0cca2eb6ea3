// RUN: dlc-opt %s --dl-set-target=target=gpu:sm_80 --convert-contractions-to-simt --split-input-file | filecheck %s
// RUN: dlc-opt %s --dl-set-target=target=gpu:sm_75 --convert-contractions-to-simt --split-input-file | filecheck %s --check-prefix=TURING
// RUN: dlc-opt %s --dl-set-target=target=gpu:sm_80 --convert-contractions-to-simt --split-input-file --gpu-print-accesses 2>&1 | filecheck %s --check-prefix=ACCESSES
// The pass refuses nothing: what it does not take stays. Products of f32 and f64 become kernels whose threads have tiles of results; there is no `cp.async` before sm_80.

// TURING-NOT: gpu.
// ACCESSES: kernel @product_kernel, {{.*}}: 0 of {{.*}} accesses uncoalesced, {{.*}}, no bank conflicts
// ACCESSES: kernel @conv_kernel, {{.*}}% of what memory moves is used, no bank conflicts

// Rows of A lie along the sum: single elements go to columns of a padded panel. B goes 16 bytes at a time. Copies stop with the sum.
// CHECK-LABEL: func.func @product(
// CHECK-NOT: affine.for
// CHECK: gpu.launch_func @product_kernel::@product_kernel {{.*}} dynamic_shared_memory_size
// CHECK: gpu.func @product_kernel
// CHECK: %[[A:.*]] = memref.view %{{.*}} to memref<[[S:.*]]x[[K:.*]]x{{(20|36|68|132|260)}}xf32, #gpu.address_space<workgroup>>
// CHECK: %[[B:.*]] = memref.view %{{.*}} to memref<[[S]]x[[K]]x{{(16|32|64|128|256)}}xf32, #gpu.address_space<workgroup>>
// CHECK: nvgpu.device_async_copy %{{.*}}, %[[A]][%{{.*}}], 1 :
// CHECK: nvgpu.device_async_copy %{{.*}}, %[[B]][%{{.*}}], 4 {bypassL1} :
// CHECK: nvvm.cp.async.commit.group
// CHECK: affine.for %{{.*}} iter_args({{.*}} = %[[ZERO:.*]]) -> (f32
// CHECK: nvvm.cp.async.wait.group
// CHECK-NEXT: gpu.barrier
// CHECK: affine.if
// CHECK: nvgpu.device_async_copy
// CHECK: %[[X:.*]] = vector.load %[[A]][%{{.*}}] {alignment = 16 : i64}
// CHECK: vector.load %[[B]][%{{.*}}] {alignment = 16 : i64}
// CHECK: math.fma %{{.*}}, %{{.*}}, %{{.*}} : f32
// CHECK: arith.maximumf
// CHECK: vector.store %{{.*}} {alignment = 16 : i64} : memref<1024x1024xf32>, vector<4xf32>
func.func @product(%A: memref<1024x1024xf32> {llvm.noalias}, %B: memref<1024x1024xf32> {llvm.noalias}, %C: memref<1024x1024xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 1024 {
    affine.for %j = 0 to 1024 {
      %sum = affine.for %k = 0 to 1024 iter_args(%s = %zero) -> f32 {
        %a = affine.load %A[%i, %k] : memref<1024x1024xf32>
        %b = affine.load %B[%k, %j] : memref<1024x1024xf32>
        %p = arith.mulf %a, %b : f32
        %new = arith.addf %s, %p : f32
        affine.yield %new : f32
      }
      %r = arith.maximumf %sum, %zero : f32
      affine.store %r, %C[%i, %j] : memref<1024x1024xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// -----

// A convolution, channels first: columns are pixels of both images, the sum runs along channels and taps, whose places are quotients
// of 32 bits. The loop before it has a function.
// CHECK-LABEL: func.func @conv(
// CHECK: call @conv_loops
// CHECK: gpu.launch_func @conv_kernel::@conv_kernel
// CHECK: gpu.func @conv_kernel
// CHECK: arith.remui %{{.*}} : i32
// CHECK: nvgpu.device_async_copy
// CHECK: math.fma
func.func @conv(%X: memref<2x64x16x16xf32> {llvm.noalias}, %W: memref<64x64x3x3xf32> {llvm.noalias}, %Y: memref<2x64x14x14xf32> {llvm.noalias}, %S: memref<64xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  affine.for %o = 0 to 64 {
    affine.store %zero, %S[%o] : memref<64xf32>
  } {dlc.parallel}
  affine.for %n = 0 to 2 {
    affine.for %o = 0 to 64 {
      affine.for %y = 0 to 14 {
        affine.for %x = 0 to 14 {
          %t = affine.for %c = 0 to 64 iter_args(%s = %zero) -> f32 {
            %u = affine.for %v = 0 to 3 iter_args(%s1 = %s) -> f32 {
              %w = affine.for %h = 0 to 3 iter_args(%s2 = %s1) -> f32 {
                %a = affine.load %X[%n, %c, %y + %v, %x + %h] : memref<2x64x16x16xf32>
                %b = affine.load %W[%o, %c, %v, %h] : memref<64x64x3x3xf32>
                %p = arith.mulf %a, %b : f32
                %new = arith.addf %s2, %p : f32
                affine.yield %new : f32
              }
              affine.yield %w : f32
            }
            affine.yield %u : f32
          }
          affine.store %t, %Y[%n, %o, %y, %x] : memref<2x64x14x14xf32>
        } {dlc.parallel}
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// -----

// no-match: few rows.
// CHECK-LABEL: func.func @rows
// CHECK-NOT: gpu.
func.func @rows(%A: memref<4x512xf32> {llvm.noalias}, %B: memref<512x512xf32> {llvm.noalias}, %C: memref<4x512xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 4 {
    affine.for %j = 0 to 512 {
      %sum = affine.for %k = 0 to 512 iter_args(%s = %zero) -> f32 {
        %a = affine.load %A[%i, %k] : memref<4x512xf32>
        %b = affine.load %B[%k, %j] : memref<512x512xf32>
        %p = arith.mulf %a, %b : f32
        %new = arith.addf %s, %p : f32
        affine.yield %new : f32
      }
      affine.store %sum, %C[%i, %j] : memref<4x512xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}
