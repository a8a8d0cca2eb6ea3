// RUN: dlc-opt %s --split-input-file --affine-map-to-gpu=leave-others=true | filecheck %s
// Rows of two dims whose sizes run time knows: the joined memref is an array of its own.

// CHECK-LABEL: func.func @rows(
// CHECK: %[[A:.*]] = memref.collapse_shape %arg0
// CHECK: %[[B:.*]] = memref.collapse_shape %arg1
// CHECK: %[[N:.*]] = arith.muli
// CHECK: affine.for {{.*}}%[[N]]
// CHECK: affine.load %[[A]]
// CHECK: affine.store %{{.*}}, %[[B]]
// CHECK: dlc.name = "kernel0.thread.x"
// CHECK: dlc.name = "kernel0.block.
func.func @rows(%x: memref<?x?x64xf32> {llvm.noalias}, %y: memref<?x?x64xf32> {llvm.noalias}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.collapse_shape %x [[0, 1], [2]] : memref<?x?x64xf32> into memref<?x64xf32>
  %b = memref.collapse_shape %y [[0, 1], [2]] : memref<?x?x64xf32> into memref<?x64xf32>
  %m = memref.dim %x, %c0 : memref<?x?x64xf32>
  %k = memref.dim %x, %c1 : memref<?x?x64xf32>
  %n = arith.muli %m, %k : index
  affine.for %i = 0 to %n {
    affine.for %j = 0 to 64 {
      %v = affine.load %a[%i, %j] : memref<?x64xf32>
      %w = arith.addf %v, %v : f32
      affine.store %w, %b[%i, %j] : memref<?x64xf32>
    }
  }
  return
}

// -----

// no-match: written in one shape and read in another.
// CHECK-LABEL: func.func @shapes(
// CHECK-SAME: dlc.on_cpu = "it touches a memref that is written in another shape of sizes that only run time knows
func.func @shapes(%x: memref<?x?x64xf32> {llvm.noalias}, %y: memref<64xf32> {llvm.noalias}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.collapse_shape %x [[0, 1], [2]] : memref<?x?x64xf32> into memref<?x64xf32>
  %m = memref.dim %x, %c0 : memref<?x?x64xf32>
  %k = memref.dim %x, %c1 : memref<?x?x64xf32>
  %n = arith.muli %m, %k : index
  affine.for %i = 0 to %n {
    affine.for %j = 0 to 64 {
      %v = affine.load %y[%j] : memref<64xf32>
      affine.store %v, %a[%i, %j] : memref<?x64xf32>
    }
  }
  affine.for %j = 0 to 64 {
    %v = affine.load %x[0, 0, %j] : memref<?x?x64xf32>
    affine.store %v, %y[%j] : memref<64xf32>
  }
  return
}

// -----

// no-match: another argument may be the same memory, in any shape.
// CHECK-LABEL: func.func @aliases(
// CHECK-SAME: dlc.on_cpu = "it touches a memref that may share memory
func.func @aliases(%x: memref<?x?x64xf32>, %y: memref<?x?x64xf32>, %n: index) {
  %a = memref.collapse_shape %x [[0, 1], [2]] : memref<?x?x64xf32> into memref<?x64xf32>
  %b = memref.collapse_shape %y [[0, 1], [2]] : memref<?x?x64xf32> into memref<?x64xf32>
  affine.for %i = 0 to %n {
    %v = affine.load %a[%i, 0] : memref<?x64xf32>
    affine.store %v, %b[%i, 1] : memref<?x64xf32>
  }
  return
}

// -----

// The only element of a memref is an element of what it is a view of.
// CHECK-LABEL: func.func @element(
// CHECK-NOT: dlc.on_cpu
// CHECK: dlc.name = "kernel0.thread.x"
func.func @element(%x: memref<2xf32> {llvm.noalias}, %y: memref<64xf32> {llvm.noalias}) {
  %a = memref.subview %x[1] [1] [1] : memref<2xf32> to memref<1xf32, strided<[1], offset: 1>>
  %b = memref.collapse_shape %a [] : memref<1xf32, strided<[1], offset: 1>> into memref<f32, strided<[], offset: 1>>
  affine.for %i = 0 to 64 {
    %v = affine.load %b[] : memref<f32, strided<[], offset: 1>>
    affine.store %v, %y[%i] : memref<64xf32>
  }
  return
}
