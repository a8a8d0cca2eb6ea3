// RUN: dlc-opt %s --dl-set-target=target=cpu:znver3 --affine-tile-registers | filecheck %s
// RUN: dlc-opt %s --dl-set-target=target=cpu:skylake-avx512 --affine-tile-registers | filecheck %s --check-prefix=WIDE
// One row times a matrix as it is: tiles of twelve vectors, each read where it meets its number. Refuses nothing.

// 768 rows in as many pages: parts of the sum whose pages the next tile of columns finds again.
// CHECK-LABEL: func.func private @pages(
// CHECK: dlc.schedule = {blocks = [array<i64: 1, 64>], code_generator = "tile", lanes = 8 : i64, {{.*}}vectors = 12 : i64
// no-match: tiles that read much of a page.
// WIDE-NOT: blocks
func.func private @pages(%x: memref<768xf32> {llvm.noalias}, %w: memref<768x3072xf32> {llvm.noalias}, %y: memref<3072xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  affine.for %j = 0 to 3072 {
    %0 = affine.for %k = 0 to 768 iter_args(%acc = %zero) -> (f32) {
      %u = affine.load %x[%k] : memref<768xf32>
      %v = affine.load %w[%k, %j] : memref<768x3072xf32>
      %p = arith.mulf %u, %v : f32
      %s = arith.addf %acc, %p : f32
      affine.yield %s : f32
    }
    affine.store %0, %y[%j] : memref<3072xf32>
  } {dlc.parallel}
  return
}

// no-match: one tile of columns; rows of which a page holds many.
// CHECK-NOT: blocks
func.func private @once(%x: memref<768xf32> {llvm.noalias}, %w: memref<768x96xf32> {llvm.noalias}, %y: memref<96xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  affine.for %j = 0 to 96 {
    %0 = affine.for %k = 0 to 768 iter_args(%acc = %zero) -> (f32) {
      %u = affine.load %x[%k] : memref<768xf32>
      %v = affine.load %w[%k, %j] : memref<768x96xf32>
      %p = arith.mulf %u, %v : f32
      %s = arith.addf %acc, %p : f32
      affine.yield %s : f32
    }
    affine.store %0, %y[%j] : memref<96xf32>
  } {dlc.parallel}
  return
}
func.func private @few(%x: memref<768xf32> {llvm.noalias}, %w: memref<768x64xf32> {llvm.noalias}, %y: memref<64xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  affine.for %j = 0 to 64 {
    %0 = affine.for %k = 0 to 768 iter_args(%acc = %zero) -> (f32) {
      %u = affine.load %x[%k] : memref<768xf32>
      %v = affine.load %w[%k, %j] : memref<768x64xf32>
      %p = arith.mulf %u, %v : f32
      %s = arith.addf %acc, %p : f32
      affine.yield %s : f32
    }
    affine.store %0, %y[%j] : memref<64xf32>
  } {dlc.parallel}
  return
}
