// RUN: dlc-opt %s --convert-linalg-to-affine --split-input-file --verify-diagnostics | filecheck %s
// Each linalg op on buffers becomes loops: parallel ones marked and outermost, reductions with accumulators inside.

// A fill just before a contraction is where the accumulators start.
// CHECK-LABEL: func.func private @matmul(
// CHECK-SAME: %[[A:.*]]: memref<?x8xf32>, %[[B:.*]]: memref<8x6xf32>, %[[C:.*]]: memref<?x6xf32>, %[[Z:.*]]: f32)
// CHECK: %[[M:.*]] = memref.dim %[[A]]
// CHECK-NEXT: affine.for %[[I:.*]] = 0 to %[[M]] {
// CHECK-NEXT: affine.for %[[J:.*]] = 0 to 6 {
// CHECK-NEXT: %[[SUM:.*]] = affine.for %[[K:.*]] = 0 to 8 iter_args(%[[ACC:.*]] = %[[Z]]) -> (f32) {
// CHECK-NEXT: %[[X:.*]] = affine.load %[[A]][%[[I]], %[[K]]]
// CHECK-NEXT: %[[Y:.*]] = affine.load %[[B]][%[[K]], %[[J]]]
// CHECK-NEXT: %[[P:.*]] = arith.mulf %[[X]], %[[Y]]
// CHECK-NEXT: %[[S:.*]] = arith.addf %[[ACC]], %[[P]]
// CHECK-NEXT: affine.yield %[[S]]
// CHECK-NEXT: }
// CHECK-NEXT: affine.store %[[SUM]], %[[C]][%[[I]], %[[J]]]
// CHECK-NEXT: } {dlc.parallel}
// CHECK-NEXT: } {dlc.parallel}
func.func private @matmul(%a: memref<?x8xf32>, %b: memref<8x6xf32>, %c: memref<?x6xf32>, %z: f32) {
  linalg.fill ins(%z : f32) outs(%c : memref<?x6xf32>)
  linalg.matmul ins(%a, %b : memref<?x8xf32>, memref<8x6xf32>) outs(%c : memref<?x6xf32>)
  return
}

// Without a fill the accumulators start from the buffer; the window's subscripts stay affine.
// CHECK-LABEL: func.func private @pool(
// CHECK: affine.for %[[O:.*]] = 0 to 4 {
// CHECK: %[[OLD:.*]] = affine.load %{{.*}}[%[[O]]]
// CHECK: affine.for %[[W:.*]] = 0 to 3 iter_args(%{{.*}} = %[[OLD]])
// CHECK: affine.load %{{.*}}[%[[O]] * 2 + %[[W]]]
func.func private @pool(%x: memref<9xf32>, %window: memref<3xf32>, %y: memref<4xf32>) {
  linalg.generic {
    indexing_maps = [affine_map<(o, w) -> (o * 2 + w)>, affine_map<(o, w) -> (w)>, affine_map<(o, w) -> (o)>],
    iterator_types = ["parallel", "reduction"]}
    ins(%x, %window : memref<9xf32>, memref<3xf32>) outs(%y : memref<4xf32>) {
  ^bb0(%a: f32, %unused: f32, %old: f32):
    %m = arith.maximumf %old, %a : f32
    linalg.yield %m : f32
  }
  return
}

// A loop that does not select an output element is not independent: no mark, and the sum stays in memory.
// CHECK-LABEL: func.func private @ordered(
// CHECK: affine.for
// CHECK-NEXT: affine.load
// CHECK-NOT: dlc.parallel
// CHECK: return
func.func private @ordered(%x: memref<4xf32>, %y: memref<1xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (0)>], iterator_types = ["parallel"]}
    ins(%x : memref<4xf32>) outs(%y : memref<1xf32>) {
  ^bb0(%a: f32, %old: f32):
    linalg.yield %a : f32
  }
  return
}

// An output that moves with the reduction and is only written takes each step of it.
// CHECK-LABEL: func.func private @running_sum(
// CHECK-SAME: %[[X:.*]]: memref<4x9xf32>, %[[Y:.*]]: memref<4x9xf32>, %[[T:.*]]: memref<4xf32>
// CHECK: affine.for %[[I:.*]] = 0 to 4 {
// CHECK: %[[START:.*]] = affine.load %[[T]][%[[I]]]
// CHECK: %[[TOTAL:.*]] = affine.for %[[J:.*]] = 0 to 9 iter_args(%[[SUM:.*]] = %[[START]]) -> (f32) {
// CHECK: %[[NEXT:.*]] = arith.addf
// CHECK: affine.store %[[NEXT]], %[[Y]][%[[I]], %[[J]]]
// CHECK: affine.yield %[[NEXT]]
// CHECK: affine.store %[[TOTAL]], %[[T]][%[[I]]]
// CHECK: } {dlc.parallel}
func.func private @running_sum(%x: memref<4x9xf32>, %y: memref<4x9xf32>, %t: memref<4xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]} ins(%x : memref<4x9xf32>) outs(%y, %t : memref<4x9xf32>, memref<4xf32>) {
  ^bb0(%v: f32, %old: f32, %sum: f32):
    %s = arith.addf %sum, %v : f32
    linalg.yield %s, %s : f32, f32
  }
  return
}

// Copies between strided buffers become loops, contiguous ones stay.
// CHECK-LABEL: func.func private @copies(
// CHECK: memref.copy
// CHECK: affine.load
// CHECK-NEXT: affine.store
// CHECK-NOT: memref.copy
func.func private @copies(%x: memref<4xf32>, %y: memref<4xf32>, %z: memref<4xf32, strided<[1], offset: 2>>) {
  memref.copy %x, %y : memref<4xf32> to memref<4xf32>
  memref.copy %x, %z : memref<4xf32> to memref<4xf32, strided<[1], offset: 2>>
  return
}

// CHECK-LABEL: func.func private @no_match(
// CHECK-NEXT: return
func.func private @no_match(%x: memref<4xf32>) {
  return
}

// -----

// Buffers without axes are read and written by affine ops, others at places that are values as before.
// CHECK-LABEL: func.func private @one_element(
// CHECK-NEXT: %[[V:.*]] = affine.load %arg0[] : memref<i64>
// CHECK-NEXT: affine.store %[[V]], %arg1[] : memref<i64>
// CHECK-NEXT: memref.store %[[V]], %arg2[%arg3] : memref<4xi64>
func.func private @one_element(%x: memref<i64>, %y: memref<i64>, %z: memref<4xi64>, %at: index) {
  %0 = memref.load %x[] : memref<i64>
  memref.store %0, %y[] : memref<i64>
  memref.store %0, %z[%at] : memref<4xi64>
  return
}

// -----

// Sizes of one name are one value.
// CHECK-LABEL: func.func private @one_size(
// CHECK-NOT: memref.dim %arg1
// CHECK: memref.alloc
// CHECK-NOT: memref.dim %arg1
// CHECK: affine.for
// CHECK: affine.for
// CHECK: return
func.func private @one_size(%x: memref<?xf32> {dl.dims = ["n"]}, %y: memref<?xf32> {dl.dims = ["n"]}) {
  %axis = arith.constant 0 : index
  %n = memref.dim %y, %axis : memref<?xf32>
  %z = memref.alloc(%n) : memref<?xf32>
  linalg.exp ins(%x : memref<?xf32>) outs(%z : memref<?xf32>)
  linalg.exp ins(%z : memref<?xf32>) outs(%y : memref<?xf32>)
  memref.dealloc %z : memref<?xf32>
  return
}

// -----

func.func @tensors(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@below {{convert-linalg-to-affine needs memrefs; run one-shot-bufferize first}}
  %0 = linalg.exp ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func private @no_loop_form(%x: memref<2x8xf32>, %y: memref<2x8xf32>) {
  // expected-error@below {{'linalg.softmax' has no loop form; decompose it into linalg.generic first}}
  linalg.softmax dimension(1) ins(%x : memref<2x8xf32>) outs(%y : memref<2x8xf32>)
  return
}
