// RUN: dlc-opt %s --linalg-forward-copies --split-input-file | filecheck %s
// RUN: dlc-opt %s --linalg-share-branch-buffers --linalg-forward-copies --split-input-file | filecheck %s
// What a side of a branch makes and copies into a buffer from outside is written there, also where that is a slice.

func.func private @k(%x: memref<4x128xf32>, %y: memref<4x128xf32>) {
  linalg.exp ins(%x : memref<4x128xf32>) outs(%y : memref<4x128xf32>)
  return
}

// CHECK-LABEL: func.func @joined(
// CHECK: %[[Y:.*]] = memref.alloc() : memref<4x256xf32>
// CHECK: %[[S:.*]] = memref.subview %[[Y]][0, 128] [4, 128] [1, 1]
// CHECK: scf.if
// CHECK-NEXT: %[[T:.*]] = memref.cast %[[S]]
// CHECK-NEXT: func.call @k_view1(%{{.*}}, %[[T]])
// CHECK-NEXT: } else {
// CHECK-NEXT: %[[E:.*]] = memref.expand_shape %[[S]]
// CHECK-NEXT: linalg.fill ins(%{{.*}}) outs(%[[E]]
// CHECK-NEXT: }
// CHECK-NEXT: return %[[Y]]
func.func @joined(%x: memref<4x128xf32>, %p: i1) -> memref<4x256xf32> {
  %zero = arith.constant 0.0 : f32
  %r = memref.alloc() : memref<4x128xf32>
  scf.if %p {
    %a = memref.alloc() : memref<4x128xf32>
    func.call @k(%x, %a) : (memref<4x128xf32>, memref<4x128xf32>) -> ()
    memref.copy %a, %r : memref<4x128xf32> to memref<4x128xf32>
  } else {
    %b = memref.alloc() : memref<4x8x16xf32>
    linalg.fill ins(%zero : f32) outs(%b : memref<4x8x16xf32>)
    %c = memref.collapse_shape %b [[0], [1, 2]] : memref<4x8x16xf32> into memref<4x128xf32>
    memref.copy %c, %r : memref<4x128xf32> to memref<4x128xf32>
  }
  %y = memref.alloc() : memref<4x256xf32>
  %s = memref.subview %y[0, 128] [4, 128] [1, 1] : memref<4x256xf32> to memref<4x128xf32, strided<[256, 1], offset: 128>>
  memref.copy %r, %s : memref<4x128xf32> to memref<4x128xf32, strided<[256, 1], offset: 128>>
  return %y : memref<4x256xf32>
}

// -----

// no-match: the side reads what was in the buffer before.
// CHECK-LABEL: func.func @read(
// CHECK: scf.if
// CHECK: memref.copy
// CHECK: return
func.func @read(%x: memref<128xf32>, %p: i1) -> memref<128xf32> {
  %r = memref.alloc() : memref<128xf32>
  linalg.exp ins(%x : memref<128xf32>) outs(%r : memref<128xf32>)
  scf.if %p {
    %a = memref.alloc() : memref<128xf32>
    linalg.add ins(%x, %r : memref<128xf32>, memref<128xf32>) outs(%a : memref<128xf32>)
    memref.copy %a, %r : memref<128xf32> to memref<128xf32>
  }
  return %r : memref<128xf32>
}
