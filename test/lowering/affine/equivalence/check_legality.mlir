// RUN: dlc-opt %s "--affine-check-legality=pass='affine-loop-tile{tile-sizes=4,4},affine-loop-fusion' proof=%t" | filecheck %s
// RUN: filecheck %s --check-prefix=PROOF --input-file=%t.txt
// A pass runs, and its result stays where it computes the same; the proof says why.

// The second nest reads two rows of what the first one wrote.
// CHECK-LABEL: func.func @stencil
// CHECK: affine.for %{{.*}} = 0 to 16 step 4
func.func @stencil(%a: memref<16x16xf32>, %b: memref<16x16xf32> {llvm.noalias}, %c: memref<16x16xf32> {llvm.noalias}) {
  affine.for %i = 0 to 16 {
    affine.for %j = 0 to 16 {
      %x = affine.load %a[%i, %j] : memref<16x16xf32>
      %y = arith.mulf %x, %x : f32
      affine.store %y, %b[%i, %j] : memref<16x16xf32>
    }
  }
  affine.for %i = 1 to 15 {
    affine.for %j = 0 to 16 {
      %x = affine.load %b[%i - 1, %j] : memref<16x16xf32>
      %y = affine.load %b[%i + 1, %j] : memref<16x16xf32>
      %z = arith.addf %x, %y : f32
      affine.store %z, %c[%i, %j] : memref<16x16xf32>
    }
  }
  return
}

// A product in tiles: each sum still has its terms in their order.
// PROOF: function @product: affine-loop-tile{tile-sizes=4,4},affine-loop-fusion is accepted
// PROOF: every result has the value that it had: holds
// PROOF: no parallel loop carries a dependence: holds
// PROOF: S0 (check_legality.mlir:{{.*}}): { S0[i0, i1, i2] : 0 <= i0 <= 7 and 0 <= i1 <= 7 and 0 <= i2 <= 15 }
// PROOF: flow {{.*}}: { S0[i0, i1, i2] -> S0[i0' = i0, i1' = i1, i2' = 1 + i2]
// PROOF-NEXT: distance (0, 0, 1)
// PROOF: op {{.*}} result 0 = op {{.*}} result 0: { a{{.*}}[i0, i1, i2, i3, i4, i5] -> b{{.*}}[i3, i4, i5] :
// CHECK-LABEL: func.func @product
// CHECK-COUNT-6: affine.for
func.func @product(%a: memref<8x16xf32>, %b: memref<16x8xf32>, %c: memref<8x8xf32> {llvm.noalias}) {
  affine.for %i = 0 to 8 {
    affine.for %j = 0 to 8 {
      affine.for %k = 0 to 16 {
        %0 = affine.load %a[%i, %k] : memref<8x16xf32>
        %1 = affine.load %b[%k, %j] : memref<16x8xf32>
        %2 = affine.load %c[%i, %j] : memref<8x8xf32>
        %3 = arith.mulf %0, %1 : f32
        %4 = arith.addf %2, %3 : f32
        affine.store %4, %c[%i, %j] : memref<8x8xf32>
      }
    }
  }
  return
}

// no-match: nothing changes, and nothing is compared; what the check does not support may stay.
// CHECK-LABEL: func.func @untouched
// CHECK: scf.for
func.func @untouched(%a: memref<?xf32>, %n: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %value = arith.constant 1.0 : f32
  scf.for %i = %zero to %n step %one {
    memref.store %value, %a[%i] : memref<?xf32>
  }
  return
}
