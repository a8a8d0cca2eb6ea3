// RUN: dlc-opt %s --linalg-place-carried-buffers --split-input-file | filecheck %s
// RUN: dlc-opt %s --linalg-place-carried-buffers --linalg-insert-deallocs --split-input-file | filecheck %s --check-prefix=FREE
// A branch in a step gives what the step was handed as it is, where its other side gives fresh memory.

// Room is made larger where it is full: then the old one is freed, and else it is handed on.
// CHECK-LABEL: func.func @room
// CHECK: ^bb0(%[[I:.*]]: index, %[[A:.*]]: memref<?xf32>):
// CHECK: %[[R:.*]] = scf.if
// CHECK: %[[B:.*]] = memref.alloc
// CHECK: scf.yield %[[B]]
// CHECK-NEXT: } else {
// CHECK-NEXT: scf.yield %[[A]]
// CHECK: scf.yield %{{.*}}, %[[R]]
// FREE-LABEL: func.func @room
// FREE: ^bb0(%[[I:.*]]: index, %[[A:.*]]: memref<?xf32>):
// FREE: %[[R:.*]] = scf.if
// FREE: call @grow(%[[A]], %[[B:[a-z0-9_]+]])
// FREE-NEXT: memref.dealloc %[[A]]
// FREE-NEXT: scf.yield %[[B]]
// FREE-NEXT: } else {
// FREE-NEXT: scf.yield %[[A]]
// FREE-NOT: memref.dealloc
// FREE: scf.yield %{{.*}}, %[[R]]
// FREE: memref.copy %[[E:.*]]#1, %{{.*}}
// FREE-NEXT: memref.dealloc %[[E]]#1
// FREE-NOT: memref.dealloc
func.func private @grow(memref<?xf32>, memref<?xf32>)
func.func private @write(index, memref<?xf32>)
func.func @room(%n: index, %y: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = memref.alloc(%c0) : memref<?xf32>
  %r:2 = scf.while (%i = %c0, %a = %s) : (index, memref<?xf32>) -> (index, memref<?xf32>) {
    %more = arith.cmpi slt, %i, %n : index
    scf.condition(%more) %i, %a : index, memref<?xf32>
  } do {
  ^bb0(%i: index, %a: memref<?xf32>):
    %d = memref.dim %a, %c0 : memref<?xf32>
    %full = arith.cmpi eq, %i, %d : index
    %j = arith.addi %i, %c1 : index
    %w = scf.if %full -> (memref<?xf32>) {
      %e = arith.addi %i, %j : index
      %b = memref.alloc(%e) : memref<?xf32>
      func.call @grow(%a, %b) : (memref<?xf32>, memref<?xf32>) -> ()
      scf.yield %b : memref<?xf32>
    } else {
      scf.yield %a : memref<?xf32>
    }
    func.call @write(%i, %w) : (index, memref<?xf32>) -> ()
    scf.yield %j, %w : index, memref<?xf32>
  }
  memref.copy %r#1, %y : memref<?xf32> to memref<?xf32>
  return
}

// -----

// no-match: what the step was handed is read after the branch; a copy of it is handed on.
// CHECK-LABEL: func.func @read_later
// CHECK: ^bb0(%{{.*}}: index, %[[A:.*]]: memref<?xf32>):
// CHECK: } else {
// CHECK: %[[C:.*]] = memref.alloc
// CHECK-NEXT: memref.copy %[[A]], %[[C]]
// CHECK-NEXT: scf.yield %[[C]]
// FREE-LABEL: func.func @read_later
// FREE: call @grow(%[[A:[a-z0-9_]+]], %{{.*}})
// FREE: call @grow(%[[A]], %{{.*}})
// FREE-NEXT: memref.dealloc %[[A]]
func.func private @grow(memref<?xf32>, memref<?xf32>)
func.func @read_later(%n: index, %y: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = memref.alloc(%c0) : memref<?xf32>
  %r:2 = scf.while (%i = %c0, %a = %s) : (index, memref<?xf32>) -> (index, memref<?xf32>) {
    %more = arith.cmpi slt, %i, %n : index
    scf.condition(%more) %i, %a : index, memref<?xf32>
  } do {
  ^bb0(%i: index, %a: memref<?xf32>):
    %d = memref.dim %a, %c0 : memref<?xf32>
    %full = arith.cmpi eq, %i, %d : index
    %j = arith.addi %i, %c1 : index
    %w = scf.if %full -> (memref<?xf32>) {
      %b = memref.alloc(%j) : memref<?xf32>
      func.call @grow(%a, %b) : (memref<?xf32>, memref<?xf32>) -> ()
      scf.yield %b : memref<?xf32>
    } else {
      scf.yield %a : memref<?xf32>
    }
    func.call @grow(%a, %w) : (memref<?xf32>, memref<?xf32>) -> ()
    scf.yield %j, %w : index, memref<?xf32>
  }
  memref.copy %r#1, %y : memref<?xf32> to memref<?xf32>
  return
}
