// RUN: dlc-opt %s --affine-narrow-tails --split-input-file | filecheck %s
// Vectors of which half or less is stored are half as wide, on targets that start twice as many of them. It refuses nothing.

module attributes {dlc.target = {features = ["avx512f"], fma_ports = 1 : i64}} {

// One column beyond the first 16: what both need is cut, what the last one alone needs is made narrow.
// CHECK-LABEL: func.func private @sums(
// CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : vector<16xf32>
// CHECK: %[[HALF:.*]] = vector.extract_strided_slice %[[ZERO]] {offsets = [0], sizes = [8], strides = [1]}
// CHECK: %[[R:.*]]:2 = affine.for {{.*}} iter_args(%[[A:.*]] = %[[ZERO]], %[[B:.*]] = %[[HALF]]) -> (vector<16xf32>, vector<8xf32>)
// CHECK: %[[X:.*]] = vector.broadcast %{{.*}} : f32 to vector<16xf32>
// CHECK: %[[CUT:.*]] = vector.extract_strided_slice %[[X]] {{.*}} to vector<8xf32>
// CHECK: %[[W:.*]] = affine.vector_load {{.*}}, vector<16xf32>
// CHECK: %[[MASK:.*]] = vector.constant_mask [3] : vector<8xi1>
// CHECK: %[[V:.*]] = vector.maskedload {{.*}}, %[[MASK]], {{.*}} into vector<8xf32>
// CHECK: vector.fma %[[X]], %[[W]], %[[A]] : vector<16xf32>
// CHECK: vector.fma %[[CUT]], %[[V]], %[[B]] : vector<8xf32>
// CHECK: affine.vector_store %[[R]]#0
// CHECK: vector.maskedstore {{.*}}, %[[R]]#1 : memref<8x19xf32>, vector<8xi1>, vector<8xf32>
func.func private @sums(%x: memref<8x64xf32>, %w: memref<64x19xf32>, %y: memref<8x19xf32>) {
  %c16 = arith.constant 16 : index
  affine.for %i = 0 to 8 {
    %zero = arith.constant dense<0.0> : vector<16xf32>
    %r:2 = affine.for %k = 0 to 64 iter_args(%a = %zero, %b = %zero) -> (vector<16xf32>, vector<16xf32>) {
      %u = affine.load %x[%i, %k] : memref<8x64xf32>
      %s = vector.broadcast %u : f32 to vector<16xf32>
      %v = affine.vector_load %w[%k, 0] : memref<64x19xf32>, vector<16xf32>
      %m = vector.constant_mask [3] : vector<16xi1>
      %none = arith.constant dense<0.0> : vector<16xf32>
      %t = vector.maskedload %w[%k, %c16], %m, %none : memref<64x19xf32>, vector<16xi1>, vector<16xf32> into vector<16xf32>
      %c = vector.fma %s, %v, %a : vector<16xf32>
      %d = vector.fma %s, %t, %b : vector<16xf32>
      affine.yield %c, %d : vector<16xf32>, vector<16xf32>
    }
    affine.vector_store %r#0, %y[%i, 0] : memref<8x19xf32>, vector<16xf32>
    %n = vector.constant_mask [3] : vector<16xi1>
    vector.maskedstore %y[%i, %c16], %n, %r#1 : memref<8x19xf32>, vector<16xi1>, vector<16xf32>
  }
  return
}

// no-match: more than half of the lanes, a vector that something else needs as a whole, a vector that is narrow already.
// CHECK-LABEL: func.func private @wide(
// CHECK-NOT: vector<8xf32>
// CHECK: vector.maskedstore {{.*}} : memref<64xf32>, vector<16xi1>, vector<16xf32>
// CHECK: vector.maskedstore {{.*}} : memref<64xf32>, vector<16xi1>, vector<16xf32>
// CHECK: vector.maskedstore {{.*}} : memref<64xf32>, vector<4xi1>, vector<4xf32>
// CHECK: return
func.func private @wide(%x: memref<64xf32>, %y: memref<64xf32>) -> vector<16xf32> {
  %c0 = arith.constant 0 : index
  %a = affine.vector_load %x[0] : memref<64xf32>, vector<16xf32>
  %nine = vector.constant_mask [9] : vector<16xi1>
  vector.maskedstore %y[%c0], %nine, %a : memref<64xf32>, vector<16xi1>, vector<16xf32>
  %b = affine.vector_load %x[16] : memref<64xf32>, vector<16xf32>
  %two = vector.shuffle %nine, %nine [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15] : vector<16xi1>, vector<16xi1>
  vector.maskedstore %y[%c0], %two, %b : memref<64xf32>, vector<16xi1>, vector<16xf32>
  %c = affine.vector_load %x[32] : memref<64xf32>, vector<4xf32>
  %one = vector.constant_mask [1] : vector<4xi1>
  vector.maskedstore %y[%c0], %one, %c : memref<64xf32>, vector<4xi1>, vector<4xf32>
  return %b : vector<16xf32>
}

// What goes elsewhere as a whole stays, and is cut for the store.
// CHECK-LABEL: func.func private @both(
// CHECK: %[[A:.*]] = affine.vector_load {{.*}}, vector<16xf32>
// CHECK: %[[N:.*]] = vector.extract_strided_slice %[[A]]
// CHECK: vector.maskedstore {{.*}}, %[[N]] : memref<64xf32>, vector<8xi1>, vector<8xf32>
// CHECK: return %[[A]]
func.func private @both(%x: memref<64xf32>, %y: memref<64xf32>) -> vector<16xf32> {
  %c0 = arith.constant 0 : index
  %a = affine.vector_load %x[0] : memref<64xf32>, vector<16xf32>
  %m = vector.constant_mask [8] : vector<16xi1>
  vector.maskedstore %y[%c0], %m, %a : memref<64xf32>, vector<16xi1>, vector<16xf32>
  return %a : vector<16xf32>
}

}

// -----

// no-match: two units of the whole width.
module attributes {dlc.target = {features = ["avx512f"], fma_ports = 2 : i64}} {

// CHECK-LABEL: func.func private @units(
// CHECK: vector.maskedstore {{.*}} : memref<64xf32>, vector<16xi1>, vector<16xf32>
func.func private @units(%x: memref<64xf32>, %y: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  %a = affine.vector_load %x[0] : memref<64xf32>, vector<16xf32>
  %m = vector.constant_mask [8] : vector<16xi1>
  vector.maskedstore %y[%c0], %m, %a : memref<64xf32>, vector<16xi1>, vector<16xf32>
  return
}

}
