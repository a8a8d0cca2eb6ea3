// RUN: dlc-opt %s --dl-set-target=target=gpu:sm_80 --affine-map-to-gpu --split-input-file --verify-diagnostics | filecheck %s

// Rows and columns of the result; neighbours of a warp are neighbours in memory, the sum stays in a thread.
// CHECK-LABEL: func.func @matmul
// CHECK: affine.for %[[BY:.*]] = 0 to 125 {
// CHECK-NEXT: affine.for %[[BX:.*]] = 0 to 16 {
// CHECK-NEXT: affine.for %[[TY:.*]] = 0 to 8 {
// CHECK-NEXT: affine.for %[[TX:.*]] = 0 to min #{{.*}}(%[[BX]]) {
// CHECK-NEXT: affine.for %[[K:.*]] = 0 to 32 {
// CHECK-NEXT:   affine.load %arg0[%[[BY]] * 8 + %[[TY]], %[[K]]]
// CHECK-NEXT:   affine.load %arg1[%[[K]], %[[BX]] * 32 + %[[TX]]]
// CHECK: } {dlc.name = "kernel0.thread.x", dlc.parallel}
// CHECK-NEXT: } {dlc.name = "kernel0.thread.y", dlc.parallel}
// CHECK-NEXT: } {dlc.name = "kernel0.block.x", dlc.parallel}
// CHECK-NEXT: } {dlc.name = "kernel0.block.y", dlc.parallel}
func.func @matmul(%A: memref<1000x32xf32> {llvm.noalias}, %B: memref<32x500xf32> {llvm.noalias}, %C: memref<1000x500xf32> {llvm.noalias}) {
  affine.for %j = 0 to 500 {
    affine.for %i = 0 to 1000 {
      affine.for %k = 0 to 32 {
        %a = affine.load %A[%i, %k] : memref<1000x32xf32>
        %b = affine.load %B[%k, %j] : memref<32x500xf32>
        %c = affine.load %C[%i, %j] : memref<1000x500xf32>
        %p = arith.mulf %a, %b : f32
        %s = arith.addf %c, %p : f32
        affine.store %s, %C[%i, %j] : memref<1000x500xf32>
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

// The size is known when the function is called.
// CHECK-LABEL: func.func @dynamic
// CHECK: affine.for %[[B:.*]] = 0 to #{{.*}}()[%{{.*}}] {
// CHECK:   affine.for %[[T:.*]] = 0 to min #{{.*}}(%[[B]])[%{{.*}}] {
// CHECK:     affine.store %{{.*}}, %arg0[%[[B]] * 256 + %[[T]]]
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
// CHECK-SAME: attributes {dlc.on_cpu = "every loop carries a dependence"}
// CHECK-NOT: dlc.name
func.func @recurrence(%A: memref<64xf32>) {
  affine.for %i = 1 to 64 {
    %a = affine.load %A[%i - 1] : memref<64xf32>
    affine.store %a, %A[%i] : memref<64xf32>
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
