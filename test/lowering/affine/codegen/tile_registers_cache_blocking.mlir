// RUN: dlc-opt %s "--affine-tile-registers=vector-bits=128 registers=16" "--affine-vectorize-loops=vector-bits=128 registers=16" --split-input-file --verify-diagnostics | filecheck %s
// Cache-blocking loops around register tiles: blocks of rows, of columns, and of sums, which add to the result one after the other.

// 2 panels of 4 columns, in each 3 blocks of the sums; only the last does what follows them. Each block fetches the next one.
// CHECK-LABEL: func.func private @sums(
// CHECK-SAME: %[[A:.*]]: memref<4x10xf32> {{.*}}, %[[B:.*]]: memref<10x8xf32> {{.*}}, %[[C:.*]]: memref<4x8xf32>
// CHECK: affine.for %[[J:.*]] = 0 to 2 {
// CHECK: affine.for %{{.*}} = 0 to 4 iter_args(%{{.*}} = %{{.*}})
// CHECK: memref.prefetch %[[B]]
// CHECK: affine.load %[[A]][%{{.*}}, %{{.*}}]
// CHECK-NOT: arith.negf
// CHECK: affine.vector_store %{{.*}}, %[[C]][%{{.*}}, %{{.*}} + %[[J]] * 4]
// CHECK: %[[HELD:.*]] = affine.vector_load %[[C]]
// CHECK: affine.for %{{.*}} = 0 to 4 iter_args(%{{.*}} = %[[HELD]], 
// CHECK: affine.load %[[A]][%{{.*}}, %{{.*}} + 4]
// CHECK-NOT: arith.negf
// CHECK: affine.vector_load %[[C]]
// CHECK: affine.for %{{.*}} = 0 to 2 iter_args
// CHECK: affine.load %[[A]][%{{.*}}, %{{.*}} + 8]
// CHECK: arith.negf
// CHECK: affine.vector_store
// CHECK: } {dlc.parallel, dlc.schedule = {blocks = [array<i64: 1, 4>, array<i64: 2, 4>], code_generator = "tile"
func.func private @sums(%a: memref<4x10xf32> {llvm.noalias}, %b: memref<10x8xf32> {llvm.noalias}, %c: memref<4x8xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 4 {
    affine.for %j = 0 to 8 {
      %1 = affine.for %k = 0 to 10 iter_args(%acc = %zero) -> (f32) {
        %x = affine.load %a[%i, %k] : memref<4x10xf32>
        %y = affine.load %b[%k, %j] : memref<10x8xf32>
        %p = arith.mulf %x, %y : f32
        %s = arith.addf %acc, %p : f32
        affine.yield %s : f32
      }
      %n = arith.negf %1 : f32
      affine.store %n, %c[%i, %j] : memref<4x8xf32>
    } {dlc.parallel}
  } {dlc.parallel, dlc.schedule = {code_generator = "tile", unroll_and_jam = [array<i64: 0, 2>], lane_loop = 1 : i64, lanes = 4 : i64,
                                   prefetch = 2 : i64, blocks = [array<i64: 1, 4>, array<i64: 2, 4>]}}
  return
}

// -----

// Blocks of 4 rows, the last of 2; other uses of an index see that of the whole loop.
// CHECK-LABEL: func.func private @rows(
// CHECK: affine.for %[[I:.*]] = 0 to 2 {
// CHECK: affine.for %[[R:.*]] = 0 to 4 step 2 {
// CHECK: affine.load %{{.*}}[%[[R]] + %[[I]] * 4, %{{.*}}]
// CHECK: arith.index_cast
// CHECK: affine.for %[[R2:.*]] = 0 to 2 step 2 {
// CHECK: affine.load %{{.*}}[%[[R2]] + 8, %{{.*}}]
func.func private @rows(%a: memref<10x6xf32>, %b: memref<6x8xf32>, %c: memref<10x8xf32>) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 10 {
    affine.for %j = 0 to 8 {
      %1 = affine.for %k = 0 to 6 iter_args(%acc = %zero) -> (f32) {
        %x = affine.load %a[%i, %k] : memref<10x6xf32>
        %y = affine.load %b[%k, %j] : memref<6x8xf32>
        %p = arith.mulf %x, %y : f32
        %s = arith.addf %acc, %p : f32
        affine.yield %s : f32
      }
      %row = arith.index_cast %i : index to i32
      %r = arith.sitofp %row : i32 to f32
      %n = arith.addf %1, %r : f32
      affine.store %n, %c[%i, %j] : memref<10x8xf32>
    } {dlc.parallel}
  } {dlc.parallel, dlc.schedule = {code_generator = "tile", unroll_and_jam = [array<i64: 0, 2>], lane_loop = 1 : i64, lanes = 4 : i64, blocks = [array<i64: 0, 4>]}}
  return
}

// -----

// The nest reads what would hold parts of its sums.
func.func private @read(%a: memref<4x10xf32>, %b: memref<10x8xf32>, %c: memref<4x8xf32>) {
  %zero = arith.constant 0.0 : f32
  // expected-error@below {{loop 2 cannot be cut into blocks: the nest reads the memory of its result}}
  affine.for %i = 0 to 4 {
    affine.for %j = 0 to 8 {
      %1 = affine.for %k = 0 to 10 iter_args(%acc = %zero) -> (f32) {
        %x = affine.load %a[%i, %k] : memref<4x10xf32>
        %y = affine.load %b[%k, %j] : memref<10x8xf32>
        %p = arith.mulf %x, %y : f32
        %s = arith.addf %acc, %p : f32
        affine.yield %s : f32
      }
      %old = affine.load %c[%i, %j] : memref<4x8xf32>
      %n = arith.addf %1, %old : f32
      affine.store %n, %c[%i, %j] : memref<4x8xf32>
    } {dlc.parallel}
  } {dlc.parallel, dlc.schedule = {code_generator = "tile", lane_loop = 1 : i64, lanes = 4 : i64, blocks = [array<i64: 2, 4>]}}
  return
}

// -----

func.func private @number(%x: memref<8xf32>) {
  // expected-error@below {{'blocks' are for the code generator 'tile', not 'rows'}}
  affine.for %i = 0 to 8 {
    %0 = affine.load %x[%i] : memref<8xf32>
    %1 = arith.negf %0 : f32
    affine.store %1, %x[%i] : memref<8xf32>
  } {dlc.parallel, dlc.schedule = {code_generator = "rows", lanes = 4 : i64, blocks = [array<i64: 0, 4>]}}
  return
}
