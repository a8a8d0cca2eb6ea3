// RUN: dlc-opt %s --linalg-insert-deallocs --split-input-file | filecheck %s
// What a private function allocates and returns is its caller's, who frees it after its last use.

// CHECK-LABEL: func.func private @count
// CHECK: %[[A:.*]] = memref.alloc
// CHECK-NOT: memref.dealloc
// CHECK: return %[[A]]
func.func private @count(%n: index) -> memref<?xf32> {
  %a = memref.alloc(%n) : memref<?xf32>
  return %a : memref<?xf32>
}
func.func private @kernel(memref<?xf32>, memref<?xf32>)

// CHECK-LABEL: func.func @taken
// CHECK: %[[A:.*]] = call @count
// CHECK-NEXT: %[[B:.*]] = call @count
// CHECK-NEXT: call @kernel(%[[A]], %[[B]])
// CHECK-NEXT: memref.dealloc %[[A]]
// CHECK-NEXT: return %[[B]]
func.func @taken(%n: index) -> memref<?xf32> {
  %a = call @count(%n) : (index) -> memref<?xf32>
  %b = call @count(%n) : (index) -> memref<?xf32>
  call @kernel(%a, %b) : (memref<?xf32>, memref<?xf32>) -> ()
  return %b : memref<?xf32>
}

// -----

// no-match: a function that returns what it was given; run time tells who frees it.
// CHECK-LABEL: func.func @given
// CHECK: %[[A:.*]] = memref.alloc
// CHECK: %[[B:.*]] = call @same(%[[A]])
// CHECK: scf.if
// CHECK: memref.dealloc
func.func private @same(%x: memref<?xf32>) -> memref<?xf32> {
  return %x : memref<?xf32>
}
func.func private @kernel(memref<?xf32>)
func.func @given(%n: index) {
  %a = memref.alloc(%n) : memref<?xf32>
  %b = call @same(%a) : (memref<?xf32>) -> memref<?xf32>
  call @kernel(%b) : (memref<?xf32>) -> ()
  return
}
