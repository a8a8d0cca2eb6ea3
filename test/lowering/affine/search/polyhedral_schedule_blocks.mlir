// RUN: dlc-opt %s --dl-set-target=target=cpu:skylake-avx512 --affine-polyhedral-schedule --split-input-file | filecheck %s

// Every loop of a triangular factor carries dependences. In blocks of 8x8 elements, the updates by finished columns are a
// product, in vectors along the second dim; the others follow in the order of the text. Refuses nothing.
// CHECK-LABEL: func.func @factor
// CHECK: affine.for %[[J:.*]] = 0 to 32 {
// CHECK:   affine.for %[[I:.*]] =
// CHECK:     affine.for %[[K:.*]] = 0 to #map{{[0-9]*}}(%[[J]]) {
// CHECK:       affine.vector_load %arg0[%[[I]] * 8, %[[J]] * 8] : memref<256x256xf64>, vector<8xf64>
// CHECK:       vector.from_elements
// CHECK:       affine.vector_store %{{.*}}, %arg0[%[[I]] * 8 + 7, %[[J]] * 8]
// CHECK:     arith.divf
func.func @factor(%A: memref<256x256xf64>) {
  affine.for %i = 0 to 256 {
    affine.for %j = 0 to affine_map<(i) -> (i)>(%i) {
      affine.for %k = 0 to affine_map<(j) -> (j)>(%j) {
        %a = affine.load %A[%i, %j] : memref<256x256xf64>
        %b = affine.load %A[%i, %k] : memref<256x256xf64>
        %c = affine.load %A[%j, %k] : memref<256x256xf64>
        %p = arith.mulf %b, %c : f64
        %s = arith.subf %a, %p : f64
        affine.store %s, %A[%i, %j] : memref<256x256xf64>
      }
      %a = affine.load %A[%i, %j] : memref<256x256xf64>
      %b = affine.load %A[%j, %j] : memref<256x256xf64>
      %q = arith.divf %a, %b : f64
      affine.store %q, %A[%i, %j] : memref<256x256xf64>
    }
  }
  return
}

// -----

// A maximum of whole numbers is the same in every order: the pieces in the middle come first, then those that end in the block.
// CHECK-LABEL: func.func @chain
// CHECK: affine.for %[[J:.*]] = 0 to
// CHECK:   affine.for %[[I:.*]] =
// CHECK:     affine.vector_load %arg0[{{.*}}%[[J]] * {{.*}} : memref<256x256xi32>, vector<16xi32>
// CHECK:     arith.maxsi %{{.*}} : vector<16xi32>
// CHECK:     arith.maxsi %{{.*}} : i32
func.func @chain(%A: memref<256x256xi32>) {
  affine.for %i = 0 to 256 {
    affine.for %j = affine_map<(i) -> (256 - i)>(%i) to 256 {
      affine.for %k = affine_map<(i) -> (256 - i)>(%i) to affine_map<(j) -> (j)>(%j) {
        %a = affine.load %A[255 - %i, %j] : memref<256x256xi32>
        %b = affine.load %A[255 - %i, %k] : memref<256x256xi32>
        %c = affine.load %A[%k + 1, %j] : memref<256x256xi32>
        %p = arith.addi %b, %c : i32
        %s = arith.maxsi %a, %p : i32
        affine.store %s, %A[255 - %i, %j] : memref<256x256xi32>
      }
    }
  }
  return
}

// -----

// no-match: sweeps over a row wait for neighbours on both sides.
// CHECK-LABEL: func.func @sweeps
// CHECK: affine.for
// CHECK-NOT: vector
// CHECK: arith.addf %{{.*}} : f64
func.func @sweeps(%A: memref<64x64xf64>) {
  affine.for %t = 0 to 64 {
    affine.for %i = 1 to 63 {
      %a = affine.load %A[0, %i - 1] : memref<64x64xf64>
      %b = affine.load %A[0, %i + 1] : memref<64x64xf64>
      %s = arith.addf %a, %b : f64
      affine.store %s, %A[0, %i] : memref<64x64xf64>
    }
  }
  return
}
