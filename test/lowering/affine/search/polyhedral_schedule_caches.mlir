// RUN: dlc-opt %s --affine-polyhedral-schedule --split-input-file | filecheck %s
// RUN: dlc-opt %s --affine-polyhedral-schedule=pack=false --split-input-file | filecheck %s --check-prefix=BARE
// RUN: dlc-opt %s --affine-polyhedral-schedule=cache-tiles=false --split-input-file | filecheck %s --check-prefix=PLAIN
// RUN: dlc-opt %s --affine-polyhedral-schedule=print-proof=true --split-input-file 2>&1 | filecheck %s --check-prefix=WHY

// WHY: function @matmul
// WHY: blocks for caches: loops 1 by 128, 1 by 16, 0 by 2, 2; S0 reads a copy of A0 made inside 0 of them; S0 reads a copy of A1 made inside 1 of them; {{.*}} cycles, {{.*}} without blocks

// Blocks of columns; the matrix on the left and a block of the other are copied, the latter in the order of the tiles.
// CHECK-LABEL: func.func @matmul
// CHECK: %[[A:.*]] = memref.alloca() {alignment = 64 : i64} : memref<64x256xf32>
// CHECK: affine.vector_store %{{.*}}, %[[A]]
// CHECK: affine.for %[[JB:.*]] = 0 to 2 {
// CHECK:   %[[B:.*]] = memref.alloc() {alignment = 64 : i64} : memref<8x256x16xf32>
// CHECK:   affine.for %[[T:.*]] = 0 to 8 {
// CHECK:     affine.for %[[K:.*]] = 0 to 256 {
// CHECK:       %[[V:.*]] = affine.vector_load %arg1[%[[K]], %[[JB]] * 128 + %[[T]] * 16]
// CHECK:       affine.vector_store %[[V]], %[[B]][%[[T]], %[[K]], 0]
// CHECK:   affine.for %[[J:.*]] = #{{.*}}(%[[JB]]) to #{{.*}}(%[[JB]]) {
// CHECK:     affine.for %[[I:.*]] = 0 to 32 {
// CHECK:       affine.for %[[K:.*]] = 0 to 256 {
// CHECK:         affine.load %[[A]][%[[I]] * 2, %[[K]]]
// CHECK:         affine.vector_load %[[B]][%[[JB]] * -8 + %[[J]], %[[K]], 0]
// CHECK:   memref.dealloc %[[B]]

// Blocks alone: of sums, whose order stays, of rows and of columns.
// BARE-LABEL: func.func @matmul
// BARE-NOT: memref.alloc
// BARE: affine.for %[[KB:.*]] = 0 to 2 {
// BARE:   affine.for %[[IB:.*]] = 0 to 6 {
// BARE:     affine.for %[[JB:.*]] = 0 to 16 {
// BARE:       affine.for %{{.*}} = #{{.*}}(%[[JB]]) to #{{.*}}(%[[JB]]) {
// BARE:         affine.for %{{.*}} = #{{.*}}(%[[IB]]) to min #{{.*}}(%[[IB]]) {
// BARE:           affine.for %{{.*}} = #{{.*}}(%[[KB]]) to #{{.*}}(%[[KB]]) {

// PLAIN-LABEL: func.func @matmul
// PLAIN: affine.for %{{.*}} = 0 to 32 {
// PLAIN-NEXT: affine.for %{{.*}} = 0 to 10 {
// PLAIN-NEXT: affine.for %{{.*}} = 0 to 256 {
module attributes {dlc.target = {l1_bytes = 4096 : i64, l2_bytes = 32768 : i64}} {
  func.func @matmul(%A: memref<64x256xf32> {llvm.noalias}, %B: memref<256x256xf32> {llvm.noalias}, %C: memref<64x256xf32> {llvm.noalias}) {
    affine.for %i = 0 to 64 {
      affine.for %j = 0 to 256 {
        affine.for %k = 0 to 256 {
          %a = affine.load %A[%i, %k] : memref<64x256xf32>
          %b = affine.load %B[%k, %j] : memref<256x256xf32>
          %c = affine.load %C[%i, %j] : memref<64x256xf32>
          %p = arith.mulf %a, %b : f32
          %s = arith.addf %c, %p : f32
          affine.store %s, %C[%i, %j] : memref<64x256xf32>
        }
      }
    }
    return
  }
}

// -----

// Columns that lie apart are gathered once, into a panel; all tiles read vectors of it.
// CHECK-LABEL: func.func @by_rows
// CHECK: %[[V:.*]] = vector.from_elements
// CHECK: affine.vector_store %[[V]], %[[B:.*]][%{{.*}}
// CHECK: affine.vector_load %[[B]]
// CHECK-NOT: vector.from_elements
// CHECK: return
// PLAIN-LABEL: func.func @by_rows
// PLAIN-NOT: memref.alloc
module attributes {dlc.target = {features = ["avx512f"]}} {
  func.func @by_rows(%A: memref<64x256xf32> {llvm.noalias}, %B: memref<64x256xf32> {llvm.noalias}, %C: memref<64x64xf32> {llvm.noalias}) {
    affine.for %i = 0 to 64 {
      affine.for %j = 0 to 64 {
        affine.for %k = 0 to 256 {
          %a = affine.load %A[%i, %k] : memref<64x256xf32>
          %b = affine.load %B[%j, %k] : memref<64x256xf32>
          %c = affine.load %C[%i, %j] : memref<64x64xf32>
          %p = arith.mulf %a, %b : f32
          %s = arith.addf %c, %p : f32
          affine.store %s, %C[%i, %j] : memref<64x64xf32>
        }
      }
    }
    return
  }
}

// -----

// no-match: what is read is written, too, and everything fits in the caches.
// CHECK-LABEL: func.func @square
// CHECK-NOT: memref.alloc
module attributes {dlc.target = {}} {
  func.func @square(%A: memref<32x32xf32>) {
    affine.for %k = 0 to 8 {
      affine.for %i = 8 to 32 {
        affine.for %j = 8 to 32 {
          %a = affine.load %A[%i, %k] : memref<32x32xf32>
          %b = affine.load %A[%k, %j] : memref<32x32xf32>
          %c = affine.load %A[%i, %j] : memref<32x32xf32>
          %p = arith.mulf %a, %b : f32
          %s = arith.addf %c, %p : f32
          affine.store %s, %A[%i, %j] : memref<32x32xf32>
        }
      }
    }
    return
  }
}
