// RUN: dlc-opt %s "--affine-tile-registers=vector-bits=128 registers=16" --split-input-file --verify-diagnostics
// A schedule that says nothing sensible, or does not fit its nest, is an error that says why.

func.func private @unfit0(%a: memref<6x32xf32>, %b: memref<32x8xf32>, %c: memref<6x8xf32>) {
  // expected-error@below {{a schedule is a dictionary, not 4 : i64}}
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
  } {dlc.parallel, dlc.schedule = 4 : i64}
  return
}

// -----

func.func private @unfit1(%a: memref<6x32xf32>, %b: memref<32x8xf32>, %c: memref<6x8xf32>) {
  // expected-error@below {{a schedule has no 'lane' (fields: code_generator, lane_loop, lanes, vectors, unroll_and_jam, order, unroll, prefetch, fetch_rows, blocks, pack)}}
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
  } {dlc.parallel, dlc.schedule = {lane = 4 : i64}}
  return
}

// -----

func.func private @unfit2(%a: memref<6x32xf32>, %b: memref<32x8xf32>, %c: memref<6x8xf32>) {
  // expected-error@below {{'lanes' of a schedule cannot be "four"}}
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
  } {dlc.parallel, dlc.schedule = {lanes = "four"}}
  return
}

// -----

func.func private @unfit3(%a: memref<6x32xf32>, %b: memref<32x8xf32>, %c: memref<6x8xf32>) {
  // expected-error@below {{no code generator is called 'best' (code generators: tile, windows, rows, transpose, generic)}}
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
  } {dlc.parallel, dlc.schedule = {code_generator = "best"}}
  return
}

// -----

func.func private @unfit4(%a: memref<6x32xf32>, %b: memref<32x8xf32>, %c: memref<6x8xf32>) {
  // expected-error@below {{'vectors' is 0 but must be 1 or more}}
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
  } {dlc.parallel, dlc.schedule = {code_generator = "tile", vectors = 0 : i64}}
  return
}

// -----

func.func private @unfit5(%a: memref<6x32xf32>, %b: memref<32x8xf32>, %c: memref<6x8xf32>) {
  // expected-error@below {{'lanes' is 3 but must be a power of two}}
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
  } {dlc.parallel, dlc.schedule = {code_generator = "tile", lanes = 3 : i64}}
  return
}

// -----

func.func private @unfit6(%a: memref<6x32xf32>, %b: memref<32x8xf32>, %c: memref<6x8xf32>) {
  // expected-error@below {{'prefetch' is -1 but must be a level of cache, 1 to 3, or 0}}
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
  } {dlc.parallel, dlc.schedule = {code_generator = "tile", prefetch = -1 : i64}}
  return
}

// -----

func.func private @unfit7(%a: memref<6x32xf32>, %b: memref<32x8xf32>, %c: memref<6x8xf32>) {
  // expected-error@below {{320 copies of the body are more than 256}}
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
  } {dlc.parallel, dlc.schedule = {code_generator = "tile", vectors = 80 : i64, unroll = 4 : i64}}
  return
}

// -----

func.func private @unfit8(%a: memref<6x32xf32>, %b: memref<32x8xf32>, %c: memref<6x8xf32>) {
  // expected-error@below {{'lane_loop' is 3 but the nest has loops 0 to 2}}
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
  } {dlc.parallel, dlc.schedule = {code_generator = "tile", lane_loop = 3 : i64}}
  return
}

// -----

func.func private @unfit9(%a: memref<6x32xf32>, %b: memref<32x8xf32>, %c: memref<6x8xf32>) {
  // expected-error@below {{'unroll' needs a reduction loop that is not the lane loop}}
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
  } {dlc.parallel, dlc.schedule = {code_generator = "tile", lane_loop = 2 : i64, unroll = 2 : i64}}
  return
}

// -----

func.func private @unfit10(%a: memref<6x32xf32>, %b: memref<32x8xf32>, %c: memref<6x8xf32>) {
  // expected-error@below {{'prefetch' needs a reduction loop that is not the lane loop}}
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
  } {dlc.parallel, dlc.schedule = {code_generator = "tile", lane_loop = 2 : i64, prefetch = 1 : i64}}
  return
}

// -----

func.func private @unfit11(%a: memref<6x32xf32>, %b: memref<32x8xf32>, %c: memref<6x8xf32>) {
  // expected-error@below {{'order' [1, 1] does not name each of the 2 parallel loops once}}
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
  } {dlc.parallel, dlc.schedule = {code_generator = "tile", order = array<i64: 1, 1>}}
  return
}

// -----

func.func private @unfit12(%a: memref<6x32xf32>, %b: memref<32x8xf32>, %c: memref<6x8xf32>) {
  // expected-error@below {{unroll-and-jam of loop 1 by 4: not another parallel loop than the lane loop}}
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
  } {dlc.parallel, dlc.schedule = {code_generator = "tile", lane_loop = 1 : i64, unroll_and_jam = [array<i64: 1, 4>]}}
  return
}

// -----

func.func private @unfit13(%a: memref<6x32xf32>, %b: memref<32x8xf32>, %c: memref<6x8xf32>) {
  // expected-error@below {{loop 0 cannot be lanes: lanes are stored apart}}
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
      affine.store %1, %c[-%i + 5, %j] : memref<6x8xf32>
    } {dlc.parallel}
  } {dlc.parallel, dlc.schedule = {code_generator = "tile", lane_loop = 0 : i64, lanes = 4 : i64}}
  return
}
