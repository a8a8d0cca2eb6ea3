// RUN: dlc-opt %s --convert-affine-to-gpu --split-input-file --verify-diagnostics | filecheck %s

// A grid of the size of the loops; threads without an iteration do nothing.
// CHECK-LABEL: func.func @guard
// CHECK: gpu.launch blocks(%[[B:.*]], %{{.*}}, %{{.*}}) in (%{{.*}} = %c4{{.*}}, %{{.*}} = %c1{{.*}}) threads(%[[T:.*]], %{{.*}}, %{{.*}}) in (%{{.*}} = %c32
// CHECK-NEXT: affine.if #set(%[[B]], %[[T]]) {
// CHECK-NEXT:   affine.store %arg1, %arg0[%[[B]] * 32 + %[[T]]]
// CHECK-NEXT: }
// CHECK-NEXT: gpu.terminator
func.func @guard(%A: memref<100xf32>, %x: f32) {
  affine.for %b = 0 to 4 {
    affine.for %t = 0 to min affine_map<(b) -> (32, 100 - 32 * b)>(%b) {
      affine.store %x, %A[%b * 32 + %t] : memref<100xf32>
    } {dlc.name = "kernel0.thread.x"}
  } {dlc.name = "kernel0.block.x"}
  return
}

// -----

// Two phases with a buffer between them: shared memory and a barrier. What has no loop over threads is done by the first.
// CHECK-LABEL: func.func @phases
// CHECK: gpu.launch {{.*}} workgroup(%[[W:.*]] : memref<64xf32, #gpu.address_space<workgroup>>) {
// CHECK:   affine.load %arg0[%{{.*}} * 64 + %[[T:.*]]]
// CHECK:   affine.store %{{.*}}, %[[W]][%[[T]]]
// CHECK:   gpu.barrier
// CHECK:   affine.load %[[W]][-%[[T]] + 63]
// CHECK:   affine.store %{{.*}}, %arg0[%{{.*}} * 64 + %[[T]]]
// CHECK:   gpu.barrier
// CHECK:   affine.if #set(%[[T]]) {
// CHECK:     affine.store %{{.*}}, %arg0[%{{.*}} * 64]
// CHECK:   }
// CHECK-NEXT: gpu.terminator
func.func @phases(%A: memref<256xf32>, %x: f32) {
  affine.for %b = 0 to 4 {
    %w = memref.alloca() : memref<64xf32>
    affine.for %t = 0 to 64 {
      %a = affine.load %A[%b * 64 + %t] : memref<256xf32>
      affine.store %a, %w[%t] : memref<64xf32>
    } {dlc.name = "kernel0.thread.x"}
    affine.for %t = 0 to 64 {
      %a = affine.load %w[63 - %t] : memref<64xf32>
      affine.store %a, %A[%b * 64 + %t] : memref<256xf32>
    } {dlc.name = "kernel0.thread.x"}
    affine.store %x, %A[%b * 64] : memref<256xf32>
  } {dlc.name = "kernel0.block.x"}
  return
}

// -----

// A triangle on a box; more rows than a grid has blocks along y are taken in turns. The host's loop and other work stay in order.
// CHECK-LABEL: func.func @triangle
// CHECK: %[[W:.*]] = gpu.alloc () : memref<f32>
// CHECK: affine.for %[[K:.*]] = 0 to 3 {
// CHECK:   %[[N:.*]] = affine.max #{{.*}}(%[[K]])
// CHECK:   gpu.launch blocks(%[[X:.*]], %[[Y:.*]], %{{.*}}) in (%{{.*}} = %[[N]], %{{.*}} = %c65535
// CHECK:     affine.for %[[R:.*]] = 0 to #{{.*}}(%[[Y]]) {
// CHECK:       %[[I:.*]] = affine.apply #{{.*}}(%[[Y]], %[[R]])
// CHECK:       %[[J:.*]] = affine.apply #{{.*}}(%[[K]], %[[X]])
// CHECK:       affine.if #{{.*}}(%{{.*}}, %[[I]], %[[J]]) {
// CHECK:         affine.store %arg1, %arg0[%[[I]], %[[J]]]
// CHECK: gpu.launch blocks({{.*}}) in ({{.*}} = %c1{{.*}}) threads
// CHECK-NEXT: affine.store %arg1, %[[W]][]
// CHECK: gpu.dealloc %[[W]]
func.func @triangle(%A: memref<70000x70000xf32>, %x: f32) {
  %w = memref.alloca() : memref<f32>
  affine.for %k = 0 to 3 {
    affine.for %i = 0 to 70000 {
      affine.for %j = affine_map<(k) -> (k)>(%k) to affine_map<(i) -> (i)>(%i) {
        affine.store %x, %A[%i, %j] : memref<70000x70000xf32>
      } {dlc.name = "block.x"}
    } {dlc.name = "block.y"}
  }
  affine.store %x, %w[] : memref<f32>
  return
}

// -----

// no-match: no loop is mapped.
// CHECK-LABEL: func.func @plain
// CHECK-NOT: gpu.launch
func.func @plain(%A: memref<64xf32>, %x: f32) {
  affine.for %i = 0 to 64 {
    affine.store %x, %A[%i] : memref<64xf32>
  } {dlc.name = "rows"}
  return
}

// -----

func.func @unbounded(%A: memref<?xf32>, %n: index, %x: f32) {
  // expected-error@below {{a loop over threads has no constant bounds; tile it first, or map it to blocks}}
  affine.for %i = 0 to %n {
    affine.store %x, %A[%i] : memref<?xf32>
  } {dlc.name = "thread.x"}
  return
}

// -----

func.func @many(%A: memref<2000xf32>, %x: f32) {
  // expected-error@below {{a block of 2000 threads, where sm_80 has at most 1024; tile the loops}}
  affine.for %i = 0 to 2000 {
    affine.store %x, %A[%i] : memref<2000xf32>
  } {dlc.name = "thread.x"}
  return
}

// -----

// A number that lies in the GPU's memory is read by the kernel, not by the host.
// CHECK-LABEL: func.func @scaled
// CHECK-NOT: affine.load
// CHECK: gpu.launch
// CHECK: affine.load %arg1[] : memref<f32>
// CHECK: gpu.terminator
// CHECK-NEXT: }
// CHECK-NEXT: return
func.func @scaled(%A: memref<64xf32> {llvm.noalias}, %s: memref<f32> {llvm.noalias}) {
  %f = affine.load %s[] : memref<f32>
  affine.for %b = 0 to 2 {
    affine.for %t = 0 to 32 {
      %a = affine.load %A[%b * 32 + %t] : memref<64xf32>
      %m = arith.mulf %a, %f : f32
      affine.store %m, %A[%b * 32 + %t] : memref<64xf32>
    } {dlc.name = "kernel0.thread.x"}
  } {dlc.name = "kernel0.block.x"}
  return
}

// -----

// The view of a row that such a number names is the kernel's, too.
// CHECK-LABEL: func.func @row
// CHECK-NOT: memref.subview
// CHECK: gpu.launch
// CHECK: %[[I:.*]] = affine.load %arg1[] : memref<index>
// CHECK: %[[ROW:.*]] = memref.subview %arg0[%[[I]], 0]
// CHECK: affine.store %{{.*}}, %[[ROW]][0, %{{.*}}]
func.func @row(%A: memref<8x32xf32> {llvm.noalias}, %n: memref<index> {llvm.noalias}, %x: f32) {
  %i = affine.load %n[] : memref<index>
  %row = memref.subview %A[%i, 0] [1, 32] [1, 1] : memref<8x32xf32> to memref<1x32xf32, strided<[32, 1], offset: ?>>
  affine.for %b = 0 to 1 {
    affine.for %t = 0 to 32 {
      affine.store %x, %row[0, %t] : memref<1x32xf32, strided<[32, 1], offset: ?>>
    } {dlc.name = "kernel0.thread.x"}
  } {dlc.name = "kernel0.block.x"}
  return
}

// -----

func.func @sum(%a: memref<64xf32>, %x: f32) {
  // expected-error@+1 {{a mapped loop hands values from one iteration to the next; keep them in a memref}}
  %q = affine.for %i = 0 to 64 iter_args(%s = %x) -> f32 {
    %v = affine.load %a[%i] : memref<64xf32>
    %t = arith.addf %s, %v : f32
    affine.yield %t : f32
  } {dlc.name = "kernel0.block.x"}
  affine.store %q, %a[0] : memref<64xf32>
  return
}
