// RUN: dlc-opt %s --split-input-file --verify-diagnostics --linalg-forward-copies | filecheck %s
// Copies that have to stay: one of the sides changes while the other is needed, or is not the function's to choose.

// no-match: the source is written after the copy.
// CHECK-LABEL: func.func @written_after
// CHECK: memref.copy
func.func @written_after(%x: memref<32xf32>) -> memref<64xf32> {
  %cst = arith.constant 0.0 : f32
  %a = memref.alloc() : memref<32xf32>
  linalg.exp ins(%x : memref<32xf32>) outs(%a : memref<32xf32>)
  %c = memref.alloc() : memref<64xf32>
  %s = memref.subview %c[0] [32] [1] : memref<64xf32> to memref<32xf32, strided<[1]>>
  memref.copy %a, %s : memref<32xf32> to memref<32xf32, strided<[1]>>
  linalg.fill ins(%cst : f32) outs(%a : memref<32xf32>)
  %t = memref.subview %c[32] [32] [1] : memref<64xf32> to memref<32xf32, strided<[1], offset: 32>>
  linalg.exp ins(%a : memref<32xf32>) outs(%t : memref<32xf32, strided<[1], offset: 32>>)
  return %c : memref<64xf32>
}

// The slice is filled between the producer and the copy: its producer would come too early.
// CHECK-LABEL: func.func @filled_between
// CHECK: memref.copy
func.func @filled_between(%x: memref<32xf32>) -> memref<64xf32> {
  %cst = arith.constant 0.0 : f32
  %a = memref.alloc() : memref<32xf32>
  linalg.exp ins(%x : memref<32xf32>) outs(%a : memref<32xf32>)
  %c = memref.alloc() : memref<64xf32>
  linalg.fill ins(%cst : f32) outs(%c : memref<64xf32>)
  %s = memref.subview %c[16] [32] [1] : memref<64xf32> to memref<32xf32, strided<[1], offset: 16>>
  memref.copy %a, %s : memref<32xf32> to memref<32xf32, strided<[1], offset: 16>>
  return %c : memref<64xf32>
}

// What is returned is memory of its own; an argument is not written.
// CHECK-LABEL: func.func @returned
// CHECK-COUNT-2: memref.copy
func.func @returned(%x: memref<64xf32>) -> (memref<32xf32>, memref<64xf32>) {
  %a = memref.alloc() : memref<32xf32>
  %s = memref.subview %x[0] [32] [1] : memref<64xf32> to memref<32xf32, strided<[1]>>
  memref.copy %s, %a : memref<32xf32, strided<[1]>> to memref<32xf32>
  %b = memref.alloc() : memref<64xf32>
  memref.copy %x, %b : memref<64xf32> to memref<64xf32>
  return %a, %b : memref<32xf32>, memref<64xf32>
}

// The slice is overwritten before the last read of its copy.
// CHECK-LABEL: func.func @overwritten
// CHECK: memref.copy
func.func @overwritten(%x: memref<64xf32>) -> (memref<32xf32>, memref<64xf32>) {
  %c = memref.alloc() : memref<64xf32>
  linalg.exp ins(%x : memref<64xf32>) outs(%c : memref<64xf32>)
  %s = memref.subview %c[0] [32] [1] : memref<64xf32> to memref<32xf32, strided<[1]>>
  %a = memref.alloc() : memref<32xf32>
  memref.copy %s, %a : memref<32xf32, strided<[1]>> to memref<32xf32>
  linalg.exp ins(%x : memref<64xf32>) outs(%c : memref<64xf32>)
  %b = memref.alloc() : memref<32xf32>
  linalg.exp ins(%a : memref<32xf32>) outs(%b : memref<32xf32>)
  return %b, %c : memref<32xf32>, memref<64xf32>
}

// A column: its elements lie apart.
// CHECK-LABEL: func.func @column
// CHECK: memref.copy
func.func @column(%x: memref<8x64xf32>) -> memref<8x1xf32> {
  %a = memref.alloc() : memref<8x1xf32>
  %s = memref.subview %x[0, 3] [8, 1] [1, 1] : memref<8x64xf32> to memref<8x1xf32, strided<[64, 1], offset: 3>>
  memref.copy %s, %a : memref<8x1xf32, strided<[64, 1], offset: 3>> to memref<8x1xf32>
  %b = memref.alloc() : memref<8x1xf32>
  linalg.exp ins(%a : memref<8x1xf32>) outs(%b : memref<8x1xf32>)
  return %b : memref<8x1xf32>
}

// A copy to itself is none.
// CHECK-LABEL: func.func @itself
// CHECK-NOT: memref.copy
func.func @itself() -> memref<8x64xf32> {
  %a = memref.alloc() : memref<8x64xf32>
  %s = memref.subview %a[0, 3] [8, 1] [1, 1] : memref<8x64xf32> to memref<8x1xf32, strided<[64, 1], offset: 3>>
  memref.copy %s, %s : memref<8x1xf32, strided<[64, 1], offset: 3>> to memref<8x1xf32, strided<[64, 1], offset: 3>>
  return %a : memref<8x64xf32>
}

// -----

func.func @freed() {
  %a = memref.alloc() : memref<4xf32>
  // expected-error@+1 {{needs buffers that nobody frees, found 'memref.dealloc'; run it before linalg-insert-deallocs}}
  memref.dealloc %a : memref<4xf32>
  return
}
