// RUN: dlc-opt %s "--affine-tile-windows=vector-bits=128 registers=16" --split-input-file | filecheck %s
// Of a nest with a loop that runs no iteration nothing is left.

// CHECK-LABEL: func.func @columns(
// CHECK-NOT: affine.store
// CHECK: return
func.func @columns(%x: memref<8x12x16xf32>, %k: memref<3x3x16xf32>, %y: memref<6x10x16xf32>) {
  %zero = arith.constant 0.0 : f32
  affine.for %h = 0 to 6 {
    affine.for %w = 0 to 0 {
      affine.for %c = 0 to 16 {
        %0 = affine.for %i = 0 to 3 iter_args(%a = %zero) -> (f32) {
          %1 = affine.for %j = 0 to 3 iter_args(%b = %a) -> (f32) {
            %e = affine.load %x[%h + %i, %w + %j, %c] : memref<8x12x16xf32>
            %t = affine.load %k[%i, %j, %c] : memref<3x3x16xf32>
            %m = arith.mulf %e, %t : f32
            %s = arith.addf %b, %m : f32
            affine.yield %s : f32
          }
          affine.yield %1 : f32
        }
        affine.store %0, %y[%h, %w, %c] : memref<6x10x16xf32>
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// -----

// CHECK-LABEL: func.func @rows(
// CHECK-NOT: affine.store
// CHECK: return
func.func @rows(%x: memref<8x16xf32>, %k: memref<3x16xf32>, %y: memref<6x16xf32>) {
  %zero = arith.constant 0.0 : f32
  affine.for %h = 0 to -1 {
    affine.for %c = 0 to 16 {
      %0 = affine.for %i = 0 to 3 iter_args(%a = %zero) -> (f32) {
        %e = affine.load %x[%h + %i, %c] : memref<8x16xf32>
        %t = affine.load %k[%i, %c] : memref<3x16xf32>
        %m = arith.mulf %e, %t : f32
        %s = arith.addf %a, %m : f32
        affine.yield %s : f32
      }
      affine.store %0, %y[%h, %c] : memref<6x16xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// -----

// CHECK-LABEL: func.func @lanes(
// CHECK-NOT: affine.store
// CHECK: return
func.func @lanes(%x: memref<8x16xf32>, %k: memref<3xf32>, %y: memref<6x14xf32>) {
  %zero = arith.constant 0.0 : f32
  affine.for %h = 0 to 6 {
    affine.for %w = 0 to 0 {
      %0 = affine.for %i = 0 to 3 iter_args(%a = %zero) -> (f32) {
        %e = affine.load %x[%h + %i, %w] : memref<8x16xf32>
        %t = affine.load %k[%i] : memref<3xf32>
        %m = arith.mulf %e, %t : f32
        %s = arith.addf %a, %m : f32
        affine.yield %s : f32
      }
      affine.store %0, %y[%h, %w] : memref<6x14xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}
