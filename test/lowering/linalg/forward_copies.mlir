// RUN: dlc-opt %s --split-input-file --verify-diagnostics --linalg-forward-copies --canonicalize --cse | filecheck %s
// A buffer that is copied into a slice, or out of one, is that slice; kernels take it with its strides.

func.func private @k(%x: memref<4x16xf32>, %y: memref<4x16xf32>) {
  linalg.exp ins(%x : memref<4x16xf32>) outs(%y : memref<4x16xf32>)
  return
}

// Both halves of a concat share the specialised kernel.
// CHECK: func.func private @k_view1(%{{.*}}: memref<4x16xf32>, %{{.*}}: memref<4x16xf32, strided<[32, 1], offset: ?>>)
// CHECK-LABEL: func.func @concat
// CHECK: %[[C:.*]] = memref.alloc() : memref<4x32xf32>
// CHECK-NOT: memref.alloc
// CHECK-NOT: memref.copy
// CHECK: call @k_view1(%arg0, %{{.*}}) : (memref<4x16xf32>, memref<4x16xf32, strided<[32, 1], offset: ?>>)
// CHECK: call @k_view1(%arg1, %{{.*}}) : (memref<4x16xf32>, memref<4x16xf32, strided<[32, 1], offset: ?>>)
// CHECK-NOT: memref.copy
// CHECK: return %[[C]]
func.func @concat(%x: memref<4x16xf32>, %y: memref<4x16xf32>) -> memref<4x32xf32> {
  %a = memref.alloc() : memref<4x16xf32>
  call @k(%x, %a) : (memref<4x16xf32>, memref<4x16xf32>) -> ()
  %b = memref.alloc() : memref<4x16xf32>
  call @k(%y, %b) : (memref<4x16xf32>, memref<4x16xf32>) -> ()
  %c = memref.alloc() : memref<4x32xf32>
  %s = memref.subview %c[0, 0] [4, 16] [1, 1] : memref<4x32xf32> to memref<4x16xf32, strided<[32, 1]>>
  memref.copy %a, %s : memref<4x16xf32> to memref<4x16xf32, strided<[32, 1]>>
  %t = memref.subview %c[0, 16] [4, 16] [1, 1] : memref<4x32xf32> to memref<4x16xf32, strided<[32, 1], offset: 16>>
  memref.copy %b, %t : memref<4x16xf32> to memref<4x16xf32, strided<[32, 1], offset: 16>>
  return %c : memref<4x32xf32>
}
// CHECK-NOT: func.func private @k(

// -----

func.func private @k(%x: memref<1x16xf32>, %y: memref<1x16xf32>) {
  linalg.exp ins(%x : memref<1x16xf32>) outs(%y : memref<1x16xf32>)
  return
}

// The way of DenseNet: what a step adds lies behind all that came before, at every level.
// CHECK-LABEL: func.func @dense
// CHECK: memref.alloc() : memref<1x48xf32>
// CHECK-NOT: memref.alloc
// CHECK-NOT: memref.copy
// CHECK: return
func.func @dense(%x: memref<1x16xf32>) -> memref<1x48xf32> {
  %a = memref.alloc() : memref<1x16xf32>
  call @k(%x, %a) : (memref<1x16xf32>, memref<1x16xf32>) -> ()
  %b = memref.alloc() : memref<1x16xf32>
  call @k(%a, %b) : (memref<1x16xf32>, memref<1x16xf32>) -> ()
  %ab = memref.alloc() : memref<1x32xf32>
  %ab0 = memref.subview %ab[0, 0] [1, 16] [1, 1] : memref<1x32xf32> to memref<1x16xf32, strided<[32, 1]>>
  memref.copy %a, %ab0 : memref<1x16xf32> to memref<1x16xf32, strided<[32, 1]>>
  %ab1 = memref.subview %ab[0, 16] [1, 16] [1, 1] : memref<1x32xf32> to memref<1x16xf32, strided<[32, 1], offset: 16>>
  memref.copy %b, %ab1 : memref<1x16xf32> to memref<1x16xf32, strided<[32, 1], offset: 16>>
  %c = memref.alloc() : memref<1x16xf32>
  linalg.add ins(%ab0, %ab1 : memref<1x16xf32, strided<[32, 1]>>, memref<1x16xf32, strided<[32, 1], offset: 16>>) outs(%c : memref<1x16xf32>)
  %abc = memref.alloc() : memref<1x48xf32>
  %abc0 = memref.subview %abc[0, 0] [1, 32] [1, 1] : memref<1x48xf32> to memref<1x32xf32, strided<[48, 1]>>
  memref.copy %ab, %abc0 : memref<1x32xf32> to memref<1x32xf32, strided<[48, 1]>>
  %abc1 = memref.subview %abc[0, 32] [1, 16] [1, 1] : memref<1x48xf32> to memref<1x16xf32, strided<[48, 1], offset: 32>>
  memref.copy %c, %abc1 : memref<1x16xf32> to memref<1x16xf32, strided<[48, 1], offset: 32>>
  return %abc : memref<1x48xf32>
}

// -----

func.func private @k(%x: memref<?x8xf32>, %y: memref<?x8xf32>) {
  linalg.exp ins(%x : memref<?x8xf32>) outs(%y : memref<?x8xf32>)
  return
}

// Slices at dynamic offsets are apart where sizes prove it; a slice that is only read needs no copy either.
// CHECK-LABEL: func.func @dynamic
// CHECK: %[[C:.*]] = memref.alloc(%{{.*}}) : memref<?x8xf32>
// CHECK: call @[[K:.*]](%arg0, %{{.*}})
// CHECK: call @[[K]](%arg1, %{{.*}})
// CHECK-NOT: memref.copy
// CHECK: call @{{k_view.}}(%{{.*}}, %[[OUT:.*]]) : (memref<?x8xf32, strided<[8, 1], offset: ?>>, memref<?x8xf32>)
// CHECK: return %[[C]], %[[OUT]]
func.func @dynamic(%x: memref<?x8xf32>, %y: memref<?x8xf32>) -> (memref<?x8xf32>, memref<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x8xf32>
  %m = memref.dim %y, %c0 : memref<?x8xf32>
  %a = memref.alloc(%n) : memref<?x8xf32>
  call @k(%x, %a) : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  %b = memref.alloc(%m) : memref<?x8xf32>
  call @k(%y, %b) : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  %both = arith.addi %n, %m : index
  %c = memref.alloc(%both) : memref<?x8xf32>
  %s = memref.subview %c[0, 0] [%n, 8] [1, 1] : memref<?x8xf32> to memref<?x8xf32, strided<[8, 1]>>
  memref.copy %a, %s : memref<?x8xf32> to memref<?x8xf32, strided<[8, 1]>>
  %t = memref.subview %c[%n, 0] [%m, 8] [1, 1] : memref<?x8xf32> to memref<?x8xf32, strided<[8, 1], offset: ?>>
  memref.copy %b, %t : memref<?x8xf32> to memref<?x8xf32, strided<[8, 1], offset: ?>>
  %d = memref.alloc(%m) : memref<?x8xf32>
  memref.copy %t, %d : memref<?x8xf32, strided<[8, 1], offset: ?>> to memref<?x8xf32>
  %e = memref.alloc(%m) : memref<?x8xf32>
  call @k(%d, %e) : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  return %c, %e : memref<?x8xf32>, memref<?x8xf32>
}

// -----

func.func private @k(%x: memref<2x32xf32>, %y: memref<2x32xf32>) {
  linalg.exp ins(%x : memref<2x32xf32>) outs(%y : memref<2x32xf32>)
  return
}
func.func private @join(%x: memref<2x32xf32>, %y: memref<2x32xf32>, %z: memref<2x64xf32>) {
  %s = memref.subview %z[0, 0] [2, 32] [1, 1] : memref<2x64xf32> to memref<2x32xf32, strided<[64, 1]>>
  memref.copy %x, %s : memref<2x32xf32> to memref<2x32xf32, strided<[64, 1]>>
  %t = memref.subview %z[0, 32] [2, 32] [1, 1] : memref<2x64xf32> to memref<2x32xf32, strided<[64, 1], offset: 32>>
  memref.copy %y, %t : memref<2x32xf32> to memref<2x32xf32, strided<[64, 1], offset: 32>>
  return
}

// A kernel that only joins is no kernel: one side is written in place, and only the argument, which is not ours, is copied.
// CHECK-LABEL: func.func @kernels
// CHECK: %[[C:.*]] = memref.alloc() : memref<2x64xf32>
// CHECK: call @k_view1(%arg0,
// CHECK-COUNT-1: memref.copy %arg1
// CHECK-NOT: memref.copy
// CHECK: return %[[C]]
// CHECK-NOT: @join
func.func @kernels(%x: memref<2x32xf32>, %y: memref<2x32xf32>) -> memref<2x64xf32> {
  %a = memref.alloc() : memref<2x32xf32>
  call @k(%x, %a) : (memref<2x32xf32>, memref<2x32xf32>) -> ()
  %c = memref.alloc() : memref<2x64xf32>
  call @join(%a, %y, %c) : (memref<2x32xf32>, memref<2x32xf32>, memref<2x64xf32>) -> ()
  return %c : memref<2x64xf32>
}

// -----

func.func private @k(%x: memref<16xf32>, %y: memref<16xf32>) {
  linalg.exp ins(%x : memref<16xf32>) outs(%y : memref<16xf32>)
  return
}

// A whole buffer in another shape is collapsed to a type without a layout.
// CHECK-LABEL: func.func @whole
// CHECK: %[[C:.*]] = memref.alloc() : memref<4x4xf32>
// CHECK: memref.collapse_shape %[[C]] {{.*}} : memref<4x4xf32> into memref<16xf32>
// CHECK-NOT: memref.copy
func.func @whole(%x: memref<16xf32>) -> memref<4x4xf32> {
  %a = memref.alloc() : memref<16xf32>
  call @k(%x, %a) : (memref<16xf32>, memref<16xf32>) -> ()
  %s = memref.expand_shape %a [[0, 1]] output_shape [4, 4] : memref<16xf32> into memref<4x4xf32>
  %c = memref.alloc() : memref<4x4xf32>
  memref.copy %s, %c : memref<4x4xf32> to memref<4x4xf32>
  return %c : memref<4x4xf32>
}
