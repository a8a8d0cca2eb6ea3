// RUN: dlc-opt %s "--affine-tile-windows=vector-bits=128 registers=16" --split-input-file | filecheck %s
// Sums and maxima over windows become tiles whose taps share loads; padding is not copied.

// Channels are the lanes, two rows and two columns a tile. The copy with zeros around it goes: taps outside are left out in tiles
// of their own at the borders.
// CHECK-LABEL: func.func @depthwise(
// CHECK-SAME: %[[X:.*]]: memref<9x12x8xf32> {llvm.noalias}, %[[K:.*]]: memref<3x3x8xf32> {llvm.noalias}, %[[Y:.*]]: memref<9x12x8xf32> {llvm.noalias}
// CHECK-NOT: memref.alloc
// The first pixel has no tap above or to its left.
// CHECK: affine.vector_load %[[X]][0, 0, 0] : memref<9x12x8xf32>, vector<4xf32>
// CHECK: } {dlc.parallel, dlc.schedule = {code_generator = "windows", lane_loop = 2 : i64, lanes = 4 : i64, order = array<i64: 0, 1, 2>, unroll_and_jam = [array<i64: 0, 2>, array<i64: 1, 2>], vectors = 2 : i64}}
// CHECK: affine.for %[[H:.*]] = 2 to 8 step 2 {
// CHECK: affine.for %[[W:.*]] = 2 to 10 step 2 {
// CHECK: affine.vector_load %[[X]][%[[H]] - 1, %[[W]] - 1, 0]
// CHECK-COUNT-72: vector.fma
// CHECK-COUNT-8: affine.vector_store {{.*}}, %[[Y]][%[[H]]
func.func @depthwise(%x: memref<9x12x8xf32> {llvm.noalias}, %k: memref<3x3x8xf32> {llvm.noalias}, %y: memref<9x12x8xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  %p = memref.alloc() : memref<11x14x8xf32>
  affine.for %h = 0 to 11 {
    affine.for %w = 0 to 14 {
      affine.for %c = 0 to 8 {
        affine.store %zero, %p[%h, %w, %c] : memref<11x14x8xf32>
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  %inside = memref.subview %p[1, 1, 0] [9, 12, 8] [1, 1, 1] : memref<11x14x8xf32> to memref<9x12x8xf32, strided<[112, 8, 1], offset: 120>>
  affine.for %h = 0 to 9 {
    affine.for %w = 0 to 12 {
      affine.for %c = 0 to 8 {
        %e = affine.load %x[%h, %w, %c] : memref<9x12x8xf32>
        affine.store %e, %inside[%h, %w, %c] : memref<9x12x8xf32, strided<[112, 8, 1], offset: 120>>
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  affine.for %h = 0 to 9 {
    affine.for %w = 0 to 12 {
      affine.for %c = 0 to 8 {
        %0 = affine.for %i = 0 to 3 iter_args(%a = %zero) -> (f32) {
          %1 = affine.for %j = 0 to 3 iter_args(%b = %a) -> (f32) {
            %e = affine.load %p[%h + %i, %w + %j, %c] : memref<11x14x8xf32>
            %t = affine.load %k[%i, %j, %c] : memref<3x3x8xf32>
            %m = arith.mulf %e, %t : f32
            %s = arith.addf %b, %m : f32
            affine.yield %s : f32
          }
          affine.yield %1 : f32
        }
        affine.store %0, %y[%h, %w, %c] : memref<9x12x8xf32>
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  memref.dealloc %p : memref<11x14x8xf32>
  return
}

// -----

// A contiguous row is the lanes; with a step of two, taps take the even and the odd elements of the same vectors, and the last
// vector of results is half full.
// CHECK-LABEL: func.func @max_rows(
// CHECK-SAME: %[[X:.*]]: memref<6x12xf32> {llvm.noalias}
// CHECK: %[[A:.*]] = affine.vector_load %[[X]][0, 0] : memref<6x12xf32>, vector<4xf32>
// CHECK: %[[B:.*]] = affine.vector_load %[[X]][0, 4] : memref<6x12xf32>, vector<4xf32>
// CHECK: vector.shuffle %[[A]], %[[B]] [0, 2, 4, 6]
// CHECK: %[[C:.*]] = affine.vector_load %[[X]][0, 8] : memref<6x12xf32>, vector<4xf32>
// CHECK: vector.shuffle %[[C]], %{{.*}} [0, 2, 4, 6]
// CHECK-NOT: affine.vector_load %[[X]][0,
// CHECK: vector.shuffle %[[A]], %[[B]] [1, 3, 5, 7]
// CHECK: arith.maximumf {{.*}} : vector<4xf32>
// CHECK: vector.maskedstore
func.func @max_rows(%x: memref<6x12xf32> {llvm.noalias}, %y: memref<3x6xf32> {llvm.noalias}) {
  %low = arith.constant 0xFF800000 : f32
  affine.for %h = 0 to 3 {
    affine.for %w = 0 to 6 {
      %0 = affine.for %i = 0 to 2 iter_args(%a = %low) -> (f32) {
        %1 = affine.for %j = 0 to 2 iter_args(%b = %a) -> (f32) {
          %e = affine.load %x[%h * 2 + %i, %w * 2 + %j] : memref<6x12xf32>
          %m = arith.maximumf %e, %b : f32
          affine.yield %m : f32
        }
        affine.yield %1 : f32
      }
      affine.store %0, %y[%h, %w] : memref<3x6xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// -----

// The given schedule is used: one vector, no loop jammed.
// CHECK-LABEL: func.func @given(
// CHECK: affine.for %{{.*}} = 0 to 4 {
// CHECK-COUNT-3: vector.fma
// CHECK: dlc.schedule = {code_generator = "windows", lane_loop = 1 : i64, lanes = 4 : i64
func.func @given(%x: memref<6x4xf32> {llvm.noalias}, %k: memref<3x4xf32> {llvm.noalias}, %y: memref<4x4xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  affine.for %h = 0 to 4 {
    affine.for %c = 0 to 4 {
      %0 = affine.for %i = 0 to 3 iter_args(%a = %zero) -> (f32) {
        %e = affine.load %x[%h + %i, %c] : memref<6x4xf32>
        %t = affine.load %k[%i, %c] : memref<3x4xf32>
        %m = arith.mulf %e, %t : f32
        %s = arith.addf %a, %m : f32
        affine.yield %s : f32
      }
      affine.store %0, %y[%h, %c] : memref<4x4xf32>
    } {dlc.parallel}
  } {dlc.parallel, dlc.schedule = {code_generator = "windows", lane_loop = 1 : i64, lanes = 4 : i64}}
  return
}

// -----

// The buffer has another reader, so it stays; a product of matrices has no windows.
// CHECK-LABEL: func.func @no_match(
// CHECK: memref.alloc
// CHECK-NOT: vector
// CHECK: return
func.func @no_match(%a: memref<8x4xf32> {llvm.noalias}, %b: memref<4x8xf32> {llvm.noalias}, %c: memref<8x8xf32> {llvm.noalias}) {
  %p = memref.alloc() : memref<8x4xf32>
  affine.for %i = 0 to 8 {
    affine.for %k = 0 to 4 {
      %e = affine.load %a[%i, %k] : memref<8x4xf32>
      affine.store %e, %p[%i, %k] : memref<8x4xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  affine.for %i = 0 to 8 {
    affine.for %j = 0 to 8 {
      %0 = affine.load %c[%i, %j] : memref<8x8xf32>
      %1 = affine.for %k = 0 to 4 iter_args(%s = %0) -> (f32) {
        %x = affine.load %p[%i, %k] : memref<8x4xf32>
        %y = affine.load %b[%k, %j] : memref<4x8xf32>
        %m = arith.mulf %x, %y : f32
        %t = arith.addf %s, %m : f32
        affine.yield %t : f32
      }
      affine.store %1, %c[%i, %j] : memref<8x8xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}
