// RUN: dlc-opt %s --convert-affine-to-gpu --split-input-file --verify-diagnostics | filecheck %s
// Each kernel reads by itself what it needs of memory that nobody writes, also one that is behind others.

// CHECK-LABEL: func.func @store_behind
// CHECK: gpu.launch
// CHECK: affine.store %{{.*}}, %arg1
// CHECK: gpu.launch
// CHECK: %[[N:.*]] = memref.load %arg0
// CHECK: %[[E:.*]] = math.floor %[[N]]
// CHECK: %[[I:.*]] = arith.fptosi %[[E]]
// CHECK: %[[AT:.*]] = arith.index_cast %[[I]]
// CHECK: memref.store %{{.*}}, %arg1[%[[AT]]]
func.func @store_behind(%n: memref<1xf32>, %A: memref<64xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %0 = memref.load %n[%c0] : memref<1xf32>
  %1 = math.floor %0 : f32
  %2 = arith.fptosi %1 : f32 to i64
  %at = arith.index_cast %2 : i64 to index
  affine.for %b = 0 to 2 {
    affine.for %t = 0 to 32 {
      affine.store %x, %A[%b * 32 + %t] : memref<64xf32>
    } {dlc.name = "kernel0.thread.x"}
  } {dlc.name = "kernel0.block.x"}
  memref.store %x, %A[%at] : memref<64xf32>
  return
}

// -----

// no-match: what the function writes is read where it was, in a kernel of one thread, which cannot hand a number on.
func.func @written(%A: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{a kernel computes a value that the host uses; keep it in a memref}}
  %0 = memref.load %A[%c0] : memref<64xf32>
  affine.for %b = 0 to 1 {
    affine.for %t = 0 to 32 {
      affine.store %0, %A[%t + 32] : memref<64xf32>
    } {dlc.name = "kernel0.thread.x"}
  } {dlc.name = "kernel0.block.x"}
  return
}
