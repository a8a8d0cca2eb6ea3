// RUN: dlc-opt %s --dl-set-target=target=cpu:skylake-avx512 --affine-stream-stores=min-bytes=4096 | filecheck %s
// RUN: not dlc-opt %s --affine-stream-stores=min-bytes=-1 2>&1 | filecheck %s --check-prefix=NEGATIVE
// Buffers that no near cache holds are written past the caches, if they are aligned.

// NEGATIVE: error: {{.*}}min-bytes is -1; give 0 or more

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

// Places that are moved to a multiple, as affine-align-rows does, and the rest of the row under a mask.
// CHECK-LABEL: func.func private @moved(
// CHECK: nontemporal
func.func private @moved(%y: memref<64x66xf32>) {
  %zero = arith.constant dense<0.0> : vector<4xf32>
  affine.for %i = 0 to 64 {
    %h = affine.apply affine_map<(d0) -> ((d0 * -66) mod 16)>(%i)
    %mask = vector.create_mask %h : vector<4xi1>
    %first = arith.constant 0 : index
    vector.maskedstore %y[%i, %first], %mask, %zero : memref<64x66xf32>, vector<4xi1>, vector<4xf32>
    affine.for %j = 0 to 48 step 4 {
      affine.vector_store %zero, %y[%i, %j + %h] : memref<64x66xf32>, vector<4xf32>
    }
  }
  return
}

// Run time knows the size, and decides.
// CHECK-LABEL: func.func private @open(
// CHECK: %[[SIZE:.*]] = memref.dim %[[Y:.*]], %
// CHECK: %[[BYTES:.*]] = arith.muli %{{.*}}, %[[SIZE]]
// CHECK: %[[LARGE:.*]] = arith.cmpi sge, %[[BYTES]]
// CHECK: %[[BOTH:.*]] = arith.andi %{{.*}}, %[[LARGE]]
// CHECK: scf.if %[[BOTH]] {
// CHECK: vector.store {{.*}}nontemporal
// CHECK: } else {
// CHECK: affine.vector_store
func.func private @open(%y: memref<?xf32>, %n: index) {
  %zero = arith.constant dense<0.0> : vector<4xf32>
  affine.for %i = 0 to affine_map<()[s0] -> (s0 floordiv 4 * 4)>()[%n] step 4 {
    affine.vector_store %zero, %y[%i] : memref<?xf32>, vector<4xf32>
  }
  return
}

// no-match: an unknown size and much work for each line, as in a product.
// CHECK-LABEL: func.func private @heavy(
// CHECK-NOT: nontemporal
func.func private @heavy(%y: memref<?xf32>, %k: memref<128xf32>, %n: index) {
  %zero = arith.constant dense<0.0> : vector<4xf32>
  affine.for %i = 0 to affine_map<()[s0] -> (s0 floordiv 4 * 4)>()[%n] step 4 {
    %sum = affine.for %j = 0 to 128 iter_args(%a = %zero) -> (vector<4xf32>) {
      %e = affine.load %k[%j] : memref<128xf32>
      %v = vector.broadcast %e : f32 to vector<4xf32>
      %s = arith.addf %a, %v : vector<4xf32>
      affine.yield %s : vector<4xf32>
    }
    affine.vector_store %sum, %y[%i] : memref<?xf32>, vector<4xf32>
  }
  return
}

// no-match: a small buffer, rows that are not a multiple of vectors, a buffer that is read, odd places.
// CHECK-LABEL: func.func private @others(
// CHECK-NOT: nontemporal
func.func private @others(%small: memref<64xf32>, %rows: memref<64x17xf32>, %read: memref<1024xf32>, %n: index) {
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
    affine.vector_store %zero, %read[%n] : memref<1024xf32>, vector<4xf32>
  }
  return
}
