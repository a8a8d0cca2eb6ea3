// RUN: dlc-opt %s --dl-set-target=target=cpu:znver3 --affine-tile-registers | filecheck %s
// Which cache-blocking loops pay for narrow panels, with 32 KiB of L1 and 512 KiB of L2. Refuses nothing.

// Rows that L2 holds with little to spare come again for each of 48 panels: blocks of 16 tiles.
// CHECK-LABEL: func.func private @resident(
// CHECK: dlc.schedule = {blocks = [array<i64: 0, 96>], code_generator = "tile"
func.func private @resident(%x: memref<384x256xf32> {llvm.noalias}, %w: memref<48x256x16xf32> {llvm.noalias}, %y: memref<384x768xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 384 {
    affine.for %j = 0 to 768 {
      %0 = affine.for %k = 0 to 256 iter_args(%acc = %zero) -> (f32) {
        %u = affine.load %x[%i, %k] : memref<384x256xf32>
        %v = affine.load %w[%j floordiv 16, %k, %j mod 16] : memref<48x256x16xf32>
        %p = arith.mulf %u, %v : f32
        %s = arith.addf %acc, %p : f32
        affine.yield %s : f32
      }
      affine.store %0, %y[%i, %j] : memref<384x768xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// As few blocks as the cache asks for, and alike: not four of 48 rows and one of 5.
// CHECK-LABEL: func.func private @alike(
// CHECK: dlc.schedule = {blocks = [array<i64: 0, 54>], code_generator = "tile"
func.func private @alike(%x: memref<197x768xf32> {llvm.noalias}, %w: memref<48x768x16xf32> {llvm.noalias}, %y: memref<197x768xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 197 {
    affine.for %j = 0 to 768 {
      %0 = affine.for %k = 0 to 768 iter_args(%acc = %zero) -> (f32) {
        %u = affine.load %x[%i, %k] : memref<197x768xf32>
        %v = affine.load %w[%j floordiv 16, %k, %j mod 16] : memref<48x768x16xf32>
        %p = arith.mulf %u, %v : f32
        %s = arith.addf %acc, %p : f32
        affine.yield %s : f32
      }
      affine.store %0, %y[%i, %j] : memref<197x768xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// Panels that are too large: thirds of the sum leave room for two of them beside 36 rows.
// CHECK-LABEL: func.func private @tall(
// CHECK: dlc.schedule = {blocks = [array<i64: 0, 36>, array<i64: 2, 1024>], code_generator = "tile"
func.func private @tall(%x: memref<128x3072xf32> {llvm.noalias}, %w: memref<48x3072x16xf32> {llvm.noalias}, %y: memref<128x768xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 128 {
    affine.for %j = 0 to 768 {
      %0 = affine.for %k = 0 to 3072 iter_args(%acc = %zero) -> (f32) {
        %u = affine.load %x[%i, %k] : memref<128x3072xf32>
        %v = affine.load %w[%j floordiv 16, %k, %j mod 16] : memref<48x3072x16xf32>
        %p = arith.mulf %u, %v : f32
        %s = arith.addf %acc, %p : f32
        affine.yield %s : f32
      }
      affine.store %0, %y[%i, %j] : memref<128x768xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// Few rows are one block: parts of the sum in each panel.
// CHECK-LABEL: func.func private @few(
// CHECK: dlc.schedule = {blocks = [array<i64: 1, 16>, array<i64: 2, 924>], code_generator = "tile"
func.func private @few(%x: memref<49x4608xf32> {llvm.noalias}, %w: memref<48x4608x16xf32> {llvm.noalias}, %y: memref<49x768xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 49 {
    affine.for %j = 0 to 768 {
      %0 = affine.for %k = 0 to 4608 iter_args(%acc = %zero) -> (f32) {
        %u = affine.load %x[%i, %k] : memref<49x4608xf32>
        %v = affine.load %w[%j floordiv 16, %k, %j mod 16] : memref<48x4608x16xf32>
        %p = arith.mulf %u, %v : f32
        %s = arith.addf %acc, %p : f32
        affine.yield %s : f32
      }
      affine.store %0, %y[%i, %j] : memref<49x768xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// no-match: rows that stay in L2.
// CHECK-LABEL: func.func private @near(
// CHECK-NOT: blocks
func.func private @near(%x: memref<256x256xf32> {llvm.noalias}, %w: memref<48x256x16xf32> {llvm.noalias}, %y: memref<256x768xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 256 {
    affine.for %j = 0 to 768 {
      %0 = affine.for %k = 0 to 256 iter_args(%acc = %zero) -> (f32) {
        %u = affine.load %x[%i, %k] : memref<256x256xf32>
        %v = affine.load %w[%j floordiv 16, %k, %j mod 16] : memref<48x256x16xf32>
        %p = arith.mulf %u, %v : f32
        %s = arith.addf %acc, %p : f32
        affine.yield %s : f32
      }
      affine.store %0, %y[%i, %j] : memref<256x768xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}
