// RUN: dlc-opt %s "--affine-tile-windows=vector-bits=512 registers=32" --split-input-file | filecheck %s
// Heights and widths that run time knows: single steps at edges, whose loads have masks, and whole tiles between them.

// CHECK-DAG: #[[SAFE:.*]] = affine_map<()[s0, s1] -> (s0, s1 - 1)>
// CHECK-DAG: #[[FIRST:.*]] = affine_map<()[s0] -> (1, s0)>
// CHECK-DAG: #[[WHOLE:.*]] = affine_map<()[s0, s1] -> (((s0 - 1) floordiv 2) * 2 + 1, s1)>
// CHECK-LABEL: func.func private @edges(
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<?x?x16xf32>
// CHECK-NOT: memref.alloc
// CHECK: %[[BEGIN:.*]] = affine.min #[[FIRST]]()[%[[H:.*]]]
// CHECK: %[[LAST:.*]] = affine.min #[[SAFE]]()[%[[H]], %[[H]]]
// CHECK: %[[END:.*]] = affine.max #[[WHOLE]]()[%[[LAST]], %[[BEGIN]]]
// CHECK: affine.for %{{.*}} = 0 to %[[BEGIN]] {
// CHECK: affine.min
// CHECK: vector.create_mask
// CHECK: vector.maskedload %[[X]]
// CHECK: affine.for %{{.*}} = %[[BEGIN]] to %[[END]] step 2 {
// CHECK: affine.for %{{.*}} = %{{.*}} to %{{.*}} step 4 {
// CHECK-NOT: maskedload
// CHECK: affine.vector_load %[[X]]
// CHECK-NOT: maskedload
// CHECK: affine.vector_store
// CHECK: affine.for %{{.*}} = %[[END]] to %[[H]] {
// CHECK: vector.maskedload %[[X]]
func.func private @edges(%x: memref<?x?x16xf32> {llvm.noalias}, %k: memref<3x3x16xf32> {llvm.noalias}, %y: memref<?x?x16xf32> {llvm.noalias}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %h = memref.dim %x, %c0 : memref<?x?x16xf32>
  %w = memref.dim %x, %c1 : memref<?x?x16xf32>
  %ph = arith.addi %h, %c2 : index
  %pw = arith.addi %w, %c2 : index
  %p = memref.alloc(%ph, %pw) : memref<?x?x16xf32>
  affine.for %i = 0 to %ph {
    affine.for %j = 0 to %pw {
      affine.for %c = 0 to 16 {
        affine.store %zero, %p[%i, %j, %c] : memref<?x?x16xf32>
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  %inside = memref.subview %p[1, 1, 0] [%h, %w, 16] [1, 1, 1] : memref<?x?x16xf32> to memref<?x?x16xf32, strided<[?, 16, 1], offset: ?>>
  affine.for %i = 0 to %h {
    affine.for %j = 0 to %w {
      affine.for %c = 0 to 16 {
        %e = affine.load %x[%i, %j, %c] : memref<?x?x16xf32>
        affine.store %e, %inside[%i, %j, %c] : memref<?x?x16xf32, strided<[?, 16, 1], offset: ?>>
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  affine.for %i = 0 to %h {
    affine.for %j = 0 to %w {
      affine.for %c = 0 to 16 {
        %0 = affine.for %r = 0 to 3 iter_args(%a = %zero) -> (f32) {
          %1 = affine.for %s = 0 to 3 iter_args(%b = %a) -> (f32) {
            %e = affine.load %p[%i + %r, %j + %s, %c] : memref<?x?x16xf32>
            %t = affine.load %k[%r, %s, %c] : memref<3x3x16xf32>
            %m = arith.mulf %e, %t : f32
            %n = arith.addf %b, %m : f32
            affine.yield %n : f32
          }
          affine.yield %1 : f32
        }
        affine.store %0, %y[%i, %j, %c] : memref<?x?x16xf32>
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  memref.dealloc %p : memref<?x?x16xf32>
  return
}

// -----

// An unknown number of images with known sizes changes nothing in each: padding is read around as ever.
// CHECK-LABEL: func.func private @images(
// CHECK-NOT: memref.alloc
// CHECK-NOT: create_mask
// CHECK: affine.for %{{.*}} = 0 to %{{.*}} {
// CHECK: vector.fma
// CHECK: return
func.func private @images(%x: memref<?x4x16xf32> {llvm.noalias}, %k: memref<3x16xf32> {llvm.noalias}, %y: memref<?x4x16xf32> {llvm.noalias}) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = memref.dim %x, %c0 : memref<?x4x16xf32>
  %p = memref.alloc(%n) : memref<?x6x16xf32>
  affine.for %i = 0 to %n {
    affine.for %j = 0 to 6 {
      affine.for %c = 0 to 16 {
        affine.store %zero, %p[%i, %j, %c] : memref<?x6x16xf32>
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  %inside = memref.subview %p[0, 1, 0] [%n, 4, 16] [1, 1, 1] : memref<?x6x16xf32> to memref<?x4x16xf32, strided<[96, 16, 1], offset: 16>>
  affine.for %i = 0 to %n {
    affine.for %j = 0 to 4 {
      affine.for %c = 0 to 16 {
        %e = affine.load %x[%i, %j, %c] : memref<?x4x16xf32>
        affine.store %e, %inside[%i, %j, %c] : memref<?x4x16xf32, strided<[96, 16, 1], offset: 16>>
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  affine.for %i = 0 to %n {
    affine.for %j = 0 to 4 {
      affine.for %c = 0 to 16 {
        %0 = affine.for %r = 0 to 3 iter_args(%a = %zero) -> (f32) {
          %e = affine.load %p[%i, %j + %r, %c] : memref<?x6x16xf32>
          %t = affine.load %k[%r, %c] : memref<3x16xf32>
          %m = arith.mulf %e, %t : f32
          %s = arith.addf %a, %m : f32
          affine.yield %s : f32
        }
        affine.store %0, %y[%i, %j, %c] : memref<?x4x16xf32>
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  memref.dealloc %p : memref<?x6x16xf32>
  return
}

// -----

// no-match: a part of a buffer that is not the whole of an unknown number of images is padded for all that is known.
// CHECK-LABEL: func.func private @part(
// CHECK: memref.alloc
func.func private @part(%x: memref<?x16xf32> {llvm.noalias}, %y: memref<?x16xf32> {llvm.noalias}, %n: index, %m: index) {
  %zero = arith.constant 0.0 : f32
  %p = memref.alloc(%n) : memref<?x16xf32>
  affine.for %i = 0 to %m {
    affine.for %c = 0 to 16 {
      affine.store %zero, %p[%i, %c] : memref<?x16xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  affine.for %i = 0 to %m {
    affine.for %c = 0 to 16 {
      %e = affine.load %x[%i, %c] : memref<?x16xf32>
      affine.store %e, %p[%i, %c] : memref<?x16xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  affine.for %i = 0 to %m {
    affine.for %c = 0 to 16 {
      %0 = affine.for %r = 0 to 3 iter_args(%a = %zero) -> (f32) {
        %e = affine.load %p[%i + %r, %c] : memref<?x16xf32>
        %s = arith.addf %a, %e : f32
        affine.yield %s : f32
      }
      affine.store %0, %y[%i, %c] : memref<?x16xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  memref.dealloc %p : memref<?x16xf32>
  return
}
