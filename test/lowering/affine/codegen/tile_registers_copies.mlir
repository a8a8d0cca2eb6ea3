// RUN: dlc-opt %s --split-input-file --verify-diagnostics --dl-set-target=target=cpu:znver3 --affine-tile-registers | filecheck %s
// RUN: dlc-opt %s --split-input-file --verify-diagnostics --dl-set-target=target=cpu:znver4 --affine-tile-registers | filecheck %s --check-prefix=MANY
// Panels of a matrix that is given at the call are copied block by block, with 32 KiB of L1 and 512 KiB of L2.

// Four panels at once; two vectors of each row of them.
// CHECK-LABEL: func.func private @together(
// CHECK-SAME: %[[X:.*]]: memref<16x1024xf32> {{.*}}, %[[W:.*]]: memref<1024x1024xf32>
// CHECK: affine.for %[[BLOCK:.*]] = 0 to 16 {
// CHECK-NEXT: %[[PANELS:.*]] = memref.alloc() : memref<4x1024x16xf32>
// CHECK-NEXT: affine.for %[[K:.*]] = 0 to 1024 {
// CHECK-NEXT: affine.for %[[P:.*]] = 0 to 4 {
// CHECK-NEXT: %[[FIRST:.*]] = affine.vector_load %[[W]][%[[K]], %[[P]] * 16 + %[[BLOCK]] * 64]
// CHECK-NEXT: affine.vector_store %[[FIRST]], %[[PANELS]][%[[P]], %[[K]], 0]
// CHECK-NEXT: %[[SECOND:.*]] = affine.vector_load %[[W]][%[[K]], %[[P]] * 16 + %[[BLOCK]] * 64 + 8]
// CHECK-NEXT: affine.vector_store %[[SECOND]], %[[PANELS]][%[[P]], %[[K]], 8]
// CHECK-NOT: affine.vector_load %[[W]][
// CHECK: memref.dealloc %[[PANELS]]
// CHECK: dlc.schedule = {blocks = [array<i64: 1, 64>], code_generator = "tile"{{.*}}, pack = 1 : i64
// MANY-LABEL: func.func private @together(
// MANY-NOT: pack = 1
func.func private @together(%x: memref<16x1024xf32> {llvm.noalias}, %w: memref<1024x1024xf32> {llvm.noalias}, %y: memref<16x1024xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 16 {
    affine.for %j = 0 to 1024 {
      %0 = affine.for %k = 0 to 1024 iter_args(%acc = %zero) -> (f32) {
        %u = affine.load %x[%i, %k] : memref<16x1024xf32>
        %v = affine.load %w[%k, %j] : memref<1024x1024xf32>
        %p = arith.mulf %u, %v : f32
        %s = arith.addf %acc, %p : f32
        affine.yield %s : f32
      }
      affine.store %0, %y[%i, %j] : memref<16x1024xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// -----

// Parts of the sum where the rows, or the copy, take too much of the cache.
// CHECK-LABEL: func.func private @parts(
// CHECK: dlc.schedule = {blocks = [array<i64: 2, 768>, array<i64: 1, 64>], code_generator = "tile"{{.*}}, pack = 1 : i64
func.func private @parts(%x: memref<128x3072xf32> {llvm.noalias}, %w: memref<3072x768xf32> {llvm.noalias}, %y: memref<128x768xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 128 {
    affine.for %j = 0 to 768 {
      %0 = affine.for %k = 0 to 3072 iter_args(%acc = %zero) -> (f32) {
        %u = affine.load %x[%i, %k] : memref<128x3072xf32>
        %v = affine.load %w[%k, %j] : memref<3072x768xf32>
        %p = arith.mulf %u, %v : f32
        %s = arith.addf %acc, %p : f32
        affine.yield %s : f32
      }
      affine.store %0, %y[%i, %j] : memref<128x768xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// CHECK-LABEL: func.func private @long(
// CHECK: dlc.schedule = {blocks = [array<i64: 2, 1024>, array<i64: 1, 64>], code_generator = "tile"{{.*}}, pack = 1 : i64
func.func private @long(%x: memref<16x3072xf32> {llvm.noalias}, %w: memref<3072x768xf32> {llvm.noalias}, %y: memref<16x768xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 16 {
    affine.for %j = 0 to 768 {
      %0 = affine.for %k = 0 to 3072 iter_args(%acc = %zero) -> (f32) {
        %u = affine.load %x[%i, %k] : memref<16x3072xf32>
        %v = affine.load %w[%k, %j] : memref<3072x768xf32>
        %p = arith.mulf %u, %v : f32
        %s = arith.addf %acc, %p : f32
        affine.yield %s : f32
      }
      affine.store %0, %y[%i, %j] : memref<16x768xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// -----

// no-match: few rows, many rows, columns that end within a tile, a matrix that stays in the cache, and one in panels already.
// CHECK-LABEL: func.func private @few(
// CHECK-NOT: pack = 1
func.func private @few(%x: memref<15x1024xf32> {llvm.noalias}, %w: memref<1024x1024xf32> {llvm.noalias}, %y: memref<15x1024xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 15 {
    affine.for %j = 0 to 1024 {
      %0 = affine.for %k = 0 to 1024 iter_args(%acc = %zero) -> (f32) {
        %u = affine.load %x[%i, %k] : memref<15x1024xf32>
        %v = affine.load %w[%k, %j] : memref<1024x1024xf32>
        %p = arith.mulf %u, %v : f32
        %s = arith.addf %acc, %p : f32
        affine.yield %s : f32
      }
      affine.store %0, %y[%i, %j] : memref<15x1024xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}
func.func private @many(%x: memref<193x1024xf32> {llvm.noalias}, %w: memref<1024x1024xf32> {llvm.noalias}, %y: memref<193x1024xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 193 {
    affine.for %j = 0 to 1024 {
      %0 = affine.for %k = 0 to 1024 iter_args(%acc = %zero) -> (f32) {
        %u = affine.load %x[%i, %k] : memref<193x1024xf32>
        %v = affine.load %w[%k, %j] : memref<1024x1024xf32>
        %p = arith.mulf %u, %v : f32
        %s = arith.addf %acc, %p : f32
        affine.yield %s : f32
      }
      affine.store %0, %y[%i, %j] : memref<193x1024xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}
func.func private @odd(%x: memref<64x1024xf32> {llvm.noalias}, %w: memref<1024x1023xf32> {llvm.noalias}, %y: memref<64x1023xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 64 {
    affine.for %j = 0 to 1023 {
      %0 = affine.for %k = 0 to 1024 iter_args(%acc = %zero) -> (f32) {
        %u = affine.load %x[%i, %k] : memref<64x1024xf32>
        %v = affine.load %w[%k, %j] : memref<1024x1023xf32>
        %p = arith.mulf %u, %v : f32
        %s = arith.addf %acc, %p : f32
        affine.yield %s : f32
      }
      affine.store %0, %y[%i, %j] : memref<64x1023xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}
func.func private @small(%x: memref<64x128xf32> {llvm.noalias}, %w: memref<128x128xf32> {llvm.noalias}, %y: memref<64x128xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 64 {
    affine.for %j = 0 to 128 {
      %0 = affine.for %k = 0 to 128 iter_args(%acc = %zero) -> (f32) {
        %u = affine.load %x[%i, %k] : memref<64x128xf32>
        %v = affine.load %w[%k, %j] : memref<128x128xf32>
        %p = arith.mulf %u, %v : f32
        %s = arith.addf %acc, %p : f32
        affine.yield %s : f32
      }
      affine.store %0, %y[%i, %j] : memref<64x128xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}
func.func private @panels(%x: memref<64x1024xf32> {llvm.noalias}, %w: memref<64x1024x16xf32> {llvm.noalias}, %y: memref<64x1024xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 64 {
    affine.for %j = 0 to 1024 {
      %0 = affine.for %k = 0 to 1024 iter_args(%acc = %zero) -> (f32) {
        %u = affine.load %x[%i, %k] : memref<64x1024xf32>
        %v = affine.load %w[%j floordiv 16, %k, %j mod 16] : memref<64x1024x16xf32>
        %p = arith.mulf %u, %v : f32
        %s = arith.addf %acc, %p : f32
        affine.yield %s : f32
      }
      affine.store %0, %y[%i, %j] : memref<64x1024xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// -----

func.func private @twice(%x: memref<64x64xf32> {llvm.noalias}, %w: memref<64x128xf32> {llvm.noalias}, %y: memref<64x128xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  // expected-error@below {{'pack' is 2 but must be 0 or 1}}
  affine.for %i = 0 to 64 {
    affine.for %j = 0 to 128 {
      %0 = affine.for %k = 0 to 64 iter_args(%acc = %zero) -> (f32) {
        %u = affine.load %x[%i, %k] : memref<64x64xf32>
        %v = affine.load %w[%k, %j] : memref<64x128xf32>
        %p = arith.mulf %u, %v : f32
        %s = arith.addf %acc, %p : f32
        affine.yield %s : f32
      }
      affine.store %0, %y[%i, %j] : memref<64x128xf32>
    } {dlc.parallel}
  } {dlc.parallel, dlc.schedule = {code_generator = "tile", lane_loop = 1 : i64, lanes = 8 : i64, vectors = 2 : i64, blocks = [array<i64: 1, 64>], pack = 2 : i64}}
  return
}

// -----

func.func private @whole(%x: memref<64x64xf32> {llvm.noalias}, %w: memref<64x128xf32> {llvm.noalias}, %y: memref<64x128xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  // expected-error@below {{'pack' does not fit: the lane loop is not cut into blocks of whole tiles}}
  affine.for %i = 0 to 64 {
    affine.for %j = 0 to 128 {
      %0 = affine.for %k = 0 to 64 iter_args(%acc = %zero) -> (f32) {
        %u = affine.load %x[%i, %k] : memref<64x64xf32>
        %v = affine.load %w[%k, %j] : memref<64x128xf32>
        %p = arith.mulf %u, %v : f32
        %s = arith.addf %acc, %p : f32
        affine.yield %s : f32
      }
      affine.store %0, %y[%i, %j] : memref<64x128xf32>
    } {dlc.parallel}
  } {dlc.parallel, dlc.schedule = {code_generator = "tile", lane_loop = 1 : i64, lanes = 8 : i64, vectors = 2 : i64, pack = 1 : i64}}
  return
}

// -----

func.func private @transposed(%x: memref<64x64xf32> {llvm.noalias}, %w: memref<128x64xf32> {llvm.noalias}, %y: memref<64x128xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  // expected-error@below {{'pack' does not fit: the nest has no single reduction loop of a known extent}}
  affine.for %i = 0 to 64 {
    affine.for %j = 0 to 128 {
      %0 = affine.for %k = 0 to 64 iter_args(%acc = %zero) -> (f32) {
        %u = affine.load %x[%i, %k] : memref<64x64xf32>
        %v = affine.load %w[%j, %k] : memref<128x64xf32>
        %p = arith.mulf %u, %v : f32
        %s = arith.addf %acc, %p : f32
        affine.yield %s : f32
      }
      affine.store %0, %y[%i, %j] : memref<64x128xf32>
    } {dlc.parallel}
  } {dlc.parallel, dlc.schedule = {code_generator = "tile", lane_loop = 2 : i64, lanes = 8 : i64, blocks = [array<i64: 1, 64>], pack = 1 : i64}}
  return
}
