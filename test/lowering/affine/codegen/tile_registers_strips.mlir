// RUN: dlc-opt %s --dl-set-target=target=cpu:znver3 --affine-tile-registers | filecheck %s
// RUN: dlc-opt %s --dl-set-target=target=cpu:znver4 --affine-tile-registers | filecheck %s --check-prefix=WIDE
// Results in more pages than the nearest table holds: strips of columns, in which rows are outside. Refuses nothing.

// CHECK-LABEL: func.func private @pages(
// CHECK: dlc.schedule = {blocks = [array<i64: 1, 256>], code_generator = "tile", {{.*}}order = array<i64: 0, 1>, {{.*}}unroll_and_jam = [array<i64: 0, 6>]
// WIDE-LABEL: func.func private @pages(
// WIDE-NOT: blocks =
// WIDE: return
func.func private @pages(%w: memref<96x16xf32> {llvm.noalias}, %x: memref<16x12544xf32> {llvm.noalias}, %y: memref<96x12544xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 96 {
    affine.for %j = 0 to 12544 {
      %0 = affine.for %k = 0 to 16 iter_args(%acc = %zero) -> (f32) {
        %u = affine.load %w[%i, %k] : memref<96x16xf32>
        %v = affine.load %x[%k, %j] : memref<16x12544xf32>
        %p = arith.mulf %u, %v : f32
        %s = arith.addf %acc, %p : f32
        affine.yield %s : f32
      }
      affine.store %0, %y[%i, %j] : memref<96x12544xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// no-match: rows and a strip would take three quarters of L2.
// CHECK-LABEL: func.func private @long_sums(
// CHECK-NOT: blocks =
// CHECK: return
func.func private @long_sums(%w: memref<512x128xf32> {llvm.noalias}, %x: memref<128x784xf32> {llvm.noalias}, %y: memref<512x784xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 512 {
    affine.for %j = 0 to 784 {
      %0 = affine.for %k = 0 to 128 iter_args(%acc = %zero) -> (f32) {
        %u = affine.load %w[%i, %k] : memref<512x128xf32>
        %v = affine.load %x[%k, %j] : memref<128x784xf32>
        %p = arith.mulf %u, %v : f32
        %s = arith.addf %acc, %p : f32
        affine.yield %s : f32
      }
      affine.store %0, %y[%i, %j] : memref<512x784xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// no-match: the pages of 48 rows are found again.
// CHECK-LABEL: func.func private @few_rows(
// CHECK-NOT: blocks =
// CHECK: return
func.func private @few_rows(%w: memref<48x16xf32> {llvm.noalias}, %x: memref<16x12544xf32> {llvm.noalias}, %y: memref<48x12544xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 48 {
    affine.for %j = 0 to 12544 {
      %0 = affine.for %k = 0 to 16 iter_args(%acc = %zero) -> (f32) {
        %u = affine.load %w[%i, %k] : memref<48x16xf32>
        %v = affine.load %x[%k, %j] : memref<16x12544xf32>
        %p = arith.mulf %u, %v : f32
        %s = arith.addf %acc, %p : f32
        affine.yield %s : f32
      }
      affine.store %0, %y[%i, %j] : memref<48x12544xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}
