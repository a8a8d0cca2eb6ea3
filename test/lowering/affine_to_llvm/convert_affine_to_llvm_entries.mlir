// RUN: dlc-opt %s --convert-affine-to-llvm --split-input-file --verify-diagnostics | filecheck %s
// Which functions are entries, and which calls are theirs.

// expected-error@+1 {{'dl.signature' does not name the entry of the model; leave it to dl-bind-params}}
module attributes {dl.signature = {inputs = []}} {
func.func @main(%x: memref<4xf32>) {
  return
}
}

// -----

// expected-error@+1 {{'dl.signature' does not name the entry of the model; leave it to dl-bind-params}}
module attributes {dl.signature = {entry = "main", precompute = "x"}} {
func.func @main(%x: memref<4xf32>) {
  return
}
}

// -----

// expected-error@+1 {{'_mlir_ciface_main' is called as a C interface, which this pass makes; give it another name}}
func.func @_mlir_ciface_main(%x: memref<4xf32>) {
  return
}
func.func private @main(%x: memref<4xf32>) {
  return
}

// -----

// The module inside has a function of the same name, which takes nothing.
// CHECK-LABEL: llvm.func internal @k(
// CHECK-SAME: !llvm.ptr
// CHECK: module {
// CHECK: llvm.call @k() : () -> ()
module {
func.func private @k(%x: memref<4xf32>) {
  return
}
func.func @main(%x: memref<4xf32>) {
  call @k(%x) : (memref<4xf32>) -> ()
  return
}
module {
  func.func private @k()
  func.func @other() {
    call @k() : () -> ()
    return
  }
}
}
