// RUN: dlc-opt %s --dl-set-target=target=cpu:skylake-avx512 --affine-stream-stores=min-bytes=4096 | filecheck %s
// RUN: not dlc-opt %s --affine-stream-stores=min-bytes=-1 2>&1 | filecheck %s --check-prefix=NEGATIVE
// RUN: dlc-opt %s --dl-set-target=target=cpu:znver3 --affine-stream-stores | filecheck %s --check-prefix=HALVES
// RUN: dlc-opt %s --dl-set-target=target=cpu:znver4 --affine-stream-stores | filecheck %s --check-prefix=LINES
// RUN: dlc-opt %s --dl-set-target=target=cpu:znver4 --affine-stream-stores=min-bytes=4096 | filecheck %s --check-prefix=NEAR
// Buffers that no near cache holds are written past the caches, if they are aligned.

// NEGATIVE: error: {{.*}}min-bytes is -1; give 0 or more

// Light parallel nests stay in the last cache of a few cores where several threads run them.
// NEAR: func.func private @dlc_num_threads() -> i32
// NEAR-LABEL: func.func private @aligned(
// NEAR: %[[WHOLE:.*]] = arith.cmpi eq,
// NEAR: %[[COUNT:.*]] = call @dlc_num_threads()
// NEAR: %[[ALONE:.*]] = arith.cmpi eq, %[[COUNT]], %c1_i32
// NEAR: %[[BOTH:.*]] = arith.andi %[[WHOLE]], %[[ALONE]]
// NEAR: scf.if %[[BOTH]] {
// NEAR-LABEL: func.func private @blocked(
// NEAR-NOT: dlc_num_threads
// NEAR-LABEL: func.func private @heavy(
// NEAR-NOT: dlc_num_threads
// NEAR-LABEL: func.func private @down(
// NEAR-NOT: dlc_num_threads

// CHECK-NOT: dlc_num_threads
// CHECK-LABEL: func.func private @aligned(
// CHECK-SAME: %[[X:.*]]: memref<64x16xf32>, %[[Y:.*]]: memref<64x16xf32>
// CHECK: %[[START:.*]] = memref.extract_aligned_pointer_as_index %[[Y]]
// CHECK: %[[LOW:.*]] = arith.andi %[[START]]
// CHECK: %[[WHOLE:.*]] = arith.cmpi eq, %[[LOW]]
// CHECK: scf.if %[[WHOLE]] {
// CHECK: vector.store {{.*}}, %[[Y]]{{.*}} {alignment = 16 : i64, nontemporal = true}
// CHECK: dlc.parallel
// CHECK: } else {
// CHECK: affine.vector_store {{.*}}, %[[Y]]
func.func private @aligned(%x: memref<64x16xf32>, %y: memref<64x16xf32>) {
  affine.for %i = 0 to 64 {
    affine.for %j = 0 to 16 step 4 {
      %a = affine.vector_load %x[%i, %j] : memref<64x16xf32>, vector<4xf32>
      affine.vector_store %a, %y[%i, %j] : memref<64x16xf32>, vector<4xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// Blocks begin at multiples, too.
// CHECK-LABEL: func.func private @blocked(
// CHECK: nontemporal
func.func private @blocked(%x: memref<1024xf32>, %y: memref<1024xf32>) {
  affine.for %b = 0 to 1024 step 32 {
    affine.for %i = affine_map<(d0) -> (d0)>(%b) to affine_map<(d0) -> (d0 + 32)>(%b) step 4 {
      %a = affine.vector_load %x[%i] : memref<1024xf32>, vector<4xf32>
      affine.vector_store %a, %y[%i] : memref<1024xf32>, vector<4xf32>
    }
  }
  return
}

// A nest of much work, and one that writes down columns, go past the caches with any threads.
// CHECK-LABEL: func.func private @heavy(
// CHECK: nontemporal
// CHECK-LABEL: func.func private @down(
// CHECK: nontemporal
func.func private @heavy(%x: memref<256xf32>, %y: memref<64x16xf32>) {
  %zero = arith.constant dense<0.0> : vector<16xf32>
  affine.for %i = 0 to 64 {
    affine.for %j = 0 to 16 step 16 {
      %s = affine.for %k = 0 to 256 iter_args(%t = %zero) -> (vector<16xf32>) {
        %a = affine.load %x[%k] : memref<256xf32>
        %b = vector.broadcast %a : f32 to vector<16xf32>
        %r = math.fma %b, %b, %t : vector<16xf32>
        affine.yield %r : vector<16xf32>
      }
      affine.vector_store %s, %y[%i, %j] : memref<64x16xf32>, vector<16xf32>
    }
  } {dlc.parallel}
  return
}
func.func private @down(%y: memref<64x32xf32>) {
  %zero = arith.constant dense<0.0> : vector<16xf32>
  affine.for %j = 0 to 32 step 16 {
    affine.for %i = 0 to 64 {
      affine.vector_store %zero, %y[%i, %j] : memref<64x32xf32>, vector<16xf32>
    }
  } {dlc.parallel}
  return
}

// Parts of a line go past the caches where the others are written with them, not where they go down columns.
// CHECK-LABEL: func.func private @parts(
// CHECK-COUNT-4: vector.store {{.*}}nontemporal
// CHECK: } else {
// CHECK-NOT: nontemporal
// CHECK-LABEL: func.func private @columns(
// CHECK-NOT: nontemporal
func.func private @parts(%y: memref<64x32xf32>) {
  %zero = arith.constant dense<0.0> : vector<4xf32>
  affine.for %j = 0 to 32 step 16 {
    affine.for %i = 0 to 64 {
      affine.vector_store %zero, %y[%i, %j] : memref<64x32xf32>, vector<4xf32>
      affine.vector_store %zero, %y[%i, %j + 4] : memref<64x32xf32>, vector<4xf32>
      affine.vector_store %zero, %y[%i, %j + 8] : memref<64x32xf32>, vector<4xf32>
      affine.vector_store %zero, %y[%i, %j + 12] : memref<64x32xf32>, vector<4xf32>
    }
  }
  return
}
func.func private @columns(%y: memref<64x32xf32>) {
  %zero = arith.constant dense<0.0> : vector<4xf32>
  affine.for %j = 0 to 32 step 8 {
    affine.for %i = 0 to 64 {
      affine.vector_store %zero, %y[%i, %j] : memref<64x32xf32>, vector<4xf32>
      affine.vector_store %zero, %y[%i, %j + 4] : memref<64x32xf32>, vector<4xf32>
    }
  }
  return
}

// Where a line takes two stores only what is large beside the last cache goes past it.
// CHECK-LABEL: func.func private @of_4_mebibytes(
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

// no-match: a small buffer, rows that are not a multiple of vectors, a buffer that is read, a size that is not known, odd places.
// CHECK-LABEL: func.func private @others(
// CHECK-NOT: nontemporal
func.func private @others(%small: memref<64xf32>, %rows: memref<64x17xf32>, %read: memref<1024xf32>, %any: memref<?xf32>,
                          %n: index) {
  %zero = arith.constant dense<0.0> : vector<4xf32>
  affine.for %i = 0 to 64 step 4 {
    affine.vector_store %zero, %small[%i] : memref<64xf32>, vector<4xf32>
  }
  affine.for %i = 0 to 64 {
    affine.vector_store %zero, %rows[%i, 0] : memref<64x17xf32>, vector<4xf32>
  }
  affine.for %i = 0 to 1024 step 4 {
    %a = affine.vector_load %read[%i] : memref<1024xf32>, vector<4xf32>
    affine.vector_store %a, %read[%i] : memref<1024xf32>, vector<4xf32>
  }
  affine.for %i = 0 to 1024 step 4 {
    affine.vector_store %zero, %any[%i] : memref<?xf32>, vector<4xf32>
    affine.vector_store %zero, %read[%n] : memref<1024xf32>, vector<4xf32>
  }
  return
}
