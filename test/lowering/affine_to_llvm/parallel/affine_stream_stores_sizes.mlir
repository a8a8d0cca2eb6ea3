// RUN: dlc-opt %s --dl-set-target=target=cpu:znver3 --affine-stream-stores | filecheck %s --check-prefix=HALVES
// RUN: dlc-opt %s --dl-set-target=target=cpu:znver4 --affine-stream-stores | filecheck %s --check-prefix=LINES

// Where a line takes two stores only what is large beside the last cache goes past it.
// HALVES-LABEL: func.func private @of_4_mebibytes(
// HALVES-NOT: nontemporal
// HALVES-LABEL: func.func private @of_16_mebibytes(
// HALVES: nontemporal
// LINES-LABEL: func.func private @of_4_mebibytes(
// LINES: nontemporal
// LINES-LABEL: func.func private @of_16_mebibytes(
// LINES: nontemporal
func.func private @of_4_mebibytes(%y: memref<1048576xf32>) {
  %zero = arith.constant dense<0.0> : vector<8xf32>
  affine.for %i = 0 to 1048576 step 8 {
    affine.vector_store %zero, %y[%i] : memref<1048576xf32>, vector<8xf32>
  }
  return
}
func.func private @of_16_mebibytes(%y: memref<4194304xf32>) {
  %zero = arith.constant dense<0.0> : vector<8xf32>
  affine.for %i = 0 to 4194304 step 8 {
    affine.vector_store %zero, %y[%i] : memref<4194304xf32>, vector<8xf32>
  }
  return
}

// Lines that push each other out of the nearest cache go past it from the size of L2 on: nine rows 4 KiB apart, with eight ways, not rows of 1 KiB.
// LINES-LABEL: func.func private @far(
// LINES: nontemporal
// LINES-LABEL: func.func private @near(
// LINES-NOT: nontemporal
func.func private @far(%y: memref<256x1024xf32>) {
  %zero = arith.constant dense<0.0> : vector<16xf32>
  affine.for %i = 0 to 247 step 9 {
    affine.for %j = 0 to 1024 step 16 {
      affine.vector_store %zero, %y[%i, %j] : memref<256x1024xf32>, vector<16xf32>
      affine.vector_store %zero, %y[%i + 1, %j] : memref<256x1024xf32>, vector<16xf32>
      affine.vector_store %zero, %y[%i + 2, %j] : memref<256x1024xf32>, vector<16xf32>
      affine.vector_store %zero, %y[%i + 3, %j] : memref<256x1024xf32>, vector<16xf32>
      affine.vector_store %zero, %y[%i + 4, %j] : memref<256x1024xf32>, vector<16xf32>
      affine.vector_store %zero, %y[%i + 5, %j] : memref<256x1024xf32>, vector<16xf32>
      affine.vector_store %zero, %y[%i + 6, %j] : memref<256x1024xf32>, vector<16xf32>
      affine.vector_store %zero, %y[%i + 7, %j] : memref<256x1024xf32>, vector<16xf32>
      affine.vector_store %zero, %y[%i + 8, %j] : memref<256x1024xf32>, vector<16xf32>
    }
  }
  return
}
func.func private @near(%y: memref<1024x256xf32>) {
  %zero = arith.constant dense<0.0> : vector<16xf32>
  affine.for %i = 0 to 1024 step 2 {
    affine.for %j = 0 to 256 step 16 {
      affine.vector_store %zero, %y[%i, %j] : memref<1024x256xf32>, vector<16xf32>
      affine.vector_store %zero, %y[%i + 1, %j] : memref<1024x256xf32>, vector<16xf32>
    }
  }
  return
}
