// RUN: dlc-opt %s --dl-set-target=target=cpu:znver3 --affine-tile-registers | filecheck %s
// Rows that all lanes share are fetched ahead where they come from beyond L2 and stay in L1 until they are read. Refuses nothing.

// Six rows of 3 KiB, three quarters of a way of L1 apart: at most two share a set.
// CHECK-LABEL: func.func private @spread(
// CHECK: dlc.schedule = {{{.*}}fetch_rows = 1 : i64
func.func private @spread(%x: memref<768x768xf32> {llvm.noalias}, %w: memref<32x768x16xf32> {llvm.noalias}, %y: memref<768x512xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 768 {
    affine.for %j = 0 to 512 {
      %0 = affine.for %k = 0 to 768 iter_args(%acc = %zero) -> (f32) {
        %u = affine.load %x[%i, %k] : memref<768x768xf32>
        %v = affine.load %w[%j floordiv 16, %k, %j mod 16] : memref<32x768x16xf32>
        %p = arith.mulf %u, %v : f32
        %s = arith.addf %acc, %p : f32
        affine.yield %s : f32
      }
      affine.store %0, %y[%i, %j] : memref<768x512xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// no-match: six rows a way apart, or nearly so, beside which the next six do not stay.
// CHECK-LABEL: func.func private @apart(
// CHECK-NOT: fetch_rows
func.func private @apart(%x: memref<768x1024xf32> {llvm.noalias}, %w: memref<32x1024x16xf32> {llvm.noalias}, %y: memref<768x512xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 768 {
    affine.for %j = 0 to 512 {
      %0 = affine.for %k = 0 to 1024 iter_args(%acc = %zero) -> (f32) {
        %u = affine.load %x[%i, %k] : memref<768x1024xf32>
        %v = affine.load %w[%j floordiv 16, %k, %j mod 16] : memref<32x1024x16xf32>
        %p = arith.mulf %u, %v : f32
        %s = arith.addf %acc, %p : f32
        affine.yield %s : f32
      }
      affine.store %0, %y[%i, %j] : memref<768x512xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}
func.func private @nearly(%x: memref<258x1023xf32> {llvm.noalias}, %w: memref<32x1023x16xf32> {llvm.noalias}, %y: memref<258x512xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 258 {
    affine.for %j = 0 to 512 {
      %0 = affine.for %k = 0 to 1023 iter_args(%acc = %zero) -> (f32) {
        %u = affine.load %x[%i, %k] : memref<258x1023xf32>
        %v = affine.load %w[%j floordiv 16, %k, %j mod 16] : memref<32x1023x16xf32>
        %p = arith.mulf %u, %v : f32
        %s = arith.addf %acc, %p : f32
        affine.yield %s : f32
      }
      affine.store %0, %y[%i, %j] : memref<258x512xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// no-match: all rows stay in L2.
func.func private @near(%x: memref<64x512xf32> {llvm.noalias}, %w: memref<32x512x16xf32> {llvm.noalias}, %y: memref<64x512xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 64 {
    affine.for %j = 0 to 512 {
      %0 = affine.for %k = 0 to 512 iter_args(%acc = %zero) -> (f32) {
        %u = affine.load %x[%i, %k] : memref<64x512xf32>
        %v = affine.load %w[%j floordiv 16, %k, %j mod 16] : memref<32x512x16xf32>
        %p = arith.mulf %u, %v : f32
        %s = arith.addf %acc, %p : f32
        affine.yield %s : f32
      }
      affine.store %0, %y[%i, %j] : memref<64x512xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}
