// RUN: dlc-opt %s --linalg-plan-memory | filecheck %s
// Buffers whose sizes a call decides lie in an allocation behind it.

// CHECK-LABEL: func.func @chosen(
// CHECK: %[[FIRST:.*]] = memref.alloc() : memref<512xi8>
// CHECK: %[[C:.*]] = call @choose
// CHECK: %[[N:.*]] = memref.dim %[[C]], %c0
// CHECK: %[[REST:.*]] = memref.alloc(%{{.*}}) : memref<?xi8>
// CHECK-DAG: memref.view %[[REST]][%{{.*}}][%[[N]]] : memref<?xi8> to memref<?xf32>
// CHECK-DAG: memref.view %[[REST]][%{{.*}}][%[[N]]] : memref<?xi8> to memref<?x4xf32>
// CHECK-NOT: memref.alloc
// CHECK: return
func.func @chosen(%x: memref<64xf32>, %y: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  %a = memref.alloc() : memref<64xf32>
  %b = memref.alloc() : memref<64xf32>
  call @move(%x, %a) : (memref<64xf32>, memref<64xf32>) -> ()
  call @move(%a, %b) : (memref<64xf32>, memref<64xf32>) -> ()
  %c = call @choose(%b) : (memref<64xf32>) -> memref<?xf32>
  %n = memref.dim %c, %c0 : memref<?xf32>
  %d = memref.alloc(%n) : memref<?xf32>
  call @use(%c, %d) : (memref<?xf32>, memref<?xf32>) -> ()
  %e = memref.alloc(%n) : memref<?x4xf32>
  call @widen(%d, %e) : (memref<?xf32>, memref<?x4xf32>) -> ()
  call @narrow(%e, %y) : (memref<?x4xf32>, memref<64xf32>) -> ()
  return
}

// no-match: a call in a loop decides the sizes, anew in each step.
// CHECK-LABEL: func.func @chosen_in_steps(
// CHECK: scf.for
// CHECK: call @choose
// CHECK: memref.alloc(%{{.*}}) : memref<?xf32>
// CHECK: memref.alloc(%{{.*}}) : memref<?x4xf32>
// CHECK: return
func.func @chosen_in_steps(%x: memref<64xf32>, %y: memref<64xf32>, %k: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %k step %c1 {
    %c = func.call @choose(%x) : (memref<64xf32>) -> memref<?xf32>
    %n = memref.dim %c, %c0 : memref<?xf32>
    %d = memref.alloc(%n) : memref<?xf32>
    func.call @use(%c, %d) : (memref<?xf32>, memref<?xf32>) -> ()
    %e = memref.alloc(%n) : memref<?x4xf32>
    func.call @widen(%d, %e) : (memref<?xf32>, memref<?x4xf32>) -> ()
    func.call @narrow(%e, %y) : (memref<?x4xf32>, memref<64xf32>) -> ()
  }
  return
}
func.func private @move(memref<64xf32>, memref<64xf32>)
func.func private @use(memref<?xf32>, memref<?xf32>)
func.func private @widen(memref<?xf32>, memref<?x4xf32>)
func.func private @narrow(memref<?x4xf32>, memref<64xf32>)
func.func private @choose(%x: memref<64xf32>) -> memref<?xf32> {
  %c0 = arith.constant 0 : index
  %v = memref.load %x[%c0] : memref<64xf32>
  %i = arith.fptosi %v : f32 to i64
  %n = arith.index_cast %i : i64 to index
  %r = memref.alloc(%n) : memref<?xf32>
  return %r : memref<?xf32>
}
