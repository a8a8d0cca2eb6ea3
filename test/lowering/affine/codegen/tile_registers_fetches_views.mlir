// RUN: dlc-opt %s --dl-set-target=target=cpu:sapphirerapids --affine-tile-registers | filecheck %s
// Rows of a view come from where its whole buffer is: a step of 16 rows is small, what all steps read is not.

// CHECK-LABEL: func.func private @step_of_many(
// CHECK: dlc.schedule = {{{.*}}fetch_rows = 1 : i64
func.func private @step_of_many(%x: memref<512x16x128xf32> {llvm.noalias}, %at: index, %w: memref<10x128x48xf32> {llvm.noalias},
                                %y: memref<16x480xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  %step = memref.subview %x[%at, 0, 0] [1, 16, 128] [1, 1, 1] : memref<512x16x128xf32> to memref<16x128xf32, strided<[128, 1], offset: ?>>
  affine.for %i = 0 to 16 {
    affine.for %j = 0 to 480 {
      %0 = affine.for %k = 0 to 128 iter_args(%acc = %zero) -> (f32) {
        %u = affine.load %step[%i, %k] : memref<16x128xf32, strided<[128, 1], offset: ?>>
        %v = affine.load %w[%j floordiv 48, %k, %j mod 48] : memref<10x128x48xf32>
        %p = arith.mulf %u, %v : f32
        %s = arith.addf %acc, %p : f32
        affine.yield %s : f32
      }
      affine.store %0, %y[%i, %j] : memref<16x480xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// Of any number of steps there may be many.
// CHECK-LABEL: func.func private @step_of_any(
// CHECK: dlc.schedule = {{{.*}}fetch_rows = 1 : i64
func.func private @step_of_any(%x: memref<?x16x128xf32> {llvm.noalias}, %at: index, %w: memref<10x128x48xf32> {llvm.noalias},
                                %y: memref<16x480xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  %step = memref.subview %x[%at, 0, 0] [1, 16, 128] [1, 1, 1] : memref<?x16x128xf32> to memref<16x128xf32, strided<[128, 1], offset: ?>>
  affine.for %i = 0 to 16 {
    affine.for %j = 0 to 480 {
      %0 = affine.for %k = 0 to 128 iter_args(%acc = %zero) -> (f32) {
        %u = affine.load %step[%i, %k] : memref<16x128xf32, strided<[128, 1], offset: ?>>
        %v = affine.load %w[%j floordiv 48, %k, %j mod 48] : memref<10x128x48xf32>
        %p = arith.mulf %u, %v : f32
        %s = arith.addf %acc, %p : f32
        affine.yield %s : f32
      }
      affine.store %0, %y[%i, %j] : memref<16x480xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// no-match: all steps together stay in L2.
// CHECK-LABEL: func.func private @step_of_few(
// CHECK-NOT: fetch_rows
// CHECK: return
func.func private @step_of_few(%x: memref<8x16x128xf32> {llvm.noalias}, %at: index, %w: memref<10x128x48xf32> {llvm.noalias},
                               %y: memref<16x480xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  %step = memref.subview %x[%at, 0, 0] [1, 16, 128] [1, 1, 1] : memref<8x16x128xf32> to memref<16x128xf32, strided<[128, 1], offset: ?>>
  affine.for %i = 0 to 16 {
    affine.for %j = 0 to 480 {
      %0 = affine.for %k = 0 to 128 iter_args(%acc = %zero) -> (f32) {
        %u = affine.load %step[%i, %k] : memref<16x128xf32, strided<[128, 1], offset: ?>>
        %v = affine.load %w[%j floordiv 48, %k, %j mod 48] : memref<10x128x48xf32>
        %p = arith.mulf %u, %v : f32
        %s = arith.addf %acc, %p : f32
        affine.yield %s : f32
      }
      affine.store %0, %y[%i, %j] : memref<16x480xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}
