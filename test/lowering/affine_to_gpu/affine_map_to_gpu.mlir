// RUN: dlc-opt %s --dl-set-target=target=gpu:sm_80 --affine-map-to-gpu --split-input-file --verify-diagnostics | filecheck %s
// RUN: dlc-opt %s --affine-map-to-gpu=leave-others=true --split-input-file | filecheck %s --check-prefix=LEFT

// Rows and columns of the result; neighbours of a warp are neighbours in memory, the sum stays in a thread.
// CHECK-LABEL: func.func @matmul
// CHECK: affine.for %[[BY:.*]] = 0 to 25 {
// CHECK-NEXT: affine.for %[[BX:.*]] = 0 to 5 {
// CHECK-NEXT: affine.for %[[TY:.*]] = 0 to 8 {
// CHECK-NEXT: affine.for %[[TX:.*]] = 0 to min #{{.*}}(%[[BX]]) {
// CHECK-NEXT: affine.for %[[K:.*]] = 0 to 32 {
// CHECK-NEXT:   affine.load %arg0[%[[BY]] * 8 + %[[TY]], %[[K]]]
// CHECK-NEXT:   affine.load %arg1[%[[K]], %[[BX]] * 32 + %[[TX]]]
// CHECK: } {dlc.name = "kernel0.thread.x", dlc.parallel}
// CHECK-NEXT: } {dlc.name = "kernel0.thread.y", dlc.parallel}
// CHECK-NEXT: } {dlc.name = "kernel0.block.x", dlc.parallel}
// CHECK-NEXT: } {dlc.name = "kernel0.block.y", dlc.parallel}
func.func @matmul(%A: memref<200x32xf32> {llvm.noalias}, %B: memref<32x150xf32> {llvm.noalias}, %C: memref<200x150xf32> {llvm.noalias}) {
  affine.for %j = 0 to 150 {
    affine.for %i = 0 to 200 {
      affine.for %k = 0 to 32 {
        %a = affine.load %A[%i, %k] : memref<200x32xf32>
        %b = affine.load %B[%k, %j] : memref<32x150xf32>
        %c = affine.load %C[%i, %j] : memref<200x150xf32>
        %p = arith.mulf %a, %b : f32
        %s = arith.addf %c, %p : f32
        affine.store %s, %C[%i, %j] : memref<200x150xf32>
      }
    }
  }
  return
}

// -----

// Enough work for tiles: 64 x 64 results for a block, 4 x 4 for a thread. For each tile of the sum all threads copy what the block
// reads to shared memory; blocks at the edge run loops instead of copies.
// CHECK-LABEL: func.func @tiles
// CHECK: affine.for %[[BY:.*]] = 0 to 16 {
// CHECK:   affine.for %[[BX:.*]] = 0 to 16 {
// CHECK:     %[[B:.*]] = memref.alloca(){{.*}} : memref<16x64xf32>
// CHECK:     %[[A:.*]] = memref.alloca(){{.*}} : memref<64x16xf32>
// CHECK:     affine.for %[[K:.*]] = 0 to 8 {
// CHECK:       affine.for %[[TY:.*]] = 0 to 16 {
// CHECK:         affine.for %[[TX:.*]] = 0 to 16 {
// CHECK:           affine.load %arg1[%[[K]] * 16 + %[[TY]], %[[TX]] + %{{.*}} * 16]
// CHECK:           affine.store %{{.*}}, %[[B]][%[[TY]], %[[BX]] * -64 + %[[TX]] + %{{.*}} * 16]
// CHECK:           affine.load %arg0[%[[TY]] + %{{.*}} * 16, %[[K]] * 16 + %[[TX]]]
// CHECK:           affine.store %{{.*}}, %[[A]][%[[BY]] * -64 + %[[TY]] + %{{.*}} * 16, %[[TX]]]
// CHECK:       affine.if #{{.*}}(%[[BY]]) {
// CHECK:         affine.for %[[TY:.*]] = 0 to 16 {
// CHECK:           affine.for %[[TX:.*]] = 0 to 16 {
// CHECK:             affine.load %[[A]][%[[TY]], %[[K]] * -16 + %[[S:.*]]]
// CHECK:             affine.store %{{.*}}, %arg2[%[[BY]] * 64 + %[[TY]], %[[BX]] * 64 + %[[TX]]]
// CHECK:             affine.store %{{.*}}, %arg2[%[[BY]] * 64 + %[[TY]] + 48, %[[BX]] * 64 + %[[TX]] + 48]
// CHECK:       } else {
// CHECK:     } {dlc.name = "kernel0.tile0"}
func.func @tiles(%A: memref<1000x128xf32> {llvm.noalias}, %B: memref<128x1024xf32> {llvm.noalias}, %C: memref<1000x1024xf32> {llvm.noalias}) {
  affine.for %i = 0 to 1000 {
    affine.for %j = 0 to 1024 {
      affine.for %k = 0 to 128 {
        %a = affine.load %A[%i, %k] : memref<1000x128xf32>
        %b = affine.load %B[%k, %j] : memref<128x1024xf32>
        %c = affine.load %C[%i, %j] : memref<1000x1024xf32>
        %p = arith.mulf %a, %b : f32
        %s = arith.addf %c, %p : f32
        affine.store %s, %C[%i, %j] : memref<1000x1024xf32>
      }
    }
  }
  return
}

// -----

// Each step needs the one before: the loop over steps stays on the host, and each statement is a kernel of its own.
// CHECK-LABEL: func.func @steps
// CHECK: affine.for %{{.*}} = 0 to 10 {
// CHECK:   affine.for %{{.*}} = 0 to 63 {
// CHECK:     } {dlc.name = "kernel0.thread.x", dlc.parallel}
// CHECK:   } {dlc.name = "kernel0.block.x", dlc.parallel}
// CHECK:     } {dlc.name = "kernel1.thread.x", dlc.parallel}
// CHECK:   } {dlc.name = "kernel1.block.x", dlc.parallel}
// CHECK-NEXT: }
// CHECK-NEXT: return
func.func @steps(%A: memref<4000xf32> {llvm.noalias}, %B: memref<4000xf32> {llvm.noalias}) {
  affine.for %t = 0 to 10 {
    affine.for %i = 1 to 3999 {
      %l = affine.load %A[%i - 1] : memref<4000xf32>
      %r = affine.load %A[%i + 1] : memref<4000xf32>
      %s = arith.addf %l, %r : f32
      affine.store %s, %B[%i] : memref<4000xf32>
    }
    affine.for %i = 1 to 3999 {
      %b = affine.load %B[%i] : memref<4000xf32>
      affine.store %b, %A[%i] : memref<4000xf32>
    }
  }
  return
}

// -----

// Rows, and in each two loops that follow each other: a warp for each row, and the loops along its threads; four
// neighbours each, where these are vectors.
// CHECK-LABEL: func.func @rows
// CHECK: affine.for %[[B:.*]] = 0 to 500 {
// CHECK:   affine.for %[[Y:.*]] = 0 to 8 {
// CHECK:     affine.for %[[X:.*]] = 0 to 32 {
// CHECK:       affine.for %[[Q:.*]] = 0 to #{{.*}}(%[[X]]) {
// CHECK:         affine.for %[[V:.*]] = 0 to 4 {
// CHECK:           affine.store %{{.*}}, %arg1[%[[B]] * 8 + %[[Y]], %[[X]] * 4 + %[[Q]] * 128 + %[[V]]]
// CHECK:   affine.for %[[Y:.*]] = 0 to 8 {
// CHECK:     affine.for %[[X:.*]] = 0 to 32 {
// CHECK:       affine.load %arg1[%[[B]] * 8 + %[[Y]], -(%[[X]] + %{{.*}} * 32) + 999]
// CHECK: } {dlc.name = "kernel0.block.y", dlc.parallel}
func.func @rows(%A: memref<4000x1000xf32> {llvm.noalias}, %B: memref<4000x1000xf32> {llvm.noalias}, %C: memref<4000x1000xf32> {llvm.noalias}) {
  affine.for %i = 0 to 4000 {
    affine.for %j = 0 to 1000 {
      %a = affine.load %A[%i, %j] : memref<4000x1000xf32>
      %s = arith.addf %a, %a : f32
      affine.store %s, %B[%i, %j] : memref<4000x1000xf32>
    }
    affine.for %j = 0 to 1000 {
      %b = affine.load %B[%i, 999 - %j] : memref<4000x1000xf32>
      affine.store %b, %C[%i, %j] : memref<4000x1000xf32>
    }
  }
  return
}

// -----

// The size is known when the function is called. A thread takes four neighbours, or what is left of them.
// CHECK-LABEL: func.func @dynamic
// CHECK: affine.for %[[B:.*]] = 0 to #{{.*}}()[%{{.*}}] {
// CHECK:   affine.for %[[T:.*]] = 0 to min #{{.*}}(%[[B]])[%{{.*}}] {
// CHECK:     affine.for %[[V:.*]] = 0 to min #{{.*}}(%[[B]], %[[T]])[%{{.*}}] {
// CHECK:       affine.store %{{.*}}, %arg0[%[[B]] * 1024 + %[[T]] * 4 + %[[V]]]
func.func @dynamic(%A: memref<?xf32> {llvm.noalias}, %x: f32) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %A, %c0 : memref<?xf32>
  affine.for %i = 0 to %n {
    affine.store %x, %A[%i] : memref<?xf32>
  }
  return
}

// -----

// no-match: no loop is free; the function is for the CPU.
// CHECK-LABEL: func.func @recurrence
// CHECK-SAME: attributes {dlc.on_cpu = "no loop has iterations that may run at the same time"}
// CHECK-NOT: dlc.name
func.func @recurrence(%A: memref<64xf32>) {
  affine.for %i = 1 to 64 {
    %a = affine.load %A[%i - 1] : memref<64xf32>
    affine.store %a, %A[%i] : memref<64xf32>
  }
  return
}

// -----

// LEFT-LABEL: func.func @aliases
// LEFT-SAME: attributes {dlc.on_cpu = "it touches a memref that may share memory with %arg1, which is written here; mark
func.func @aliases(%A: memref<64xf32>, %B: memref<64xf32>) {
  affine.for %i = 0 to 64 {
    // expected-error@below {{it touches a memref that may share memory with %arg1, which is written here; mark the arguments {llvm.noalias}}}
    %a = affine.load %A[%i] : memref<64xf32>
    affine.store %a, %B[%i] : memref<64xf32>
  }
  return
}

// -----

func.func @number(%A: memref<64xf32>) -> f32 {
  %zero = arith.constant 0.0 : f32
  // expected-error@below {{the function returns a number that kernels compute; return it in a memref}}
  %sum = affine.for %i = 0 to 64 iter_args(%s = %zero) -> f32 {
    %a = affine.load %A[%i] : memref<64xf32>
    %t = arith.addf %s, %a : f32
    affine.yield %t : f32
  }
  return %sum : f32
}

// -----

func.func @local(%A: memref<64xf32> {llvm.noalias}, %x: f32) {
  affine.for %i = 0 to 64 {
    // expected-error@below {{this memory is allocated inside loops; run --affine-expand-buffers first}}
    %w = memref.alloca() : memref<f32>
    affine.store %x, %w[] : memref<f32>
    %v = affine.load %w[] : memref<f32>
    affine.store %v, %A[%i] : memref<64xf32>
  }
  return
}

// -----

func.func @remainder(%A: memref<64xf32>, %x: f32) {
  affine.for %i = 0 to 64 {
    %a = affine.load %A[%i] : memref<64xf32>
    // expected-error@below {{the GPU has no exact remainder of floats; compute it on the host}}
    %r = arith.remf %a, %x : f32
    affine.store %r, %A[%i] : memref<64xf32>
  }
  return
}

// -----

// A bound nest keeps its tiles, and the nest beside it is mapped.
// CHECK-LABEL: func.func @bound(
// CHECK: affine.for %{{.*}} = 0 to 10 {
// CHECK:   affine.for %{{.*}} = 0 to 10 {
// CHECK:   } {dlc.name = "kernel0.thread.x", dlc.parallel}
// CHECK: } {dlc.name = "kernel0.block.x", dlc.parallel}
// CHECK: } {dlc.name = "kernel2.thread.x", dlc.parallel}
func.func @bound(%A: memref<100xf32> {llvm.noalias}, %B: memref<64xf32> {llvm.noalias}) {
  affine.for %io = 0 to 10 {
    affine.for %ii = 0 to 10 {
      %a = affine.load %A[10 * %io + %ii] : memref<100xf32>
      %b = arith.negf %a : f32
      affine.store %b, %A[10 * %io + %ii] : memref<100xf32>
    } {dlc.name = "kernel0.thread.x"}
  } {dlc.name = "kernel0.block.x"}
  affine.for %i = 0 to 64 {
    %a = affine.load %B[%i] : memref<64xf32>
    %b = arith.negf %a : f32
    affine.store %b, %B[%i] : memref<64xf32>
  }
  return
}

// -----

// LEFT-LABEL: func.func @bound_chain
// LEFT-SAME: dlc.on_cpu = "the mapping would not keep a dependence
func.func @bound_chain(%A: memref<100xf32>) {
  affine.for %i = 1 to 100 {
    // expected-error@below {{the mapping would not keep a dependence}}
    %a = affine.load %A[%i - 1] : memref<100xf32>
    affine.store %a, %A[%i] : memref<100xf32>
  } {dlc.name = "kernel0.block.x"}
  return
}

// -----

// A loop without iterations costs nothing, whatever it was mapped to.
// LEFT-LABEL: func.func @empty
// LEFT: affine.for %{{.*}} = 9 to 4
func.func @empty(%A: memref<100xf32> {llvm.noalias}) {
  affine.for %i = 9 to 4 {
    %a = affine.load %A[%i] : memref<100xf32>
    %b = arith.negf %a : f32
    affine.store %b, %A[%i] : memref<100xf32>
  } {dlc.name = "kernel0.block.x"}
  return
}
