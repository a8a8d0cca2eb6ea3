// RUN: dlc-opt %s --linalg-pass-results --split-input-file --verify-diagnostics | filecheck %s
// no-match: functions of several blocks keep their results, and calls in a module inside are those of its own functions.

// CHECK-LABEL: func.func private @either(
// CHECK-SAME: memref<?xf32>, %{{.*}}: i1) -> memref<?xf32>
// CHECK: call @either(%{{.*}}, %{{.*}}) : (memref<?xf32>, i1) -> memref<?xf32>
func.func private @either(%x: memref<?xf32>, %c: i1) -> memref<?xf32> {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %y = memref.alloc(%n) : memref<?xf32>
  cf.cond_br %c, ^a(%x : memref<?xf32>), ^a(%y : memref<?xf32>)
^a(%p: memref<?xf32>):
  return %p : memref<?xf32>
}
func.func @main(%x: memref<?xf32>, %c: i1) -> memref<?xf32> {
  %r = call @either(%x, %c) : (memref<?xf32>, i1) -> memref<?xf32>
  return %r : memref<?xf32>
}

// -----

// CHECK-LABEL: func.func private @k(
// CHECK-SAME: memref<4xf32> {dl.result, llvm.noalias})
// CHECK: module {
// CHECK: call @k() : () -> ()
module {
func.func private @k() -> memref<4xf32> {
  %y = memref.alloc() : memref<4xf32>
  return %y : memref<4xf32>
}
func.func @main() -> memref<4xf32> {
  %r = call @k() : () -> memref<4xf32>
  return %r : memref<4xf32>
}
module {
  func.func private @k()
  func.func @other() {
    call @k() : () -> ()
    return
  }
}
}

// -----

// Names of dims that are no texts are none.
// CHECK-LABEL: func.func private @named(
// CHECK-SAME: dl.dims = 3 : i64
// CHECK-SAME: memref<?xf32> {dl.result, llvm.noalias})
func.func private @named(%x: memref<?xf32> {dl.dims = 3 : i64}, %n: index) -> memref<?xf32> {
  %y = memref.alloc(%n) : memref<?xf32>
  return %y : memref<?xf32>
}
func.func @main(%x: memref<?xf32>, %n: index) -> memref<?xf32> {
  %r = call @named(%x, %n) : (memref<?xf32>, index) -> memref<?xf32>
  return %r : memref<?xf32>
}
