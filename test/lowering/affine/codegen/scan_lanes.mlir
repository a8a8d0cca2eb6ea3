// RUN: dlc-opt %s "--affine-scan-lanes=vector-bits=128" | filecheck %s
// Running sums of contiguous elements: prefixes within a vector by shuffles, one addition for each vector in the chain.

// CHECK-LABEL: func.func private @running_sum(
// CHECK-SAME: %[[X:.*]]: memref<3x10xf32>, %[[Y:.*]]: memref<3x10xf32>
// CHECK: affine.for %[[I:.*]] = 0 to 3
// CHECK: %[[MAIN:.*]] = affine.for %[[J:.*]] = 0 to 8 step 4 iter_args(%[[SUM:.*]] = %{{.*}}) -> (vector<4xf32>)
// CHECK: %[[V:.*]] = affine.vector_load %[[X]][%[[I]], %[[J]]]
// CHECK: %[[NONE:.*]] = arith.constant dense<-0.000000e+00> : vector<4xf32>
// CHECK: %[[ONE:.*]] = vector.shuffle %[[NONE]], %[[V]] [0, 4, 5, 6]
// CHECK: %[[PAIRS:.*]] = arith.addf %[[ONE]], %[[V]]
// CHECK: %[[TWO:.*]] = vector.shuffle %[[NONE]], %[[PAIRS]] [0, 1, 4, 5]
// CHECK: %[[ALL:.*]] = arith.addf %[[TWO]], %[[PAIRS]]
// CHECK: %[[AFTER:.*]] = arith.addf %[[SUM]], %[[ALL]]
// CHECK: %[[LAST:.*]] = vector.shuffle %[[ALL]], %[[ALL]] [3, 3, 3, 3]
// CHECK: %[[NEXT:.*]] = arith.addf %[[SUM]], %[[LAST]]
// CHECK: affine.vector_store %[[AFTER]], %[[Y]][%[[I]], %[[J]]]
// CHECK: affine.yield %[[NEXT]]
// CHECK: affine.for {{.*}} = 8 to 10 step 4 iter_args({{.*}} = %[[MAIN]])
// CHECK: %[[PART:.*]] = vector.maskedload %[[X]]
// CHECK: arith.select %{{.*}}, %[[PART]], %{{.*}} : vector<4xi1>, vector<4xf32>
// CHECK: vector.maskedstore %[[Y]]
func.func private @running_sum(%x: memref<3x10xf32>, %y: memref<3x10xf32>) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 3 {
    %all = affine.for %j = 0 to 10 iter_args(%sum = %zero) -> (f32) {
      %v = affine.load %x[%i, %j] : memref<3x10xf32>
      %s = arith.addf %sum, %v : f32
      affine.store %s, %y[%i, %j] : memref<3x10xf32>
      affine.yield %s : f32
    }
  } {dlc.parallel}
  return
}

// Sums without the element itself lie one lane higher; the total after the loop is the same in all lanes.
// CHECK-LABEL: func.func private @exclusive(
// CHECK: %[[TOTAL:.*]] = affine.for {{.*}} iter_args(%[[SUM:.*]] = %{{.*}}) -> (vector<4xi32>)
// CHECK: vector.shuffle %[[ZERO:.*]], %[[ALL:.*]] [0, 4, 5, 6]
// CHECK: arith.addi %[[SUM]]
// CHECK: vector.extract %[[TOTAL]][0]
func.func private @exclusive(%x: memref<8xi32>, %y: memref<8xi32>, %z: memref<1xi32>) {
  %zero = arith.constant 0 : i32
  %all = affine.for %j = 0 to 8 iter_args(%sum = %zero) -> (i32) {
    %v = affine.load %x[%j] : memref<8xi32>
    affine.store %sum, %y[%j] : memref<8xi32>
    %s = arith.addi %v, %sum : i32
    affine.yield %s : i32
  }
  affine.store %all, %z[0] : memref<1xi32>
  return
}

// What is summed may be a product.
// CHECK-LABEL: func.func private @products(
// CHECK: affine.for {{.*}} iter_args(%[[SUM:.*]] = %{{.*}}) -> (vector<4xf32>)
// CHECK: %[[PRODUCT:.*]] = arith.mulf %{{.*}}, %{{.*}} : vector<4xf32>
// CHECK: vector.shuffle %{{.*}}, %[[PRODUCT]] [0, 4, 5, 6]
func.func private @products(%x: memref<8xf32>, %y: memref<8xf32>) {
  %zero = arith.constant 0.0 : f32
  %all = affine.for %j = 0 to 8 iter_args(%sum = %zero) -> (f32) {
    %v = affine.load %x[%j] : memref<8xf32>
    %w = arith.mulf %v, %v : f32
    %s = arith.addf %sum, %w : f32
    affine.store %s, %y[%j] : memref<8xf32>
    affine.yield %s : f32
  }
  return
}

// No match: a recurrence that is no sum, elements that lie apart, a sum of what was stored before, and one that stores nothing.
// CHECK-LABEL: func.func private @no_match(
// CHECK-NOT: vector
func.func private @no_match(%x: memref<8xf32>, %y: memref<8xf32>, %c: memref<8x8xf32>, %t: memref<1xf32>) {
  %zero = arith.constant 0.0 : f32
  %a = affine.for %j = 0 to 8 iter_args(%h = %zero) -> (f32) {
    %v = affine.load %x[%j] : memref<8xf32>
    %w = arith.mulf %v, %h : f32
    %s = arith.addf %w, %h : f32
    affine.store %s, %y[%j] : memref<8xf32>
    affine.yield %s : f32
  }
  %b = affine.for %j = 0 to 8 iter_args(%h = %zero) -> (f32) {
    %v = affine.load %x[%j] : memref<8xf32>
    %s = arith.addf %v, %h : f32
    affine.store %s, %c[%j, 0] : memref<8x8xf32>
    affine.yield %s : f32
  }
  %d = affine.for %j = 0 to 7 iter_args(%h = %zero) -> (f32) {
    %v = affine.load %y[%j] : memref<8xf32>
    %s = arith.addf %v, %h : f32
    affine.store %s, %y[%j + 1] : memref<8xf32>
    affine.yield %s : f32
  }
  %e = affine.for %j = 0 to 8 iter_args(%h = %zero) -> (f32) {
    %v = affine.load %x[%j] : memref<8xf32>
    %s = arith.addf %v, %h : f32
    affine.yield %s : f32
  }
  affine.store %e, %t[0] : memref<1xf32>
  return
}
