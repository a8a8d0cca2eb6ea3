// RUN: dlc-opt %s --affine-transpose-tiles --split-input-file --verify-diagnostics
// A schedule that does not fit its nest is an error.

func.func private @lanes(%x: memref<8x8xf32>, %y: memref<8x8xf32>) {
  // expected-error@+1 {{the schedule does not name two parallel loops and 4, 8 or 16 lanes}}
  affine.for %i = 0 to 8 {
    affine.for %j = 0 to 8 {
      %a = affine.load %x[%j, %i] : memref<8x8xf32>
      affine.store %a, %y[%i, %j] : memref<8x8xf32>
    } {dlc.parallel}
  } {dlc.parallel, dlc.schedule = {code_generator = "transpose", lane_loop = 1 : i64, lanes = 5 : i64}}
  return
}

// -----

func.func private @not_across(%x: memref<8x8xf32>, %y: memref<8x8xf32>) {
  // expected-error@+1 {{the nest does not load along one of the schedule's loops and store along the other}}
  affine.for %i = 0 to 8 {
    affine.for %j = 0 to 8 {
      %a = affine.load %x[%i, %j] : memref<8x8xf32>
      affine.store %a, %y[%i, %j] : memref<8x8xf32>
    } {dlc.parallel}
  } {dlc.parallel, dlc.schedule = {code_generator = "transpose", lane_loop = 1 : i64, lanes = 4 : i64, unroll_and_jam = [array<i64: 0, 4>]}}
  return
}

// -----

func.func private @before_the_first(%x: memref<8x8xf32>, %y: memref<8x8xf32>) {
  // expected-error@+1 {{the schedule does not name two parallel loops and 4, 8 or 16 lanes}}
  affine.for %i = 0 to 8 {
    affine.for %j = 0 to 8 {
      %a = affine.load %x[%j, %i] : memref<8x8xf32>
      affine.store %a, %y[%i, %j] : memref<8x8xf32>
    } {dlc.parallel}
  } {dlc.parallel, dlc.schedule = {code_generator = "transpose", lane_loop = -5 : i64, lanes = 4 : i64, unroll_and_jam = [array<i64: 0, 4>]}}
  return
}

// -----

func.func private @no_pair(%x: memref<8x8xf32>, %y: memref<8x8xf32>) {
  // expected-error@+1 {{'unroll_and_jam' of a schedule cannot be [array<i64: 0>]; change the schedule, or leave it out for the cost model's}}
  affine.for %i = 0 to 8 {
    affine.for %j = 0 to 8 {
      %a = affine.load %x[%j, %i] : memref<8x8xf32>
      affine.store %a, %y[%i, %j] : memref<8x8xf32>
    } {dlc.parallel}
  } {dlc.parallel, dlc.schedule = {code_generator = "transpose", lane_loop = 1 : i64, lanes = 4 : i64, unroll_and_jam = [array<i64: 0>]}}
  return
}
