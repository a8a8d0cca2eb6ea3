// RUN: dlc-opt %s "--affine-tile-registers=vector-bits=512 registers=32" | filecheck %s
// Which cache-blocking loops pay, on a machine with 32 KiB of L1 and 1 MiB of L2 in 8 ways. Refuses nothing.

module attributes {dlc.target = {l1_bytes = 32768 : i64, l2_bytes = 1048576 : i64, l2_ways = 8 : i64}} {

// Rows that stay in the cache beside two panels.
// CHECK-LABEL: func.func private @rows(
// CHECK: dlc.schedule = {blocks = [array<i64: 0, 64>], code_generator = "tile"
func.func private @rows(%x: memref<1024x1024xf32> {llvm.noalias}, %w: memref<22x1024x48xf32> {llvm.noalias}, %y: memref<1024x1024xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 1024 {
    affine.for %j = 0 to 1024 {
      %0 = affine.for %k = 0 to 1024 iter_args(%acc = %zero) -> (f32) {
        %u = affine.load %x[%i, %k] : memref<1024x1024xf32>
        %v = affine.load %w[%j floordiv 48, %k, %j mod 48] : memref<22x1024x48xf32>
        %p = arith.mulf %u, %v : f32
        %s = arith.addf %acc, %p : f32
        affine.yield %s : f32
      }
      affine.store %0, %y[%i, %j] : memref<1024x1024xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// Two panels leave too little room: more rows beside one panel still bring in half of the bytes.
// CHECK-LABEL: func.func private @set_conflicts(
// CHECK: dlc.schedule = {blocks = [array<i64: 0, 96>], code_generator = "tile"
func.func private @set_conflicts(%x: memref<1536x1536xf32> {llvm.noalias}, %w: memref<32x1536x48xf32> {llvm.noalias}, %y: memref<1536x1536xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 1536 {
    affine.for %j = 0 to 1536 {
      %0 = affine.for %k = 0 to 1536 iter_args(%acc = %zero) -> (f32) {
        %u = affine.load %x[%i, %k] : memref<1536x1536xf32>
        %v = affine.load %w[%j floordiv 48, %k, %j mod 48] : memref<32x1536x48xf32>
        %p = arith.mulf %u, %v : f32
        %s = arith.addf %acc, %p : f32
        affine.yield %s : f32
      }
      affine.store %0, %y[%i, %j] : memref<1536x1536xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// Results of a panel that fall out of the cache between blocks of the sum: blocks of rows around these.
// CHECK-LABEL: func.func private @both(
// CHECK: dlc.schedule = {blocks = [array<i64: 0, 128>, array<i64: 2, 1024>], code_generator = "tile"
func.func private @both(%x: memref<2048x2048xf32> {llvm.noalias}, %w: memref<43x2048x48xf32> {llvm.noalias}, %y: memref<2048x2048xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 2048 {
    affine.for %j = 0 to 2048 {
      %0 = affine.for %k = 0 to 2048 iter_args(%acc = %zero) -> (f32) {
        %u = affine.load %x[%i, %k] : memref<2048x2048xf32>
        %v = affine.load %w[%j floordiv 48, %k, %j mod 48] : memref<43x2048x48xf32>
        %p = arith.mulf %u, %v : f32
        %s = arith.addf %acc, %p : f32
        affine.yield %s : f32
      }
      affine.store %0, %y[%i, %j] : memref<2048x2048xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// Results of a panel that stay there: blocks of the sum in each panel.
// CHECK-LABEL: func.func private @sums(
// CHECK: dlc.schedule = {blocks = [array<i64: 1, 48>, array<i64: 2, 616>], code_generator = "tile"
func.func private @sums(%x: memref<128x3072xf32> {llvm.noalias}, %w: memref<16x3072x48xf32> {llvm.noalias}, %y: memref<128x768xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 128 {
    affine.for %j = 0 to 768 {
      %0 = affine.for %k = 0 to 3072 iter_args(%acc = %zero) -> (f32) {
        %u = affine.load %x[%i, %k] : memref<128x3072xf32>
        %v = affine.load %w[%j floordiv 48, %k, %j mod 48] : memref<16x3072x48xf32>
        %p = arith.mulf %u, %v : f32
        %s = arith.addf %acc, %p : f32
        affine.yield %s : f32
      }
      affine.store %0, %y[%i, %j] : memref<128x768xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// no-match: all rows stay in the cache.
// CHECK-LABEL: func.func private @small(
// CHECK: dlc.schedule = {code_generator = "tile"
func.func private @small(%x: memref<256x1024xf32> {llvm.noalias}, %w: memref<32x1024x48xf32> {llvm.noalias}, %y: memref<256x1536xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 256 {
    affine.for %j = 0 to 1536 {
      %0 = affine.for %k = 0 to 1024 iter_args(%acc = %zero) -> (f32) {
        %u = affine.load %x[%i, %k] : memref<256x1024xf32>
        %v = affine.load %w[%j floordiv 48, %k, %j mod 48] : memref<32x1024x48xf32>
        %p = arith.mulf %u, %v : f32
        %s = arith.addf %acc, %p : f32
        affine.yield %s : f32
      }
      affine.store %0, %y[%i, %j] : memref<256x1536xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}
}
