// RUN: dlc-opt %s --dl-set-target=target=gpu:sm_80 --convert-contractions-to-mma --split-input-file | filecheck %s
// RUN: dlc-opt %s --dl-set-target=target=gpu:sm_80 --convert-contractions-to-mma=tf32=true --split-input-file | filecheck %s --check-prefix=TF32
// RUN: dlc-opt %s --dl-set-target=target=gpu:sm_75 --convert-contractions-to-mma --split-input-file | filecheck %s --check-prefix=TURING
// RUN: dlc-opt %s --dl-set-target=target=gpu:sm_80 --convert-contractions-to-mma --split-input-file --gpu-print-accesses 2>&1 | filecheck %s --check-prefix=ACCESSES
// The pass refuses nothing: what tensor cores do not take stays. Products of f16 and of bytes become kernels on tensor cores; f32 stays exact unless tf32 is asked for.

// TURING-NOT: nvgpu.mma.sync
// TF32: mmaShape = [16, 8, 16]
// TF32: mmaShape = [16, 8, 8], tf32Enabled
// ACCESSES: kernel @halves_kernel, {{.*}}: 0 of {{.*}} accesses uncoalesced, {{.*}}, no bank conflicts
// ACCESSES: kernel @conv_kernel, {{.*}}: 0 of {{.*}} accesses uncoalesced, {{.*}}, no bank conflicts

// Panels of more than 48 KiB are dynamic shared memory. Copies go stages ahead, in 16 bytes, zeros for rows that are not there; the epilogue runs on pairs of sums, and stores them under a guard.
// CHECK-LABEL: func.func @halves
// CHECK-NOT: affine.for
// CHECK: gpu.launch_func @halves_kernel::@halves_kernel {{.*}} dynamic_shared_memory_size
// CHECK: gpu.func @halves_kernel
// CHECK: %[[MEMORY:[0-9]+]] = gpu.dynamic_shared_memory
// CHECK: %[[L:view[_0-9]*]] = memref.view %[[MEMORY]][%{{.*}}][] : {{.*}} to memref<[[S:[0-9]+]]x{{[0-9]+}}x[[K:[0-9]+]]xf16, #gpu.address_space<workgroup>>
// CHECK: %[[R:view[_0-9]*]] = memref.view %[[MEMORY]][%{{.*}}][] : {{.*}} to memref<[[S]]x[[K]]x{{[0-9]+}}xf16, #gpu.address_space<workgroup>>
// CHECK: nvgpu.device_async_copy %{{.*}}, %[[L]][%{{.*}}], 8, %{{.*}} {bypassL1}
// CHECK: nvvm.cp.async.commit.group
// CHECK: affine.for %{{.*}} iter_args({{.*}} = %cst{{.*}}) -> (vector<2x2xf32>
// CHECK: nvvm.cp.async.wait.group
// CHECK-NEXT: gpu.barrier
// CHECK: nvgpu.device_async_copy %{{.*}}, %[[R]][%{{.*}}], 8
// CHECK: %[[A:.*]] = nvgpu.ldmatrix %[[L]]{{.*}} {numTiles = 4 : i32, transpose = false}
// CHECK: nvgpu.ldmatrix %[[R]]{{.*}} {numTiles = 4 : i32, transpose = true}
// CHECK: nvgpu.mma.sync(%[[A]], %{{.*}}) {mmaShape = [16, 8, 16]} : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
// CHECK: arith.maximumf
// CHECK: affine.if
// CHECK: vector.store %{{.*}} {alignment = 4 : i64} : memref<1000x768xf16>, vector<2xf16>
func.func @halves(%A: memref<1000x768xf16> {llvm.noalias}, %B: memref<768x768xf16> {llvm.noalias}, %C: memref<1000x768xf16> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 1000 {
    affine.for %j = 0 to 768 {
      %sum = affine.for %k = 0 to 768 iter_args(%s = %zero) -> f32 {
        %a = affine.load %A[%i, %k] : memref<1000x768xf16>
        %b = affine.load %B[%k, %j] : memref<768x768xf16>
        %x = arith.extf %a : f16 to f32
        %y = arith.extf %b : f16 to f32
        %p = arith.mulf %x, %y : f32
        %new = arith.addf %s, %p : f32
        affine.yield %new : f32
      }
      %r = arith.maximumf %sum, %zero : f32
      %n = arith.truncf %r : f32 to f16
      affine.store %n, %C[%i, %j] : memref<1000x768xf16>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// -----

// no-match: f32, and loops that nobody says are parallel.
// CHECK-LABEL: func.func @exact
// CHECK-NOT: gpu.
// CHECK: arith.mulf
func.func @exact(%A: memref<512x512xf32> {llvm.noalias}, %B: memref<512x512xf32> {llvm.noalias}, %C: memref<512x512xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 512 {
    affine.for %j = 0 to 512 {
      %sum = affine.for %k = 0 to 512 iter_args(%s = %zero) -> f32 {
        %a = affine.load %A[%i, %k] : memref<512x512xf32>
        %b = affine.load %B[%j, %k] : memref<512x512xf32>
        %p = arith.mulf %a, %b : f32
        %new = arith.addf %s, %p : f32
        affine.yield %new : f32
      }
      affine.store %sum, %C[%i, %j] : memref<512x512xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// -----

// A convolution of bytes, channels last: rows are pixels, the sum runs along taps and channels; the loop before it has a function.
// CHECK-LABEL: func.func @conv(
// CHECK: call @conv_loops
// CHECK: gpu.launch_func @conv_kernel::@conv_kernel
// CHECK: gpu.func @conv_kernel
// CHECK: nvgpu.device_async_copy %{{.*}}, 16
// CHECK: nvgpu.mma.sync({{.*}}) {mmaShape = [16, 8, 32]} : (vector<4x4xi8>, vector<2x4xi8>, vector<2x2xi32>) -> vector<2x2xi32>
// CHECK: func.func private @conv_loops
// CHECK: affine.for
func.func @conv(%X: memref<30x30x64xi8> {llvm.noalias}, %W: memref<64x3x3x64xi8> {llvm.noalias}, %C: memref<28x28x64xi32> {llvm.noalias}) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i8
  affine.for %i = 0 to 30 {
    affine.store %one, %X[0, %i, 0] : memref<30x30x64xi8>
  } {dlc.parallel}
  affine.for %y = 0 to 28 {
    affine.for %x = 0 to 28 {
      affine.for %o = 0 to 64 {
        %total = affine.for %u = 0 to 3 iter_args(%s = %zero) -> i32 {
          %part = affine.for %v = 0 to 3 iter_args(%t = %s) -> i32 {
            %sum = affine.for %c = 0 to 64 iter_args(%r = %t) -> i32 {
              %a = affine.load %X[%y + %u, %x + %v, %c] : memref<30x30x64xi8>
              %b = affine.load %W[%o, %u, %v, %c] : memref<64x3x3x64xi8>
              %l = arith.extsi %a : i8 to i32
              %w = arith.extsi %b : i8 to i32
              %p = arith.muli %l, %w : i32
              %new = arith.addi %r, %p : i32
              affine.yield %new : i32
            }
            affine.yield %sum : i32
          }
          affine.yield %part : i32
        }
        affine.store %total, %C[%y, %x, %o] : memref<28x28x64xi32>
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// -----

// no match: an operand of 2^84 elements, which have no numbers.
// CHECK-LABEL: func.func @no_memory(
// CHECK-NOT: gpu.launch_func
func.func @no_memory(%A: memref<4398046511104x4398046511104xi8> {llvm.noalias}, %B: memref<4398046511104x64xi8> {llvm.noalias}, %C: memref<64x64xi32> {llvm.noalias}) {
  %zero = arith.constant 0 : i32
  affine.for %m = 0 to 64 {
    affine.for %n = 0 to 64 {
      %total = affine.for %k = 0 to 64 iter_args(%s = %zero) -> i32 {
        %a = affine.load %A[%m, %k] : memref<4398046511104x4398046511104xi8>
        %b = affine.load %B[%k, %n] : memref<4398046511104x64xi8>
        %l = arith.extsi %a : i8 to i32
        %w = arith.extsi %b : i8 to i32
        %p = arith.muli %l, %w : i32
        %new = arith.addi %s, %p : i32
        affine.yield %new : i32
      }
      affine.store %total, %C[%m, %n] : memref<64x64xi32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}
