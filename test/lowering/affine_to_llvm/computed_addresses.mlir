// RUN: dlc-opt %s --convert-affine-to-llvm | filecheck %s
// Loops around loads at places that floats give are kept from LLVM's vectoriser, which reads the first lane's place in all lanes.

// CHECK: #[[NEVER:.*]] = #llvm.loop_vectorize<disable = true>
// CHECK: #[[ALONE:.*]] = #llvm.loop_annotation<vectorize = #[[NEVER]]>
// CHECK-LABEL: llvm.func @_mlir_ciface_nearest(
// CHECK: llvm.fptosi
// CHECK: llvm.cond_br %{{[0-9]+}}, ^bb{{.*}} {loop_annotation = #[[ALONE]]}
func.func @nearest(%x: memref<4xf32>, %y: memref<9xf32>) {
  %zero = arith.constant 0 : index
  %three = arith.constant 3 : index
  %scale = arith.constant 2.3 : f32
  affine.for %i = 0 to 9 {
    %0 = arith.index_cast %i : index to i64
    %1 = arith.sitofp %0 : i64 to f32
    %2 = arith.divf %1, %scale : f32
    %3 = arith.fptosi %2 : f32 to i64
    %4 = arith.index_cast %3 : i64 to index
    %5 = arith.minsi %4, %three : index
    %6 = arith.maxsi %5, %zero : index
    %7 = memref.load %x[%6] : memref<4xf32>
    affine.store %7, %y[%i] : memref<9xf32>
  }
  return
}

// CHECK-LABEL: llvm.func @_mlir_ciface_gathered(
// CHECK-NOT: loop_annotation
// CHECK: llvm.return
func.func @gathered(%x: memref<4xf32>, %places: memref<9xi64>, %y: memref<9xf32>) {
  affine.for %i = 0 to 9 {
    %0 = affine.load %places[%i] : memref<9xi64>
    %1 = arith.index_cast %0 : i64 to index
    %2 = memref.load %x[%1] : memref<4xf32>
    affine.store %2, %y[%i] : memref<9xf32>
  }
  return
}
