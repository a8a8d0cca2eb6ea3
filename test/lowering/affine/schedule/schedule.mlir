// RUN: dlc-opt %s "--affine-tile-registers=vector-bits=128 registers=16" "--affine-vectorize-loops=vector-bits=128 registers=16" | filecheck %s
// A nest that carries a schedule is cut as it says, and every code generator leaves the schedule that it used. Older versions
// call the field `emitter`.

// CHECK-LABEL: func.func private @given(
// CHECK: affine.for %[[J:.*]] = 0 to 8 step 8 {
// CHECK: affine.for %[[I:.*]] = 0 to 6 step 3 {
// CHECK-COUNT-6: affine.vector_store
// CHECK-NOT: affine.vector_store
// CHECK: } {dlc.parallel}
// CHECK-NEXT: } {dlc.parallel, dlc.schedule = {code_generator = "tile", lane_loop = 1 : i64, lanes = 4 : i64, order = array<i64: 1, 0>, unroll_and_jam = [array<i64: 0, 3>], vectors = 2 : i64}}
func.func private @given(%a: memref<6x32xf32>, %b: memref<32x8xf32>, %c: memref<6x8xf32>) {
  affine.for %i = 0 to 6 {
    affine.for %j = 0 to 8 {
      %0 = affine.load %c[%i, %j] : memref<6x8xf32>
      %1 = affine.for %k = 0 to 32 iter_args(%acc = %0) -> (f32) {
        %x = affine.load %a[%i, %k] : memref<6x32xf32>
        %y = affine.load %b[%k, %j] : memref<32x8xf32>
        %p = arith.mulf %x, %y : f32
        %s = arith.addf %acc, %p : f32
        affine.yield %s : f32
      }
      affine.store %1, %c[%i, %j] : memref<6x8xf32>
    } {dlc.parallel}
  } {dlc.parallel, dlc.schedule = {emitter = "tile", unroll_and_jam = [array<i64: 0, 3>], lane_loop = 1 : i64, lanes = 4 : i64,
                                   order = array<i64: 1, 0>, vectors = 2 : i64}}
  return
}

// CHECK-LABEL: func.func private @chosen(
// CHECK: affine.for %{{.*}} = 0 to 8 step 4 {
// CHECK: {dlc.parallel, dlc.schedule = {code_generator = "rows", lanes = 4 : i64, order = array<i64: 0>}}
func.func private @chosen(%x: memref<8xf32>) {
  affine.for %i = 0 to 8 {
    %0 = affine.load %x[%i] : memref<8xf32>
    %1 = arith.negf %0 : f32
    affine.store %1, %x[%i] : memref<8xf32>
  } {dlc.parallel}
  return
}

// The code generator `generic` leaves the loops as they are.
// CHECK-LABEL: func.func private @generic(
// CHECK-NOT: vector
// CHECK: {dlc.parallel, dlc.schedule = {code_generator = "generic"}}
func.func private @generic(%x: memref<8xf32>) {
  affine.for %i = 0 to 8 {
    %0 = affine.load %x[%i] : memref<8xf32>
    %1 = arith.negf %0 : f32
    affine.store %1, %x[%i] : memref<8xf32>
  } {dlc.parallel, dlc.schedule = {code_generator = "generic"}}
  return
}
