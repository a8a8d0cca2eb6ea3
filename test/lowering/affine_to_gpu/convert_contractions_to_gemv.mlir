// RUN: dlc-opt %s --dl-set-target=target=gpu:sm_90 --convert-contractions-to-gemv --split-input-file | filecheck %s
// It refuses nothing: what does not fit stays.

// Eight lanes go along 32 columns of a block by vectors of four; 64 threads with the same columns split the sum, twice four neighbours each.
// CHECK-LABEL: func.func @vector
// CHECK: gpu.launch_func @{{.*}} blocks in (%c128{{.*}}, %c1{{.*}}, %c1{{.*}}) threads in (%c512{{.*}}, %c1{{.*}}, %c1{{.*}})
// CHECK-NOT: affine.for
// CHECK: gpu.func
// CHECK: %[[S:.*]]:4 = affine.for %[[Q:.*]] = 0 to 8 iter_args
// CHECK: affine.vector_load %{{.*}}[(%[[Q]] * 128 + %[[T:.*]] floordiv 8) * 4, (%{{.*}} * 8 + %[[T]] mod 8) * 4] : {{.*}}, vector<4xf32>
// CHECK-COUNT-7: affine.vector_load %{{.*}} memref<4096x4096xf32>, vector<4xf32>
// CHECK-COUNT-2: affine.vector_load %{{.*}} memref<1x4096xf32>, vector<4xf32>
// CHECK-COUNT-32: math.fma
// CHECK: gpu.shuffle xor %[[S]]#0, %c16
// CHECK-COUNT-7: gpu.shuffle xor
// CHECK-COUNT-4: affine.store %{{.*}} memref<16x32xf32, #gpu.address_space<workgroup>>
// CHECK: gpu.barrier
// CHECK-COUNT-16: affine.load %{{.*}} memref<16x32xf32, #gpu.address_space<workgroup>>
// CHECK: %[[R:.*]] = arith.maximumf
// CHECK: memref.store %[[R]]
func.func @vector(%A: memref<1x4096xf32> {llvm.noalias}, %B: memref<4096x4096xf32> {llvm.noalias}, %C: memref<1x4096xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  affine.for %j = 0 to 4096 {
    %sum = affine.for %k = 0 to 4096 iter_args(%s = %zero) -> f32 {
      %a = affine.load %A[0, %k] : memref<1x4096xf32>
      %b = affine.load %B[%k, %j] : memref<4096x4096xf32>
      %p = arith.mulf %a, %b : f32
      %t = arith.addf %s, %p : f32
      affine.yield %t : f32
    }
    %r = arith.maximumf %sum, %zero : f32
    affine.store %r, %C[0, %j] : memref<1x4096xf32>
  } {dlc.parallel}
  return
}

// -----

// A sum whose length run time knows: as many whole steps as it has, and the rest one by one.
// CHECK-LABEL: func.func @open
// CHECK: gpu.launch_func @{{.*}} args({{.*}}memref<1x?xf32>
// CHECK: gpu.func
// CHECK: affine.for %{{.*}} = 0 to #{{.*}}(%[[N:.*]]) iter_args
// CHECK: affine.vector_load %{{.*}} memref<?x4096xf32>, vector<4xf32>
// CHECK: affine.for %{{.*}} = 0 to #{{.*}}(%{{.*}}, %[[N]]) iter_args
// CHECK: gpu.shuffle
func.func @open(%A: memref<1x?xf32> {llvm.noalias}, %B: memref<?x4096xf32> {llvm.noalias}, %C: memref<1x4096xf32> {llvm.noalias}, %n: index) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 1 {
    affine.for %j = 0 to 4096 {
      %sum = affine.for %k = 0 to %n iter_args(%s = %zero) -> f32 {
        %a = affine.load %A[%i, %k] : memref<1x?xf32>
        %b = affine.load %B[%k, %j] : memref<?x4096xf32>
        %p = arith.mulf %a, %b : f32
        %new = arith.addf %s, %p : f32
        affine.yield %new : f32
      }
      affine.store %sum, %C[%i, %j] : memref<1x4096xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// -----

// no-match: so many rows are no few; and sums whose elements lie side by side are rows of memory.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-5: affine.for
// CHECK-NOT: gpu.launch_func
func.func @others(%A: memref<64x256xf32> {llvm.noalias}, %B: memref<256x256xf32> {llvm.noalias}, %C: memref<64x256xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 64 {
    affine.for %j = 0 to 256 {
      %sum = affine.for %k = 0 to 256 iter_args(%s = %zero) -> f32 {
        %a = affine.load %A[%i, %k] : memref<64x256xf32>
        %b = affine.load %B[%k, %j] : memref<256x256xf32>
        %p = arith.mulf %a, %b : f32
        %t = arith.addf %s, %p : f32
        affine.yield %t : f32
      }
      affine.store %sum, %C[%i, %j] : memref<64x256xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  affine.for %j = 0 to 256 {
    %sum = affine.for %k = 0 to 256 iter_args(%s = %zero) -> f32 {
      %a = affine.load %A[0, %k] : memref<64x256xf32>
      %b = affine.load %B[%j, %k] : memref<256x256xf32>
      %p = arith.mulf %a, %b : f32
      %t = arith.addf %s, %p : f32
      affine.yield %t : f32
    }
    affine.store %sum, %C[0, %j] : memref<64x256xf32>
  } {dlc.parallel}
  return
}

// -----

// no-match: no strides find the elements of the matrix.
// CHECK-LABEL: func.func @tiles(
// CHECK-NOT: gpu.launch
// CHECK: affine.for
#tiles = affine_map<(d0, d1) -> (d0 floordiv 2, d1, d0 mod 2)>
func.func @tiles(%a: memref<64x64xf32, #tiles> {llvm.noalias}, %x: memref<64xf32> {llvm.noalias}, %y: memref<64xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 64 {
    %r = affine.for %l = 0 to 64 iter_args(%s = %zero) -> f32 {
      %v = affine.load %a[%i, %l] : memref<64x64xf32, #tiles>
      %w = affine.load %x[%l] : memref<64xf32>
      %p = arith.mulf %v, %w : f32
      %t = arith.addf %s, %p : f32
      affine.yield %t : f32
    }
    affine.store %r, %y[%i] : memref<64xf32>
  } {dlc.parallel}
  return
}
