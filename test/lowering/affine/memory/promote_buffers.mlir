// RUN: dlc-opt %s --affine-promote-buffers | filecheck %s
// The pass refuses nothing.

// A sum in an element that stays in place.
// CHECK-LABEL: func.func @sum
// CHECK: affine.for %[[I:.*]] = 0 to 8
// CHECK:   %[[FIRST:.*]] = affine.load %[[C:.*]][%[[I]]]
// CHECK:   %[[LAST:.*]] = affine.for {{.*}} iter_args(%[[SUM:.*]] = %[[FIRST]])
// CHECK:     %[[NEW:.*]] = arith.addf %[[SUM]]
// CHECK:     affine.yield %[[NEW]]
// CHECK:   affine.store %[[LAST]], %[[C]][%[[I]]]
func.func @sum(%A: memref<8x64xf32> {llvm.noalias}, %C: memref<8xf32> {llvm.noalias}) {
  affine.for %i = 0 to 8 {
    affine.for %k = 0 to 64 {
      %c = affine.load %C[%i] : memref<8xf32>
      %a = affine.load %A[%i, %k] : memref<8x64xf32>
      %s = arith.addf %c, %a : f32
      affine.store %s, %C[%i] : memref<8xf32>
    }
  }
  return
}

// Two neighbouring vectors, and a loop that may have no iterations: what it does not run, it does not touch.
// CHECK-LABEL: func.func @vectors
// CHECK: affine.if
// CHECK:   affine.vector_load
// CHECK:   affine.vector_load
// CHECK:   %[[LAST:.*]]:2 = affine.for
// CHECK-NOT: affine.vector_store
// CHECK:     affine.yield
// CHECK:   affine.vector_store %[[LAST]]#0
// CHECK:   affine.vector_store %[[LAST]]#1
func.func @vectors(%x: vector<8xf32>, %C: memref<16xf32>, %n: index) {
  affine.for %k = 0 to %n {
    %c = affine.vector_load %C[0] : memref<16xf32>, vector<8xf32>
    %d = affine.vector_load %C[8] : memref<16xf32>, vector<8xf32>
    %s = arith.addf %c, %x : vector<8xf32>
    %t = arith.addf %d, %x : vector<8xf32>
    affine.vector_store %s, %C[0] : memref<16xf32>, vector<8xf32>
    affine.vector_store %t, %C[8] : memref<16xf32>, vector<8xf32>
  }
  return
}

// Vectors under the same mask.
// CHECK-LABEL: func.func @masked
// CHECK: %[[FIRST:.*]] = vector.maskedload
// CHECK: affine.for {{.*}} iter_args(%{{.*}} = %[[FIRST]])
// CHECK-NOT: vector.masked
// CHECK: }
// CHECK: vector.maskedstore
func.func @masked(%x: vector<8xf32>, %zero: vector<8xf32>, %mask: vector<8xi1>, %C: memref<16xf32>) {
  %c0 = arith.constant 0 : index
  affine.for %k = 0 to 4 {
    %c = vector.maskedload %C[%c0], %mask, %zero : memref<16xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
    %s = arith.addf %c, %x : vector<8xf32>
    vector.maskedstore %C[%c0], %mask, %s : memref<16xf32>, vector<8xi1>, vector<8xf32>
  }
  return
}

// The loop stays left of the column that it updates, whatever the column is; its last iteration may touch it in `@reaches`.
// CHECK-LABEL: func.func @left_of_column
// CHECK: iter_args
// CHECK-LABEL: func.func @reaches
// CHECK-NOT: iter_args
func.func @left_of_column(%A: memref<64x64xf32>) {
  affine.for %j = 0 to 8 {
    affine.for %k = 0 to affine_map<(j) -> (8 * j)>(%j) {
      %a = affine.load %A[3, %k] : memref<64x64xf32>
      %c = affine.vector_load %A[3, %j * 8] : memref<64x64xf32>, vector<8xf32>
      %x = vector.broadcast %a : f32 to vector<8xf32>
      %s = arith.addf %c, %x : vector<8xf32>
      affine.vector_store %s, %A[3, %j * 8] : memref<64x64xf32>, vector<8xf32>
    }
  }
  return
}
func.func @reaches(%A: memref<64x64xf32>) {
  affine.for %j = 0 to 8 {
    affine.for %k = 0 to affine_map<(j) -> (8 * j + 1)>(%j) {
      %a = affine.load %A[3, %k] : memref<64x64xf32>
      %c = affine.vector_load %A[3, %j * 8] : memref<64x64xf32>, vector<8xf32>
      %x = vector.broadcast %a : f32 to vector<8xf32>
      %s = arith.addf %c, %x : vector<8xf32>
      affine.vector_store %s, %A[3, %j * 8] : memref<64x64xf32>, vector<8xf32>
    }
  }
  return
}

// What the loop reads lies in rows above those it writes: the bounds of the loops around tell.
// CHECK-LABEL: func.func @rows_above
// CHECK: affine.for %[[K:.*]] = 0 to {{.*}} iter_args
// CHECK-NOT: affine.store
// CHECK: affine.yield
// CHECK-LABEL: func.func @rows_beside
// CHECK-NOT: iter_args
func.func @rows_above(%A: memref<64x64xf32>) {
  affine.for %j = 1 to 8 {
    affine.for %i = affine_map<(d0) -> (d0 + 1)>(%j) to 8 {
      affine.for %k = 0 to min affine_map<(d0) -> (d0 * 8, 40)>(%j) {
        %c = affine.load %A[%i * 8 + 3, %j * 8] : memref<64x64xf32>
        %a = affine.load %A[%k, %j * 8] : memref<64x64xf32>
        %s = arith.addf %c, %a : f32
        affine.store %s, %A[%i * 8 + 3, %j * 8] : memref<64x64xf32>
      }
    }
  }
  return
}
func.func @rows_beside(%A: memref<64x64xf32>) {
  affine.for %j = 1 to 8 {
    affine.for %i = 0 to 8 {
      affine.for %k = 0 to min affine_map<(d0) -> (d0 * 8, 40)>(%j) {
        %c = affine.load %A[%i * 8 + 3, %j * 8] : memref<64x64xf32>
        %a = affine.load %A[%k, %j * 8] : memref<64x64xf32>
        %s = arith.addf %c, %a : f32
        affine.store %s, %A[%i * 8 + 3, %j * 8] : memref<64x64xf32>
      }
    }
  }
  return
}

// no-match: the arguments may share memory; vectors overlap; the place moves; each iteration has memory of its own; a vector of two
// rows overlaps the row below; a function that is called may write a global.
// CHECK-LABEL: func.func @aliases
// CHECK-NOT: iter_args
// CHECK-LABEL: func.func @overlap
// CHECK-NOT: iter_args
// CHECK-LABEL: func.func @moving
// CHECK-NOT: iter_args
// CHECK-LABEL: func.func @own
// CHECK-NOT: iter_args
// CHECK-LABEL: func.func @two_rows
// CHECK-NOT: iter_args
// CHECK-LABEL: func.func @called
// CHECK-NOT: iter_args
func.func @aliases(%A: memref<64xf32>, %C: memref<8xf32>) {
  affine.for %k = 0 to 64 {
    %a = affine.load %A[%k] : memref<64xf32>
    affine.store %a, %C[0] : memref<8xf32>
  }
  return
}
func.func @overlap(%x: vector<8xf32>, %C: memref<16xf32>) {
  affine.for %k = 0 to 4 {
    affine.vector_store %x, %C[0] : memref<16xf32>, vector<8xf32>
    affine.vector_store %x, %C[4] : memref<16xf32>, vector<8xf32>
  }
  return
}
func.func @moving(%x: f32, %C: memref<16xf32>) {
  affine.for %k = 0 to 4 {
    affine.store %x, %C[%k] : memref<16xf32>
  }
  return
}
func.func @own(%x: f32, %C: memref<16xf32>) {
  affine.for %k = 0 to 4 {
    %w = memref.alloca() : memref<1xf32>
    affine.store %x, %w[0] : memref<1xf32>
    %v = affine.load %w[0] : memref<1xf32>
    affine.store %v, %C[%k] : memref<16xf32>
  }
  return
}
func.func @two_rows(%C: memref<8x8xf32>) {
  affine.for %k = 0 to 4 {
    %a = affine.vector_load %C[0, 0] : memref<8x8xf32>, vector<2x4xf32>
    %b = affine.load %C[1, 0] : memref<8x8xf32>
    %s = vector.broadcast %b : f32 to vector<2x4xf32>
    %c = arith.addf %a, %s : vector<2x4xf32>
    affine.vector_store %c, %C[0, 0] : memref<8x8xf32>, vector<2x4xf32>
  }
  return
}
memref.global "private" @g : memref<1xf32> = dense<0.0>
func.func private @clear_g()
func.func @called(%x: f32) {
  %g = memref.get_global @g : memref<1xf32>
  affine.for %k = 0 to 4 {
    %a = affine.load %g[0] : memref<1xf32>
    %s = arith.addf %a, %x : f32
    affine.store %s, %g[0] : memref<1xf32>
    func.call @clear_g() : () -> ()
  }
  return
}
