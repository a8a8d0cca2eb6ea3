// RUN: dlc-opt %s "--affine-vectorize-loops=vector-bits=128 registers=16" | filecheck %s
// One loop of every scalar nest becomes vectors: a contiguous parallel one, or the reduction.

// CHECK-LABEL: func.func private @elementwise(
// CHECK-SAME: %[[X:.*]]: memref<3x10xf32>, %[[Y:.*]]: memref<3xf32>, %[[Z:.*]]: memref<3x10xf32>
// CHECK: affine.for %[[I:.*]] = 0 to 3 {
// CHECK: affine.for %[[J:.*]] = 0 to 8 step 4 {
// CHECK-DAG: %[[A:.*]] = affine.vector_load %[[X]][%[[I]], %[[J]]]
// CHECK-DAG: %[[B:.*]] = affine.load %[[Y]][%[[I]]]
// CHECK: %[[ALL:.*]] = vector.broadcast %[[B]] : f32 to vector<4xf32>
// CHECK: %[[S:.*]] = arith.addf %[[A]], %[[ALL]] : vector<4xf32>
// CHECK: affine.vector_store %[[S]], %[[Z]][%[[I]], %[[J]]]
// CHECK: } {dlc.parallel}
// CHECK: affine.for {{.*}} = 8 to 10 step 4 {
// CHECK: %[[MASK:.*]] = vector.constant_mask [2]
// CHECK: vector.maskedload %[[X]]
// CHECK: vector.maskedstore %[[Z]]
func.func private @elementwise(%x: memref<3x10xf32>, %y: memref<3xf32>, %z: memref<3x10xf32>) {
  affine.for %i = 0 to 3 {
    affine.for %j = 0 to 10 {
      %a = affine.load %x[%i, %j] : memref<3x10xf32>
      %b = affine.load %y[%i] : memref<3xf32>
      %s = arith.addf %a, %b : f32
      affine.store %s, %z[%i, %j] : memref<3x10xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// CHECK-LABEL: func.func private @row_maximum(
// CHECK: affine.for {{.*}} iter_args({{.*}}) -> (vector<4xf32>
// CHECK: arith.maximumf {{.*}} : vector<4xf32>
// CHECK: vector.reduction <maximumf>
func.func private @row_maximum(%x: memref<3x100xf32>, %y: memref<3xf32>) {
  affine.for %i = 0 to 3 {
    %0 = affine.load %y[%i] : memref<3xf32>
    %1 = affine.for %k = 0 to 100 iter_args(%acc = %0) -> (f32) {
      %v = affine.load %x[%i, %k] : memref<3x100xf32>
      %s = arith.maximumf %acc, %v : f32
      affine.yield %s : f32
    }
    affine.store %1, %y[%i] : memref<3xf32>
  } {dlc.parallel}
  return
}

// A maximum by compare and select is combined so, too: lane by lane, then half by half.
// CHECK-LABEL: func.func private @row_maximum_by_select(
// CHECK-DAG: %[[LOWEST:.*]] = arith.constant dense<0xFF800000> : vector<4xf32>
// CHECK: affine.for {{.*}} = %[[LOWEST]]
// CHECK: %[[C:.*]] = arith.cmpf ogt, %[[V:.*]], %[[OLD:.*]] : vector<4xf32>
// CHECK: arith.select %[[C]], %[[V]], %[[OLD]]
// CHECK: vector.shuffle {{.*}} [2, 3] : vector<4xf32>
// CHECK: arith.cmpf ogt, {{.*}} : vector<2xf32>
// CHECK: arith.cmpf ogt, {{.*}} : vector<1xf32>
// CHECK: vector.extract
func.func private @row_maximum_by_select(%x: memref<3x100xf32>, %y: memref<3xf32>) {
  affine.for %i = 0 to 3 {
    %0 = affine.load %y[%i] : memref<3xf32>
    %1 = affine.for %k = 0 to 100 iter_args(%acc = %0) -> (f32) {
      %v = affine.load %x[%i, %k] : memref<3x100xf32>
      %c = arith.cmpf ogt, %v, %acc : f32
      %s = arith.select %c, %v, %acc : f32
      affine.yield %s : f32
    }
    affine.store %1, %y[%i] : memref<3xf32>
  } {dlc.parallel}
  return
}

// no-match: what it selects is not what it compared.
// CHECK-LABEL: func.func private @row_select_of_others(
// CHECK-NOT: vector
// CHECK: return
func.func private @row_select_of_others(%x: memref<100xf32>, %y: memref<1xf32>) {
  affine.for %i = 0 to 1 {
    %0 = affine.load %y[%i] : memref<1xf32>
    %1 = affine.for %k = 0 to 100 iter_args(%acc = %0) -> (f32) {
      %v = affine.load %x[%k] : memref<100xf32>
      %c = arith.cmpf ogt, %acc, %v : f32
      %s = arith.select %c, %v, %acc : f32
      affine.yield %s : f32
    }
    affine.store %1, %y[%i] : memref<1xf32>
  } {dlc.parallel}
  return
}

// i1 moves in vectors where its bytes are neighbours.
// CHECK-LABEL: func.func private @select(
// CHECK: affine.for {{.*}} = 0 to 10 step 12 {
// CHECK-COUNT-2: affine.vector_load {{.*}} : memref<10xi1>, vector<4xi1>
// CHECK: vector.maskedload {{.*}} : memref<10xi1>
// CHECK-COUNT-3: arith.select {{.*}} : vector<4xi1>, vector<4xf32>
func.func private @select(%c: memref<10xi1>, %x: memref<10xf32>, %y: memref<10xf32>) {
  affine.for %i = 0 to 10 {
    %b = affine.load %c[%i] : memref<10xi1>
    %v = affine.load %x[%i] : memref<10xf32>
    %w = affine.load %y[%i] : memref<10xf32>
    %e = math.exp %v : f32
    %s = arith.select %b, %e, %w : f32
    affine.store %s, %y[%i] : memref<10xf32>
  } {dlc.parallel}
  return
}

// Where they lie apart its lanes move one by one, and the tail stays scalar.
// CHECK-LABEL: func.func private @select_every_second(
// CHECK: affine.for {{.*}} = 0 to 8 step 4 {
// CHECK-COUNT-4: affine.load {{.*}} : memref<20xi1>
// CHECK: vector.from_elements
// CHECK: affine.for {{.*}} = 8 to 10 {
// CHECK: arith.select {{.*}} : f32
func.func private @select_every_second(%c: memref<20xi1>, %x: memref<10xf32>, %y: memref<10xf32>) {
  affine.for %i = 0 to 10 {
    %b = affine.load %c[2 * %i] : memref<20xi1>
    %v = affine.load %x[%i] : memref<10xf32>
    %w = affine.load %y[%i] : memref<10xf32>
    %e = math.exp %v : f32
    %s = arith.select %b, %e, %w : f32
    affine.store %s, %y[%i] : memref<10xf32>
  } {dlc.parallel}
  return
}

// A row that is longer than caches: several pages in turn, while the next ones are fetched, then what is left.
// CHECK-LABEL: func.func private @pages(
// CHECK: %[[BLOCKS:.*]]:4 = affine.for %[[I:.*]] = 0 to 2998272 step 4096
// CHECK: affine.for %[[J:.*]] = #{{.*}}(%[[I]]) to #{{.*}}(%[[I]]) step 4
// CHECK: affine.vector_load %{{.*}}[%[[J]]]
// CHECK: affine.vector_load %{{.*}}[%[[J]] + 1024]
// CHECK: affine.vector_load %{{.*}}[%[[J]] + 3072]
// CHECK: affine.prefetch %{{.*}}[%[[J]] + 4096], read, locality<2>, data
// CHECK: affine.prefetch %{{.*}}[%[[J]] + 7168], read, locality<2>, data
// CHECK-NOT: affine.prefetch
// CHECK: affine.for %[[K:.*]] = 2998272 to 3000016 step 16 iter_args({{.*}} = %[[BLOCKS]]#0
// CHECK: affine.vector_load %{{.*}}[%[[K]] + 4]
// CHECK: affine.for {{.*}} = 3000016 to 3000019 step 4
func.func private @pages(%x: memref<3000019xf32>, %y: memref<1xf32>) {
  %zero = arith.constant 0.0 : f32
  %sum = affine.for %k = 0 to 3000019 iter_args(%acc = %zero) -> (f32) {
    %v = affine.load %x[%k] : memref<3000019xf32>
    %s = arith.addf %acc, %v : f32
    affine.yield %s : f32
  }
  affine.store %sum, %y[0] : memref<1xf32>
  return
}

// Neighbours that take the same element: a shorter vector, spread.
// CHECK-LABEL: func.func private @pairs(
// CHECK: affine.for %[[J:.*]] = 0 to 8 step 4 {
// CHECK: %[[HALF:.*]] = affine.vector_load %{{.*}}[%[[J]] floordiv 2] : memref<5xf32>, vector<2xf32>
// CHECK: vector.shuffle %[[HALF]], %[[HALF]] [0, 0, 1, 1]
// CHECK: affine.for {{.*}} = 8 to 10 step 4 {
// CHECK: vector.constant_mask [1] : vector<2xi1>
func.func private @pairs(%x: memref<5xf32>, %y: memref<10xf32>) {
  affine.for %j = 0 to 10 {
    %v = affine.load %x[%j floordiv 2] : memref<5xf32>
    affine.store %v, %y[%j] : memref<10xf32>
  } {dlc.parallel}
  return
}

// Vectors are full of what the inner loop computes; what is stored after it may be wider.
// CHECK-LABEL: func.func private @narrow_places(
// CHECK: affine.for {{.*}} iter_args({{.*}}) -> ({{.*}}vector<4xf32>{{.*}}vector<4xi32>
// CHECK: arith.extsi {{.*}} : vector<4xi32> to vector<4xi64>
func.func private @narrow_places(%x: memref<9x64xf32>, %y: memref<64xi64>) {
  %low = arith.constant 0xFF800000 : f32
  %none = arith.constant 0 : i32
  affine.for %j = 0 to 64 {
    %found:2 = affine.for %k = 0 to 9 iter_args(%best = %low, %place = %none) -> (f32, i32) {
      %v = affine.load %x[%k, %j] : memref<9x64xf32>
      %at = arith.index_cast %k : index to i32
      %more = arith.cmpf ogt, %v, %best : f32
      %value = arith.select %more, %v, %best : f32
      %index = arith.select %more, %at, %place : i32
      affine.yield %value, %index : f32, i32
    }
    %wide = arith.extsi %found#1 : i32 to i64
    affine.store %wide, %y[%j] : memref<64xi64>
  } {dlc.parallel}
  return
}

// Stores that lie apart, and a running sum: nothing to do.
// CHECK-LABEL: func.func private @no_match(
// CHECK-NOT: vector
// CHECK: return
func.func private @no_match(%x: memref<8xf32>, %y: memref<16xf32>) {
  affine.for %i = 0 to 8 {
    %v = affine.load %x[%i] : memref<8xf32>
    affine.store %v, %y[%i * 2] : memref<16xf32>
  } {dlc.parallel}
  affine.for %i = 1 to 8 {
    %v = affine.load %x[%i - 1] : memref<8xf32>
    affine.store %v, %x[%i] : memref<8xf32>
  }
  return
}
