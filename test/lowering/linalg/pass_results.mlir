// RUN: dlc-opt %s --linalg-pass-results --split-input-file --verify-diagnostics | filecheck %s
// Callers allocate what kernels return, where sizes are known before the call.

// CHECK-LABEL: func.func private @static(
// CHECK-SAME: %[[X:.*]]: memref<4xf32> {llvm.noalias}, %[[Y:.*]]: memref<4xf32> {dl.result, llvm.noalias}) {
// CHECK-NOT: memref.alloc
// CHECK: linalg.exp ins(%[[X]] : memref<4xf32>) outs(%[[Y]] : memref<4xf32>)
// CHECK-NEXT: return
func.func private @static(%x: memref<4xf32>) -> memref<4xf32> {
  %y = memref.alloc() : memref<4xf32>
  linalg.exp ins(%x : memref<4xf32>) outs(%y : memref<4xf32>)
  return %y : memref<4xf32>
}
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[A:.*]]: memref<4xf32>)
// CHECK: %[[R:.*]] = memref.alloc() : memref<4xf32>
// CHECK-NEXT: call @static(%[[A]], %[[R]]) : (memref<4xf32>, memref<4xf32>) -> ()
// CHECK-NEXT: return %[[R]]
func.func @main(%a: memref<4xf32>) -> memref<4xf32> {
  %0 = call @static(%a) : (memref<4xf32>) -> memref<4xf32>
  return %0 : memref<4xf32>
}

// -----

// Sizes that are computed from an argument's are computed by the caller; so are views of the allocation.
// CHECK-LABEL: func.func private @dynamic(
// CHECK-SAME: memref<?x4xf32> {llvm.noalias}, %{{.*}}: memref<?xf32> {dl.result, llvm.noalias}) {
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[A:.*]]: memref<?x4xf32>)
// CHECK: %[[D:.*]] = memref.dim %[[A]]
// CHECK: %[[N:.*]] = arith.muli %[[D]]
// CHECK: %[[R:.*]] = memref.alloc(%[[N]]) : memref<?xf32>
// CHECK: %[[V:.*]] = memref.expand_shape %[[R]]
// CHECK: call @dynamic(%[[A]], %[[R]])
// CHECK: return %[[V]]
func.func private @dynamic(%x: memref<?x4xf32>) -> memref<?x2xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c2 = arith.constant 2 : index
  %d = memref.dim %x, %c0 : memref<?x4xf32>
  %n = arith.muli %d, %c4 : index
  %y = memref.alloc(%n) : memref<?xf32>
  linalg.fill ins(%zero : f32) outs(%y : memref<?xf32>)
  %h = arith.muli %d, %c2 : index
  %v = memref.expand_shape %y [[0, 1]] output_shape [%h, 2] : memref<?xf32> into memref<?x2xf32>
  return %v : memref<?x2xf32>
}
func.func @main(%a: memref<?x4xf32>) -> memref<?x2xf32> {
  %0 = call @dynamic(%a) : (memref<?x4xf32>) -> memref<?x2xf32>
  return %0 : memref<?x2xf32>
}

// -----

// An argument that is written is no longer alone when a call passes its memory twice.
// CHECK-LABEL: func.func private @twice(
// CHECK-SAME: memref<4xf32>, %{{.*}}: memref<4xf32>) {
func.func private @twice(%x: memref<4xf32>, %y: memref<4xf32>) {
  linalg.exp ins(%x : memref<4xf32>) outs(%y : memref<4xf32>)
  return
}
func.func @main(%a: memref<4xf32>) {
  call @twice(%a, %a) : (memref<4xf32>, memref<4xf32>) -> ()
  return
}

// -----

// An argument that is handed back is what the caller gave; other results keep their order.
// CHECK-LABEL: func.func private @same(
// CHECK-SAME: memref<4xf32>{{[^)]*}}, %{{.*}}: memref<1xindex>{{[^)]*}}) -> memref<?xf32>
// CHECK: return %{{.*}} : memref<?xf32>
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[Y:.*]]: memref<4xf32>, %[[N:.*]]: memref<1xindex>
// CHECK: %[[R:.*]] = call @same(%[[Y]], %[[N]])
// CHECK: return %[[R]], %[[Y]]
func.func private @same(%x: memref<4xf32>, %n: memref<1xindex>) -> (memref<4xf32>, memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %size = memref.load %n[%c0] : memref<1xindex>
  %y = memref.alloc(%size) : memref<?xf32>
  return %x, %y : memref<4xf32>, memref<?xf32>
}
func.func @main(%y: memref<4xf32>, %n: memref<1xindex>) -> (memref<?xf32>, memref<4xf32>) {
  %0:2 = call @same(%y, %n) : (memref<4xf32>, memref<1xindex>) -> (memref<4xf32>, memref<?xf32>)
  return %0#1, %0#0 : memref<?xf32>, memref<4xf32>
}

// -----

// no-match: a size that depends on data, a buffer that is returned twice.
// CHECK-LABEL: func.func private @data({{.*}}) -> memref<?xf32>
// CHECK-LABEL: func.func private @double() -> (memref<4xf32>, memref<4xf32>)
func.func private @data(%x: memref<1xindex>) -> memref<?xf32> {
  %c0 = arith.constant 0 : index
  %n = memref.load %x[%c0] : memref<1xindex>
  %y = memref.alloc(%n) : memref<?xf32>
  return %y : memref<?xf32>
}
func.func private @double() -> (memref<4xf32>, memref<4xf32>) {
  %y = memref.alloc() : memref<4xf32>
  return %y, %y : memref<4xf32>, memref<4xf32>
}
func.func @main(%x: memref<1xindex>, %y: memref<4xf32>) -> memref<?xf32> {
  %0 = call @data(%x) : (memref<1xindex>) -> memref<?xf32>
  %2:2 = call @double() : () -> (memref<4xf32>, memref<4xf32>)
  return %0 : memref<?xf32>
}

// -----

// no-match: a dim without a place among the argument's names has no name.
// CHECK-LABEL: func.func private @too_few_names(
// CHECK-SAME: memref<?xf32> {dl.dims = []}{{.*}}memref<?xf32> {dl.result
func.func private @too_few_names(%x: memref<?xf32> {dl.dims = []}) -> memref<?xf32> {
  %c0 = arith.constant 0 : index
  %d = memref.dim %x, %c0 : memref<?xf32>
  %y = memref.alloc(%d) : memref<?xf32>
  return %y : memref<?xf32>
}

// -----

func.func private @tensors(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{needs buffers, found 'linalg.exp' on tensors; run linalg-bufferize-tensors first}}
  %y = linalg.exp ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
