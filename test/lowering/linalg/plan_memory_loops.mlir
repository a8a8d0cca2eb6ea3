// RUN: dlc-opt %s --linalg-plan-memory --split-input-file | filecheck %s
// Buffers in branches and loops lie in the arena too; what is used in a loop from outside lives to the loop's end.

// Both branches use one place; %k, which the loop reads at each step, keeps its own until the loop ends.
// CHECK-LABEL: func.func @branch_and_loop
// CHECK: %[[ARENA:.*]] = memref.alloc() : memref<128xi8>
// CHECK: %[[K:.*]] = memref.view %[[ARENA]][%[[FIRST:.*]]][]
// CHECK: call @one(%[[K]])
// CHECK: scf.for
// CHECK: %[[S:.*]] = memref.view %[[ARENA]][%[[SECOND:.*]]][]
// CHECK: call @two(%[[K]], %[[S]])
// CHECK: call @two(%[[S]], %arg0)
// CHECK: scf.if
// CHECK: memref.view %[[ARENA]]
// CHECK: } else {
// CHECK: memref.view %[[ARENA]]
func.func private @one(memref<16xf32>)
func.func private @two(memref<16xf32>, memref<16xf32>)
func.func @branch_and_loop(%x: memref<16xf32>, %n: index, %p: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %k = memref.alloc() : memref<16xf32>
  call @one(%k) : (memref<16xf32>) -> ()
  scf.for %i = %c0 to %n step %c1 {
    %s = memref.alloc() : memref<16xf32>
    func.call @two(%k, %s) : (memref<16xf32>, memref<16xf32>) -> ()
    func.call @two(%s, %x) : (memref<16xf32>, memref<16xf32>) -> ()
  }
  scf.if %p {
    %a = memref.alloc() : memref<16xf32>
    func.call @two(%x, %a) : (memref<16xf32>, memref<16xf32>) -> ()
    func.call @two(%a, %x) : (memref<16xf32>, memref<16xf32>) -> ()
  } else {
    %b = memref.alloc() : memref<16xf32>
    func.call @two(%x, %b) : (memref<16xf32>, memref<16xf32>) -> ()
    func.call @two(%b, %x) : (memref<16xf32>, memref<16xf32>) -> ()
  }
  return
}

// -----

// The two buffers of a carried value live through the loop.
// CHECK-LABEL: func.func @carried
// CHECK: %[[ARENA:.*]] = memref.alloc() : memref<128xi8>
// CHECK: %[[A:.*]] = memref.view %[[ARENA]]
// CHECK: %[[B:.*]] = memref.view %[[ARENA]]
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[A]], %{{.*}} = %[[B]])
func.func private @two(memref<16xf32>, memref<16xf32>)
func.func @carried(%x: memref<16xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<16xf32>
  memref.copy %x, %a : memref<16xf32> to memref<16xf32>
  %b = memref.alloc() : memref<16xf32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %a, %q = %b) -> (memref<16xf32>, memref<16xf32>) {
    func.call @two(%p, %q) : (memref<16xf32>, memref<16xf32>) -> ()
    scf.yield %q, %p : memref<16xf32>, memref<16xf32>
  }
  memref.copy %r#0, %x : memref<16xf32> to memref<16xf32>
  return
}

// -----

// no-match: memory that each step hands to the next as its own.
// CHECK-LABEL: func.func @owned
// CHECK-NOT: memref.view
// CHECK: return
func.func private @two(memref<?xf32>, memref<?xf32>)
func.func @owned(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc(%n) : memref<?xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%p = %a) -> (memref<?xf32>) {
    %b = memref.alloc(%i) : memref<?xf32>
    func.call @two(%p, %b) : (memref<?xf32>, memref<?xf32>) -> ()
    scf.yield %b : memref<?xf32>
  }
  return
}

// -----

func.func private @step(memref<4xf32>, memref<i1>)

// What the first block of a while hands on beside its arguments is no other name of theirs: it stays with the allocator.
// CHECK-LABEL: func.func @fresh_each_time
// CHECK: scf.while
// CHECK: %[[FRESH:.*]] = memref.alloc() : memref<4xf32>
// CHECK: scf.condition(%{{.*}}) %[[FRESH]]
func.func @fresh_each_time(%p: i1, %flag: memref<i1>) {
  %0:1 = scf.while (%going = %p) : (i1) -> (memref<4xf32>) {
    %a = memref.alloc() : memref<4xf32>
    scf.condition(%going) %a : memref<4xf32>
  } do {
  ^bb0(%a: memref<4xf32>):
    func.call @step(%a, %flag) : (memref<4xf32>, memref<i1>) -> ()
    %next = memref.load %flag[] : memref<i1>
    scf.yield %next : i1
  }
  return
}
