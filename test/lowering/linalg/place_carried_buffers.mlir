// RUN: dlc-opt %s --linalg-place-carried-buffers --split-input-file | filecheck %s
// RUN: dlc-opt %s --linalg-place-carried-buffers --linalg-insert-deallocs --split-input-file | filecheck %s --check-prefix=FREE
// RUN: not dlc-opt %s --linalg-insert-deallocs --linalg-place-carried-buffers=x=1 --split-input-file 2>&1 | filecheck %s --check-prefix=OPTION
// Two buffers for a carried value that keeps its size, fresh memory for one that does not.

// OPTION: has no option 'x'

// CHECK-LABEL: func.func @steady
// CHECK-SAME: (%[[X:.*]]: memref<4xf32>, %[[N:.*]]: index, %[[Y:.*]]: memref<4xf32>)
// CHECK: %[[A:.*]] = memref.alloc() : memref<4xf32>
// CHECK: memref.copy %[[X]], %[[A]]
// CHECK: %[[B:.*]] = memref.alloc() : memref<4xf32>
// CHECK: %[[R:.*]]:2 = scf.for {{.*}} iter_args(%[[P:.*]] = %[[A]], %[[Q:.*]] = %[[B]])
// CHECK-NOT: memref.alloc
// CHECK: call @k(%[[P]], %[[Q]])
// CHECK: scf.yield %[[Q]], %[[P]]
// CHECK: memref.copy %[[R]]#0, %[[Y]]
// FREE-LABEL: func.func @steady
// FREE: scf.for
// FREE-NOT: memref.dealloc
// FREE: memref.copy %{{.*}}#0
// FREE-COUNT-2: memref.dealloc
func.func private @k(memref<4xf32>, memref<4xf32>)
func.func @steady(%x: memref<4xf32>, %n: index, %y: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (memref<4xf32>) {
    %b = memref.alloc() : memref<4xf32>
    func.call @k(%a, %b) : (memref<4xf32>, memref<4xf32>) -> ()
    scf.yield %b : memref<4xf32>
  }
  memref.copy %r, %y : memref<4xf32> to memref<4xf32>
  return
}

// -----

// A step gives the size that it is given.
// CHECK-LABEL: func.func @symbolic
// CHECK: %[[R:.*]]:2 = scf.for
// CHECK-NOT: memref.alloc
// CHECK: call @k
// FREE-LABEL: func.func @symbolic
func.func private @k(memref<?xf32>, memref<?xf32>)
func.func @symbolic(%x: memref<?xf32>, %n: index, %y: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (memref<?xf32>) {
    %d = memref.dim %a, %c0 : memref<?xf32>
    %b = memref.alloc(%d) : memref<?xf32>
    func.call @k(%a, %b) : (memref<?xf32>, memref<?xf32>) -> ()
    scf.yield %b : memref<?xf32>
  }
  memref.copy %r, %y : memref<?xf32> to memref<?xf32>
  return
}

// -----

// What grows is fresh memory of each step, and that of the step before is freed; copies between the two blocks go.
// CHECK-LABEL: func.func @growing
// CHECK: scf.while (%{{.*}} = %{{.*}}, %[[A:.*]] = %{{.*}}) :
// CHECK-NOT: memref.copy
// CHECK: scf.condition(%{{.*}}) %{{.*}}, %[[A]]
// CHECK: ^bb0(%[[I:.*]]: index, %[[B:.*]]: memref<?xf32>):
// CHECK: %[[C:.*]] = memref.alloc
// CHECK: call @grow(%[[B]], %[[C]])
// CHECK: scf.yield %{{.*}}, %[[C]]
// FREE-LABEL: func.func @growing
// FREE: ^bb0(%{{.*}}: index, %[[B:.*]]: memref<?xf32>):
// FREE: call @grow(%[[B]], %{{.*}})
// FREE-NEXT: memref.dealloc %[[B]]
// FREE: memref.copy %[[R:.*]]#1, %{{.*}}
// FREE-NEXT: memref.dealloc %[[R]]#1
// FREE-NOT: memref.dealloc
func.func private @grow(memref<?xf32>, memref<?xf32>)
func.func @growing(%x: memref<?xf32>, %n: index, %y: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.while (%i = %c0, %a = %x) : (index, memref<?xf32>) -> (index, memref<?xf32>) {
    %more = arith.cmpi slt, %i, %n : index
    %d = memref.dim %a, %c0 : memref<?xf32>
    %t = memref.alloc(%d) : memref<?xf32>
    memref.copy %a, %t : memref<?xf32> to memref<?xf32>
    scf.condition(%more) %i, %t : index, memref<?xf32>
  } do {
  ^bb0(%i: index, %a: memref<?xf32>):
    %d = memref.dim %a, %c0 : memref<?xf32>
    %e = arith.addi %d, %c1 : index
    %b = memref.alloc(%e) : memref<?xf32>
    func.call @grow(%a, %b) : (memref<?xf32>, memref<?xf32>) -> ()
    %j = arith.addi %i, %c1 : index
    scf.yield %j, %b : index, memref<?xf32>
  }
  memref.copy %r#1, %y : memref<?xf32> to memref<?xf32>
  return
}

// -----

// A branch gives fresh memory on each side.
// CHECK-LABEL: func.func @branch
// CHECK: %[[R:.*]] = scf.if %{{.*}} -> (memref<?xf32>) {
// CHECK: %[[B:.*]] = memref.alloc
// CHECK-NEXT: func.call @k(%{{.*}}, %[[B]])
// CHECK-NEXT: scf.yield %[[B]]
// CHECK: } else {
// CHECK: %[[C:.*]] = memref.alloc
// CHECK-NEXT: memref.copy %{{.*}}, %[[C]]
// CHECK-NEXT: scf.yield %[[C]]
// FREE-LABEL: func.func @branch
// FREE: } else {
// FREE: scf.yield
// FREE-NEXT: }
// FREE-NEXT: memref.copy %[[R:.*]], %{{.*}} :
// FREE-NEXT: memref.dealloc %[[R]]
func.func private @k(memref<?xf32>, memref<?xf32>)
func.func @branch(%x: memref<?xf32>, %n: index, %p: i1, %y: memref<?xf32>) {
  %r = scf.if %p -> (memref<?xf32>) {
    %b = memref.alloc(%n) : memref<?xf32>
    func.call @k(%x, %b) : (memref<?xf32>, memref<?xf32>) -> ()
    scf.yield %b : memref<?xf32>
  } else {
    scf.yield %x : memref<?xf32>
  }
  memref.copy %r, %y : memref<?xf32> to memref<?xf32>
  return
}

// -----

// no-match: a loop that writes what it carries in place.
// CHECK-LABEL: func.func @in_place
// CHECK: scf.for {{.*}} iter_args(%[[A:.*]] = %{{.*}}) -> (memref<4xf32>)
// CHECK: scf.yield %[[A]]
// FREE-LABEL: func.func @in_place
func.func private @k(memref<4xf32>, memref<4xf32>)
func.func @in_place(%x: memref<4xf32>, %n: index, %y: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %y) -> (memref<4xf32>) {
    func.call @k(%x, %a) : (memref<4xf32>, memref<4xf32>) -> ()
    scf.yield %a : memref<4xf32>
  }
  return
}
