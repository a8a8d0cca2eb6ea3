// RUN: dlc-opt %s --dl-set-target=target=cpu:skylake-avx512 --affine-polyhedral-schedule --split-input-file --verify-diagnostics | filecheck %s

// A matrix product whose innermost loop goes down columns: tiles of vectors, the sum innermost.
// CHECK-LABEL: func.func @matmul
// CHECK: affine.for %[[J:.*]] = 0 to 2 {
// CHECK:   affine.for %[[I:.*]] = 0 to 4 {
// CHECK:     affine.for %[[K:.*]] = 0 to 32 {
// CHECK:       affine.load %arg0[%[[I]] * 12, %[[K]]]
// CHECK:       affine.vector_load %arg1[%[[K]], %[[J]] * 32] : memref<32x64xf32>, vector<16xf32>
// CHECK:       affine.vector_load %arg2[%[[I]] * 12, %[[J]] * 32] : memref<48x64xf32>, vector<16xf32>
// CHECK:       affine.vector_store %{{.*}}, %arg2[%[[I]] * 12, %[[J]] * 32]
// CHECK:       affine.vector_store %{{.*}}, %arg2[%[[I]] * 12 + 11, %[[J]] * 32 + 16]
// CHECK:     }
// CHECK:   } {dlc.parallel}
// CHECK: } {dlc.parallel}
func.func @matmul(%A: memref<48x32xf32> {llvm.noalias}, %B: memref<32x64xf32> {llvm.noalias}, %C: memref<48x64xf32> {llvm.noalias}) {
  affine.for %i = 0 to 48 {
    affine.for %j = 0 to 64 {
      affine.for %k = 0 to 32 {
        %a = affine.load %A[%i, %k] : memref<48x32xf32>
        %b = affine.load %B[%k, %j] : memref<32x64xf32>
        %c = affine.load %C[%i, %j] : memref<48x64xf32>
        %p = arith.mulf %a, %b : f32
        %s = arith.addf %c, %p : f32
        affine.store %s, %C[%i, %j] : memref<48x64xf32>
      }
    }
  }
  return
}

// -----

// no-match: every iteration needs the one before; the loop stays.
// CHECK-LABEL: func.func @recurrence
// CHECK: affine.for %[[I:.*]] = 1 to 64 {
// CHECK:   affine.load %arg0[%[[I]] - 1]
// CHECK:   affine.store
// CHECK: }
// CHECK-NOT: dlc.parallel
func.func @recurrence(%A: memref<64xf32>) {
  affine.for %i = 1 to 64 {
    %a = affine.load %A[%i - 1] : memref<64xf32>
    %s = arith.addf %a, %a : f32
    affine.store %s, %A[%i] : memref<64xf32>
  }
  return
}

// -----

// Column by column becomes row by row.
// CHECK-LABEL: func.func @columns
// CHECK: affine.for %[[I:.*]] = 0 to 64
// CHECK:   affine.for %[[J:.*]] = 0 to 2
// CHECK:     affine.vector_store %{{.*}}, %arg0[%[[I]], %[[J]] * 16]
func.func @columns(%A: memref<64x32xf32>, %x: f32) {
  affine.for %j = 0 to 32 {
    affine.for %i = 0 to 64 {
      affine.store %x, %A[%i, %j] : memref<64x32xf32>
    }
  }
  return
}

// -----

func.func @aliases(%A: memref<64xf32>, %B: memref<64xf32>) {
  affine.for %i = 0 to 64 {
    // expected-error@below {{it touches a memref that may share memory with %arg1, which is written here; mark the arguments {llvm.noalias}}}
    %a = affine.load %A[%i] : memref<64xf32>
    affine.store %a, %B[%i] : memref<64xf32>
  }
  return
}

// -----

func.func @local(%B: memref<64xf32> {llvm.noalias}, %x: f32) {
  affine.for %i = 0 to 64 {
    // expected-error@below {{this memory is allocated inside loops; run --affine-expand-buffers first}}
    %w = memref.alloca() : memref<f32>
    affine.store %x, %w[] : memref<f32>
    %v = affine.load %w[] : memref<f32>
    affine.store %v, %B[%i] : memref<64xf32>
  }
  return
}
