// RUN: dlc-opt %s --convert-affine-to-llvm --split-input-file --verify-diagnostics
// RUN: dlc-opt %s --normalize-memrefs --convert-affine-to-llvm --split-input-file | filecheck %s
// Strides find the elements of a memref, or normalize-memrefs makes another one of it.

// CHECK-LABEL: llvm.func @_mlir_ciface_transposed(
// CHECK-NOT: unrealized
func.func @transposed(%x: memref<8x4xf32, strided<[1, 8], offset: ?>>, %y: memref<8x4xf32>) {
  affine.for %i = 0 to 8 {
    affine.for %j = 0 to 4 {
      %v = affine.load %x[%i, %j] : memref<8x4xf32, strided<[1, 8], offset: ?>>
      affine.store %v, %y[%i, %j] : memref<8x4xf32>
    }
  }
  return
}

// -----

#tiles = affine_map<(i, j) -> (i floordiv 4, j, i mod 4)>
// CHECK-LABEL: llvm.func @_mlir_ciface_argument(
// CHECK-NOT: unrealized
// expected-error @+1 {{the layout of memref<8x8xf32, affine_map<(d0, d1) -> (d0 floordiv 4, d1, d0 mod 4)>> has no strides; run normalize-memrefs first}}
func.func @argument(%x: memref<8x8xf32, #tiles>, %y: memref<8x8xf32>) {
  affine.for %i = 0 to 8 {
    affine.for %j = 0 to 8 {
      %v = affine.load %x[%i, %j] : memref<8x8xf32, #tiles>
      affine.store %v, %y[%i, %j] : memref<8x8xf32>
    }
  }
  return
}

// -----

#tiles = affine_map<(i) -> (i floordiv 4, i mod 4)>
// CHECK-LABEL: llvm.func @_mlir_ciface_local(
// CHECK-NOT: unrealized
func.func @local(%y: memref<8xf32>) {
  // expected-error @+1 {{has no strides; run normalize-memrefs first}}
  %x = memref.alloc() : memref<8xf32, #tiles>
  affine.for %i = 0 to 8 {
    %v = affine.load %y[%i] : memref<8xf32>
    affine.store %v, %x[%i] : memref<8xf32, #tiles>
    %w = affine.load %x[7 - %i] : memref<8xf32, #tiles>
    affine.store %w, %y[%i] : memref<8xf32>
  }
  memref.dealloc %x : memref<8xf32, #tiles>
  return
}
