// RUN: dlc-opt %s --dl-set-target=target=gpu:sm_80 --affine-split-contractions --canonicalize --split-input-file | filecheck %s
// RUN: dlc-opt %s --dl-set-target=target=gpu:sm_80 --affine-split-contractions --convert-contractions-to-mma --split-input-file | filecheck %s --check-prefix=MMA
// RUN: dlc-opt %s --dl-set-target=target=gpu:sm_80 --affine-split-contractions --convert-contractions-to-simt --canonicalize --split-input-file | filecheck %s --check-prefix=SIMT
// RUN: dlc-opt %s --dl-set-target=target=gpu:sm_75 --affine-split-contractions --split-input-file | filecheck %s --check-prefix=TURING
// It refuses nothing: what does not pay stays. 96 blocks of results leave some of 108 multiprocessors idle, for a long time.

// MMA: gpu.launch_func @long_kernel::@long_kernel blocks in (%{{.*}}, %{{.*}}, %c4
// MMA-NEXT: call @long_loops(
// TURING-NOT: memref.alloc

// Parts of the sum are one more batch. They are added in their order to what the sum starts at, and the epilogue follows.
// CHECK-LABEL: func.func @long
// CHECK: %[[P:.*]] = memref.alloc() : memref<4x64x768xf32>
// CHECK: affine.for %[[Q:.*]] = 0 to 4 {
// CHECK:   affine.for %[[I:.*]] = 0 to 64 {
// CHECK:     affine.for %[[J:.*]] = 0 to 768 {
// CHECK:       %[[S:.*]] = affine.for %[[K:.*]] = 0 to 768 iter_args(%{{.*}} = %[[ZERO:.*]]) -> (f32) {
// CHECK:         affine.load %arg0[%[[I]], %[[Q]] * 768 + %[[K]]]
// CHECK:         affine.load %arg1[%[[Q]] * 768 + %[[K]], %[[J]]]
// CHECK:       affine.store %[[S]], %[[P]][%[[Q]], %[[I]], %[[J]]]
// CHECK:     } {dlc.parallel}
// CHECK: affine.for %[[I:.*]] = 0 to 64 {
// CHECK:   affine.for %[[J:.*]] = 0 to 768 {
// CHECK:     %[[B:.*]] = affine.load %arg3[%[[J]]]
// CHECK:     %[[P0:.*]] = affine.load %[[P]][0, %[[I]], %[[J]]]
// CHECK:     %[[S0:.*]] = arith.addf %[[B]], %[[P0]]
// CHECK:     %[[P1:.*]] = affine.load %[[P]][1, %[[I]], %[[J]]]
// CHECK:     %[[S1:.*]] = arith.addf %[[S0]], %[[P1]]
// CHECK:     affine.load %[[P]][3, %[[I]], %[[J]]]
// CHECK:     arith.truncf
// CHECK-NEXT: affine.store
// CHECK: memref.dealloc %[[P]]
func.func @long(%A: memref<64x3072xf16> {llvm.noalias}, %B: memref<3072x768xf16> {llvm.noalias}, %C: memref<64x768xf16> {llvm.noalias}, %b: memref<768xf32> {llvm.noalias}) {
  affine.for %i = 0 to 64 {
    affine.for %j = 0 to 768 {
      %bias = affine.load %b[%j] : memref<768xf32>
      %sum = affine.for %k = 0 to 3072 iter_args(%s = %bias) -> f32 {
        %a = affine.load %A[%i, %k] : memref<64x3072xf16>
        %w = affine.load %B[%k, %j] : memref<3072x768xf16>
        %x = arith.extf %a : f16 to f32
        %y = arith.extf %w : f16 to f32
        %p = arith.mulf %x, %y : f32
        %new = arith.addf %s, %p : f32
        affine.yield %new : f32
      }
      %n = arith.truncf %sum : f32 to f16
      affine.store %n, %C[%i, %j] : memref<64x768xf16>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// -----

// no-match: a short sum costs less than another launch.
// CHECK-LABEL: func.func @conv
// CHECK-NOT: memref.alloc
func.func @conv(%X: memref<9x9x64xf16> {llvm.noalias}, %W: memref<64x3x3x64xf16> {llvm.noalias}, %C: memref<7x7x64xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  affine.for %y = 0 to 7 {
    affine.for %x = 0 to 7 {
      affine.for %o = 0 to 64 {
        %total = affine.for %u = 0 to 3 iter_args(%s = %zero) -> f32 {
          %part = affine.for %v = 0 to 3 iter_args(%t = %s) -> f32 {
            %sum = affine.for %c = 0 to 64 iter_args(%r = %t) -> f32 {
              %a = affine.load %X[%y + %u, %x + %v, %c] : memref<9x9x64xf16>
              %b = affine.load %W[%o, %u, %v, %c] : memref<64x3x3x64xf16>
              %l = arith.extf %a : f16 to f32
              %w = arith.extf %b : f16 to f32
              %p = arith.mulf %l, %w : f32
              %new = arith.addf %r, %p : f32
              affine.yield %new : f32
            }
            affine.yield %sum : f32
          }
          affine.yield %part : f32
        }
        affine.store %total, %C[%y, %x, %o] : memref<7x7x64xf32>
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// -----

// Exact products, which tensor cores do not take, are split, too. The nest that adds parts becomes a function whose arguments are apart: memory of a result shares none.
// SIMT-LABEL: func.func private @exact
// SIMT: gpu.launch_func @exact_kernel::@exact_kernel blocks in (%{{.*}}, %{{.*}}, %c{{[0-9]+}})
// SIMT-NEXT: call @exact_loops(
// SIMT: func.func private @exact_loops(%{{.*}}: memref<{{[0-9]+}}x128x768xf32> {llvm.noalias}, %{{.*}}: memref<128x768xf32> {llvm.noalias}, %{{.*}}: memref<128x768xf32> {llvm.noalias})
// CHECK-LABEL: func.func private @exact
// CHECK: memref.alloc() : memref<{{[0-9]+}}x128x768xf32>
func.func private @exact(%A: memref<128x3072xf32> {llvm.noalias}, %B: memref<3072x768xf32> {llvm.noalias}, %R: memref<128x768xf32>, %C: memref<128x768xf32> {dl.result}) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 128 {
    affine.for %j = 0 to 768 {
      %sum = affine.for %k = 0 to 3072 iter_args(%s = %zero) -> f32 {
        %a = affine.load %A[%i, %k] : memref<128x3072xf32>
        %b = affine.load %B[%k, %j] : memref<3072x768xf32>
        %p = arith.mulf %a, %b : f32
        %new = arith.addf %s, %p : f32
        affine.yield %new : f32
      }
      %r = affine.load %R[%i, %j] : memref<128x768xf32>
      %n = arith.addf %sum, %r : f32
      affine.store %n, %C[%i, %j] : memref<128x768xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}
