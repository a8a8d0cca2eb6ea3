// RUN: dlc-opt %s --split-input-file --verify-diagnostics --linalg-plan-memory --canonicalize --cse | filecheck %s
// RUN: dlc-opt %s --split-input-file --verify-diagnostics --linalg-plan-memory --linalg-plan-memory --canonicalize --cse | filecheck %s
// Buffers that live one after the other share memory in an arena; what the function returns does not.

func.func private @k(memref<64xf32>, memref<64xf32>)

// CHECK-LABEL: func.func @chain
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[NEXT:.*]] = arith.constant 256 : index
// CHECK: %[[ARENA:.*]] = memref.alloc() : memref<512xi8>
// CHECK: %[[A:.*]] = memref.view %[[ARENA]][%[[ZERO]]][] : memref<512xi8> to memref<64xf32>
// CHECK: call @k(%arg0, %[[A]])
// CHECK: %[[B:.*]] = memref.view %[[ARENA]][%[[NEXT]]][] : memref<512xi8> to memref<64xf32>
// CHECK: call @k(%[[A]], %[[B]])
// CHECK: call @k(%[[B]], %[[A]])
// CHECK: %[[OUT:.*]] = memref.alloc() : memref<64xf32>
// CHECK: call @k(%[[A]], %[[OUT]])
// CHECK: return %[[OUT]]
func.func @chain(%x: memref<64xf32>) -> memref<64xf32> {
  %a = memref.alloc() : memref<64xf32>
  call @k(%x, %a) : (memref<64xf32>, memref<64xf32>) -> ()
  %b = memref.alloc() : memref<64xf32>
  call @k(%a, %b) : (memref<64xf32>, memref<64xf32>) -> ()
  %c = memref.alloc() : memref<64xf32>
  call @k(%b, %c) : (memref<64xf32>, memref<64xf32>) -> ()
  %d = memref.alloc() : memref<64xf32>
  call @k(%c, %d) : (memref<64xf32>, memref<64xf32>) -> ()
  return %d : memref<64xf32>
}

// -----

func.func private @use(memref<?x16xf32>)
func.func private @mix(memref<?x16xf32>, memref<?x16xf32>, memref<64xf32>)

// Sizes that follow from the arguments' make arithmetic. A view keeps what it shows alive.
// CHECK-LABEL: func.func @dynamic
// CHECK-SAME: (%[[X:.*]]: memref<?x16xf32>)
// CHECK: %[[N:.*]] = memref.dim %[[X]]
// CHECK: %[[BYTES:.*]] = arith.muli %[[N]], %c64
// CHECK: %[[LARGE:.*]] = arith.cmpi sge, {{.*}}, %c65536
// CHECK: arith.select %[[LARGE]]
// CHECK: memref.alloc(%{{.*}}) : memref<?xi8>
// CHECK-COUNT-3: memref.view
func.func @dynamic(%x: memref<?x16xf32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x16xf32>
  %a = memref.alloc(%n) : memref<?x16xf32>
  %flat = memref.collapse_shape %a [[0, 1]] : memref<?x16xf32> into memref<?xf32>
  call @use(%a) : (memref<?x16xf32>) -> ()
  %b = memref.alloc(%n) : memref<?x16xf32>
  %s = memref.alloc() : memref<64xf32>
  call @mix(%x, %b, %s) : (memref<?x16xf32>, memref<?x16xf32>, memref<64xf32>) -> ()
  %part = memref.subview %flat[0] [1] [1] : memref<?xf32> to memref<1xf32, strided<[1]>>
  %cst = arith.constant 1.0 : f32
  memref.store %cst, %part[%c0] : memref<1xf32, strided<[1]>>
  return
}

// -----

func.func private @pick() -> index
func.func private @k(memref<?xf32>, memref<?xf32>)

// no-match: sizes that depend on data, and a buffer that is alone.
// CHECK-LABEL: func.func @data
// CHECK-COUNT-2: memref.alloc(%{{.*}}) : memref<?xf32>
// CHECK-NOT: memref.view
func.func @data(%x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = call @pick() : () -> index
  %a = memref.alloc(%n) : memref<?xf32>
  %m = memref.dim %x, %c0 : memref<?xf32>
  %b = memref.alloc(%m) : memref<?xf32>
  call @k(%a, %b) : (memref<?xf32>, memref<?xf32>) -> ()
  return
}

// -----

func.func @freed() {
  %a = memref.alloc() : memref<4xf32>
  // expected-error@+1 {{needs buffers that nobody frees, found 'memref.dealloc'; run it before linalg-insert-deallocs}}
  memref.dealloc %a : memref<4xf32>
  return
}

// -----

func.func private @apply_use(memref<?xf32>, memref<?xf32>)

// A size that an affine map gives is one as arithmetic is; one that it divides stays with the allocator.
// CHECK-LABEL: func.func @mapped
// CHECK-SAME: (%[[X:.*]]: memref<?x28xf32>)
// CHECK: %[[N:.*]] = memref.dim %[[X]]
// CHECK: arith.muli %[[N]], %c112
// CHECK: memref.alloc(%{{.*}}) : memref<?xi8>
// CHECK-COUNT-2: memref.view
// CHECK: memref.alloc(%{{.*}}) : memref<?xf32>
func.func @mapped(%x: memref<?x28xf32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x28xf32>
  %rows = affine.apply affine_map<()[s0] -> (s0 * 28)>()[%n]
  %a = memref.alloc(%rows) : memref<?xf32>
  %b = memref.alloc(%rows) : memref<?xf32>
  call @apply_use(%a, %b) : (memref<?xf32>, memref<?xf32>) -> ()
  %half = affine.apply affine_map<()[s0] -> (s0 floordiv 2)>()[%n]
  %c = memref.alloc(%half) : memref<?xf32>
  call @apply_use(%b, %c) : (memref<?xf32>, memref<?xf32>) -> ()
  return
}
