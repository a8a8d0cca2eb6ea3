// RUN: dlc-opt %s --convert-affine-to-llvm --split-input-file | filecheck %s
// Scratch memory of loops is allocated once, before the outermost of them. It refuses nothing.

// CHECK-LABEL: llvm.func internal @rows
// CHECK: %[[S:.*]] = llvm.call @_mlir_memref_to_llvm_alloc
// CHECK: llvm.br
// CHECK-NOT: _mlir_memref_to_llvm_alloc
// CHECK-NOT: _mlir_memref_to_llvm_free
// CHECK: llvm.store %{{.*}}, %[[S]]
// CHECK: llvm.call @_mlir_memref_to_llvm_free(%[[S]])
// CHECK-NEXT: llvm.return
func.func private @rows(%x: memref<8x8xf32>) attributes {dl.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    affine.for %j = 0 to 8 {
      %s = memref.alloc() : memref<f32>
      %0 = memref.load %x[%i, %j] : memref<8x8xf32>
      memref.store %0, %s[] : memref<f32>
      %1 = memref.load %s[] : memref<f32>
      %2 = arith.mulf %1, %0 : f32
      memref.store %2, %x[%i, %j] : memref<8x8xf32>
      memref.dealloc %s : memref<f32>
    }
  }
  return
}
func.func @main(%x: memref<8x8xf32>) {
  call @rows(%x) : (memref<8x8xf32>) -> ()
  return
}

// -----

// No match: a loop of the model may not run at all, and a size that its body computes is not known before it.
// CHECK-LABEL: llvm.func @_mlir_ciface_main
// CHECK: llvm.cond_br
// CHECK: llvm.call @dlc_allocate
// CHECK: llvm.br
func.func private @use(%x: memref<?xf32>)
func.func @main(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %s = memref.alloc(%n) : memref<?xf32>
    func.call @use(%s) : (memref<?xf32>) -> ()
    memref.dealloc %s : memref<?xf32>
  }
  return
}

// -----

// CHECK-LABEL: llvm.func internal @growing
// CHECK: llvm.cond_br
// CHECK: llvm.call @_mlir_memref_to_llvm_alloc
func.func private @use(%x: memref<?xf32>)
func.func private @growing(%n: index) attributes {dl.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %s = memref.alloc(%i) : memref<?xf32>
    func.call @use(%s) : (memref<?xf32>) -> ()
    memref.dealloc %s : memref<?xf32>
  }
  return
}
func.func @main(%n: index) {
  call @growing(%n) : (index) -> ()
  return
}
