// RUN: dlc-opt %s --linalg-bufferize-tensors --split-input-file | filecheck %s
// Casts of buffers that are there already may be to any rank, and private functions may have several blocks.

// CHECK-LABEL: func.func @cast(
// CHECK: memref.cast %{{.*}} : memref<4xf32, strided<[?]>> to memref<*xf32>
func.func @cast(%x: memref<4xf32, strided<[?]>>, %y: memref<*xf32>) {
  %z = memref.cast %x : memref<4xf32, strided<[?]>> to memref<*xf32>
  memref.copy %z, %y : memref<*xf32> to memref<*xf32>
  return
}

// -----

// What is returned from one of several blocks is not known to be fresh.
// CHECK-LABEL: func.func @main(
// CHECK: %[[R:.*]] = call @blocks
// CHECK: %[[C:.*]] = memref.alloc
// CHECK: memref.copy %[[R]], %[[C]]
// CHECK: return %[[C]]
func.func private @blocks(%x: memref<4xf32>) -> memref<4xf32> {
  cf.br ^a
^a:
  return %x : memref<4xf32>
}
func.func @main(%x: memref<4xf32>) -> memref<4xf32> {
  %r = call @blocks(%x) : (memref<4xf32>) -> memref<4xf32>
  return %r : memref<4xf32>
}
