// RUN: dlc-opt %s --affine-split-reductions --split-input-file | filecheck %s
// It refuses nothing: what does not fit stays.

// A sum along few rows: 128 of them, whose iterations keep their order. Each takes four neighbours, which are a vector of 16 bytes.
// CHECK-DAG: #[[LANES:.*]] = affine_map<(d0) -> (128, d0 * -128 + 250)>
// CHECK-DAG: #[[PLACE:.*]] = affine_map<(d0, d1, d2) -> ((d0 * 128 + d1) * 4 + d2)>
// CHECK-LABEL: func.func @rows
// CHECK: %[[ZERO:.*]] = arith.constant 0.0
// CHECK: affine.for %[[I:.*]] = 0 to 64 {
// CHECK:   %[[P:.*]] = memref.alloca() : memref<128xf32>
// CHECK:   %[[NEUTRAL:.*]] = arith.constant -0.0
// CHECK:   affine.for %[[L:.*]] = 0 to 128 {
// CHECK:     affine.store %[[NEUTRAL]], %[[P]][%[[L]]]
// CHECK:   affine.for %[[Q:.*]] = 0 to 2 {
// CHECK:     affine.for %[[L:.*]] = 0 to min #[[LANES]](%[[Q]]) {
// CHECK:       affine.for %[[V:.*]] = 0 to 4 {
// CHECK:         %[[J:.*]] = affine.apply #[[PLACE]](%[[Q]], %[[L]], %[[V]])
// CHECK:         %[[S:.*]] = affine.load %[[P]][%[[L]]]
// CHECK:         %[[A:.*]] = affine.load %arg0[%[[I]], %[[J]]]
// CHECK:         %[[T:.*]] = arith.addf %[[S]], %[[A]]
// CHECK:         affine.store %[[T]], %[[P]][%[[L]]]
// CHECK:   %[[R:.*]] = affine.for %[[L:.*]] = 0 to 128 iter_args(%[[S:.*]] = %[[ZERO]]) -> (f32) {
// CHECK:     %[[V:.*]] = affine.load %[[P]][%[[L]]]
// CHECK:     arith.addf %[[S]], %[[V]]
// CHECK:   affine.store %[[R]], %arg1[%[[I]]]
func.func @rows(%A: memref<64x1000xf32>, %C: memref<64xf32>) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 64 {
    %sum = affine.for %j = 0 to 1000 iter_args(%s = %zero) -> f32 {
      %a = affine.load %A[%i, %j] : memref<64x1000xf32>
      %t = arith.addf %s, %a : f32
      affine.yield %t : f32
    }
    affine.store %sum, %C[%i] : memref<64xf32>
  }
  return
}

// -----

// Rows of an odd length start anywhere: lanes take single numbers.
// CHECK: #[[LANES:.*]] = affine_map<(d0) -> (512, d0 * -512 + 1001)>
// CHECK-LABEL: func.func @odd
// CHECK:   affine.for %[[Q:.*]] = 0 to 2 {
// CHECK:     affine.for %[[L:.*]] = 0 to min #[[LANES]](%[[Q]]) {
// CHECK-NOT: affine.for
// CHECK:       arith.maximumf
func.func @odd(%A: memref<64x1001xf32>, %C: memref<64xf32>) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 64 {
    %max = affine.for %j = 0 to 1001 iter_args(%s = %zero) -> f32 {
      %a = affine.load %A[%i, %j] : memref<64x1001xf32>
      %t = arith.maximumf %s, %a : f32
      affine.yield %t : f32
    }
    affine.store %max, %C[%i] : memref<64xf32>
  }
  return
}

// -----

// Of so many rows each gets a warp; the function's only row, a loop of one iteration and as many lanes as a block has threads.
// CHECK-LABEL: func.func @many
// CHECK: memref.alloca() : memref<32xf32>
// CHECK: affine.for %{{.*}} = 0 to 1 {
// CHECK:   memref.alloca() : memref<1024xf32>
func.func @many(%A: memref<65536x1000xf32>, %C: memref<65536xf32>) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 65536 {
    %sum = affine.for %j = 0 to 1000 iter_args(%s = %zero) -> f32 {
      %a = affine.load %A[%i, %j] : memref<65536x1000xf32>
      %t = arith.addf %s, %a : f32
      affine.yield %t : f32
    }
    affine.store %sum, %C[%i] : memref<65536xf32>
  }
  return
}

func.func @only(%A: memref<65536xf32>, %C: memref<1xf32>) {
  %zero = arith.constant 0.0 : f32
  %sum = affine.for %j = 0 to 65536 iter_args(%s = %zero) -> f32 {
    %a = affine.load %A[%j] : memref<65536xf32>
    %t = arith.addf %s, %a : f32
    affine.yield %t : f32
  }
  affine.store %sum, %C[0] : memref<1xf32>
  return
}

// -----

// no-match: along columns neighbours in a warp are rows apart already.
// CHECK-LABEL: func.func @columns
// CHECK-NOT: memref.alloca
func.func @columns(%A: memref<1000x64xf32>, %C: memref<64xf32>) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 64 {
    %sum = affine.for %j = 0 to 1000 iter_args(%s = %zero) -> f32 {
      %a = affine.load %A[%j, %i] : memref<1000x64xf32>
      %t = arith.addf %s, %a : f32
      affine.yield %t : f32
    }
    affine.store %sum, %C[%i] : memref<64xf32>
  }
  return
}

// -----

// no-match: a product of matrices, both by rows, is cut into tiles; and this is no reduction.
// CHECK-LABEL: func.func @products
// CHECK-NOT: memref.alloca
func.func @products(%A: memref<64x1000xf32>, %B: memref<64x1000xf32>, %C: memref<64x64xf32>, %D: memref<1000xf32>) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 64 {
    affine.for %j = 0 to 64 {
      %sum = affine.for %k = 0 to 1000 iter_args(%s = %zero) -> f32 {
        %a = affine.load %A[%i, %k] : memref<64x1000xf32>
        %b = affine.load %B[%j, %k] : memref<64x1000xf32>
        %p = arith.mulf %a, %b : f32
        %t = arith.addf %s, %p : f32
        affine.yield %t : f32
      }
      affine.store %sum, %C[%i, %j] : memref<64x64xf32>
    }
  }
  %last = affine.for %j = 0 to 1000 iter_args(%s = %zero) -> f32 {
    %d = affine.load %D[%j] : memref<1000xf32>
    %t = arith.subf %d, %s : f32
    affine.yield %t : f32
  }
  affine.store %last, %D[0] : memref<1000xf32>
  return
}

// -----

// Two loops of 7 go through 49 neighbours: one loop, more than a warp has threads. What does not move without gaps is read where it was.
// CHECK-LABEL: func.func @image
// CHECK: affine.for %[[Q:.*]] = 0 to 2 {
// CHECK:   affine.for %[[L:.*]] = 0 to min #{{.*}}(%[[Q]]) {
// CHECK:     %[[J:.*]] = affine.apply #{{.*}}(%[[Q]], %[[L]])
// CHECK-DAG: %[[V:.*]] = affine.apply #[[MOD:.*]](%[[J]])
// CHECK-DAG: %[[U:.*]] = affine.apply #[[DIV:.*]](%[[J]])
// CHECK:     affine.load %arg0[%{{.*}}, %[[U]], %[[V]]]
// CHECK:     affine.load %arg1[%[[V]]]
func.func @image(%A: memref<64x7x7xf32>, %B: memref<7xf32>, %C: memref<64xf32>) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 64 {
    %sum = affine.for %u = 0 to 7 iter_args(%r = %zero) -> f32 {
      %row = affine.for %v = 0 to 7 iter_args(%s = %r) -> f32 {
        %a = affine.load %A[%i, %u, %v] : memref<64x7x7xf32>
        %b = affine.load %B[%v] : memref<7xf32>
        %p = arith.mulf %a, %b : f32
        %t = arith.addf %s, %p : f32
        affine.yield %t : f32
      }
      affine.yield %row : f32
    }
    affine.store %sum, %C[%i] : memref<64xf32>
  }
  return
}

// -----

// no-match: windows have gaps between their rows, and 25 neighbours are less than a warp has threads.
// CHECK-LABEL: func.func @windows
// CHECK-NOT: memref.alloca
func.func @windows(%A: memref<64x7x8xf32>, %B: memref<64x25xf32>, %C: memref<64xf32>) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 64 {
    %sum = affine.for %u = 0 to 7 iter_args(%r = %zero) -> f32 {
      %row = affine.for %v = 0 to 7 iter_args(%s = %r) -> f32 {
        %a = affine.load %A[%i, %u, %v] : memref<64x7x8xf32>
        %t = arith.addf %s, %a : f32
        affine.yield %t : f32
      }
      affine.yield %row : f32
    }
    %all = affine.for %v = 0 to 25 iter_args(%s = %sum) -> f32 {
      %b = affine.load %B[%i, %v] : memref<64x25xf32>
      %t = arith.addf %s, %b : f32
      affine.yield %t : f32
    }
    affine.store %all, %C[%i] : memref<64xf32>
  }
  return
}
