// RUN: dlc-opt %s --affine-fuse-nests --split-input-file | filecheck %s
// Nests that match in all their loops become one, values stay in registers, and buffers between them go. It refuses nothing.

// What follows a contraction works on its accumulators: one nest, one store, no buffer.
// CHECK-LABEL: func.func private @epilogue
// CHECK-NOT: memref.alloc
// CHECK: affine.for %[[M:.*]] = 0 to 8 {
// CHECK-NEXT: affine.for %[[N:.*]] = 0 to 6 {
// CHECK-NEXT: %[[SUM:.*]] = affine.for
// CHECK: affine.yield
// CHECK: %[[B:.*]] = affine.load %{{.*}}[%[[N]]] : memref<6xf32>
// CHECK-NEXT: %[[R:.*]] = arith.addf %[[SUM]], %[[B]]
// CHECK-NEXT: affine.store %[[R]], %{{.*}}[%[[M]], %[[N]]]
// CHECK-NEXT: } {dlc.parallel}
// CHECK-NEXT: } {dlc.parallel}
// CHECK-NEXT: return
func.func private @epilogue(%a: memref<8x4xf32>, %w: memref<4x6xf32>, %b: memref<6xf32>, %y: memref<8x6xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  %c = memref.alloc() : memref<8x6xf32>
  affine.for %m = 0 to 8 {
    affine.for %n = 0 to 6 {
      %s = affine.for %k = 0 to 4 iter_args(%acc = %zero) -> (f32) {
        %0 = affine.load %a[%m, %k] : memref<8x4xf32>
        %1 = affine.load %w[%k, %n] : memref<4x6xf32>
        %2 = arith.mulf %0, %1 : f32
        %3 = arith.addf %acc, %2 : f32
        affine.yield %3 : f32
      }
      affine.store %s, %c[%m, %n] : memref<8x6xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  affine.for %m = 0 to 8 {
    affine.for %n = 0 to 6 {
      %0 = affine.load %c[%m, %n] : memref<8x6xf32>
      %1 = affine.load %b[%n] : memref<6xf32>
      %2 = arith.addf %0, %1 : f32
      affine.store %2, %y[%m, %n] : memref<8x6xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  memref.dealloc %c : memref<8x6xf32>
  return
}

// -----

// Rows: a reduction and what uses its result; the result is a value, and the buffer of results is gone.
// CHECK-LABEL: func.func private @rows
// CHECK-NOT: memref.alloc
// CHECK: affine.for %[[I:.*]] = 0 to 8 {
// CHECK-NEXT: %[[TOP:.*]] = affine.for
// CHECK: affine.for %[[J:.*]] = 0 to 16 {
// CHECK-NEXT: %[[X:.*]] = affine.load %{{.*}}[%[[I]], %[[J]]]
// CHECK-NEXT: arith.subf %[[X]], %[[TOP]]
// CHECK-NOT: affine.for
// CHECK: return
func.func private @rows(%x: memref<8x16xf32>, %y: memref<8x16xf32> {llvm.noalias}) {
  %low = arith.constant 0xFF800000 : f32
  %top = memref.alloc() : memref<8xf32>
  affine.for %i = 0 to 8 {
    %m = affine.for %j = 0 to 16 iter_args(%acc = %low) -> (f32) {
      %0 = affine.load %x[%i, %j] : memref<8x16xf32>
      %1 = arith.maximumf %acc, %0 : f32
      affine.yield %1 : f32
    }
    affine.store %m, %top[%i] : memref<8xf32>
  } {dlc.parallel}
  affine.for %i = 0 to 8 {
    affine.for %j = 0 to 16 {
      %0 = affine.load %x[%i, %j] : memref<8x16xf32>
      %1 = affine.load %top[%i] : memref<8xf32>
      %2 = arith.subf %0, %1 : f32
      affine.store %2, %y[%i, %j] : memref<8x16xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  memref.dealloc %top : memref<8xf32>
  return
}

// -----

// no-match: nests that share no written buffer, and public functions, whose loops are not one kernel.
// CHECK-LABEL: func.func private @unrelated
// CHECK-COUNT-2: affine.for
// CHECK-LABEL: func.func @public
// CHECK-COUNT-2: affine.for
func.func private @unrelated(%x: memref<8xf32>, %y: memref<8xf32> {llvm.noalias}, %z: memref<8xf32> {llvm.noalias}) {
  affine.for %i = 0 to 8 {
    %0 = affine.load %x[%i] : memref<8xf32>
    affine.store %0, %y[%i] : memref<8xf32>
  } {dlc.parallel}
  affine.for %i = 0 to 8 {
    %0 = affine.load %x[%i] : memref<8xf32>
    affine.store %0, %z[%i] : memref<8xf32>
  } {dlc.parallel}
  return
}
func.func @public(%x: memref<8xf32>, %y: memref<8xf32>) {
  affine.for %i = 0 to 8 {
    %0 = affine.load %x[%i] : memref<8xf32>
    affine.store %0, %y[%i] : memref<8xf32>
  } {dlc.parallel}
  affine.for %i = 0 to 8 {
    %0 = affine.load %y[%i] : memref<8xf32>
    affine.store %0, %x[%i] : memref<8xf32>
  } {dlc.parallel}
  return
}
