// RUN: dlc-opt %s --affine-forward-transposes --split-input-file --mlir-print-local-scope | filecheck %s
// A transposed copy is made where whole blocks of an open number of rows read it; the rows beyond read its source. It refuses nothing.

// CHECK-LABEL: func.func private @scores(
// CHECK-SAME: %[[Q:.*]]: memref<?x64xf32>, %[[K:.*]]: memref<?x64xf32>
// CHECK: affine.for %{{.*}} = 0 to affine_map<()[s0] -> ((s0 floordiv 16) ceildiv 1099511627776)>()[%[[R:.*]]] {
// CHECK-NEXT: affine.for %[[D:.*]] = 0 to 64 {
// CHECK-NEXT: affine.for %[[J:.*]] = 0 to
// CHECK-NEXT: affine.load %[[K]][%[[J]], %[[D]]]
// CHECK-NEXT: affine.store %{{.*}}, %[[T:.*]][%[[D]], %[[J]]]
// CHECK: affine.for %{{.*}} = 0 to affine_map<()[s0] -> (s0 floordiv 16)>()[%[[R]]] {
// CHECK: affine.load %[[T]][
// CHECK: affine.for %{{.*}} = 0 to affine_map<()[s0] -> (s0 mod 16)>()[%[[R]]] {
// CHECK-NEXT: affine.for %[[J:.*]] = 0 to
// CHECK-NEXT: affine.for %[[D:.*]] = 0 to 64 iter_args
// CHECK: affine.load %[[K]][%[[J]], %[[D]]]
func.func private @scores(%q: memref<?x64xf32>, %k: memref<?x64xf32>, %s: memref<?x?xf32> {llvm.noalias}, %r: index, %n: index) attributes {dl.kernel} {
  %zero = arith.constant 0.0 : f32
  %t = memref.alloc(%n) : memref<64x?xf32>
  affine.for %d = 0 to 64 {
    affine.for %j = 0 to %n {
      %0 = affine.load %k[%j, %d] : memref<?x64xf32>
      affine.store %0, %t[%d, %j] : memref<64x?xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  affine.for %b = 0 to affine_map<()[s0] -> (s0 floordiv 16)>()[%r] {
    affine.for %i = 0 to 16 {
      affine.for %j = 0 to %n {
        %0 = affine.for %d = 0 to 64 iter_args(%acc = %zero) -> (f32) {
          %1 = affine.load %q[%b * 16 + %i, %d] : memref<?x64xf32>
          %2 = affine.load %t[%d, %j] : memref<64x?xf32>
          %3 = arith.mulf %1, %2 : f32
          %4 = arith.addf %acc, %3 : f32
          affine.yield %4 : f32
        }
        affine.store %0, %s[%b * 16 + %i, %j] : memref<?x?xf32>
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  affine.for %i = 0 to affine_map<()[s0] -> (s0 mod 16)>()[%r] {
    affine.for %j = 0 to %n {
      %0 = affine.for %d = 0 to 64 iter_args(%acc = %zero) -> (f32) {
        %1 = affine.load %q[%i + (symbol(%r) floordiv 16) * 16, %d] : memref<?x64xf32>
        %2 = affine.load %t[%d, %j] : memref<64x?xf32>
        %3 = arith.mulf %1, %2 : f32
        %4 = arith.addf %acc, %3 : f32
        affine.yield %4 : f32
      }
      affine.store %0, %s[%i + (symbol(%r) floordiv 16) * 16, %j] : memref<?x?xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  memref.dealloc %t : memref<64x?xf32>
  return
}

// -----

// Blocks of two sizes: there is a copy if there is a block of either.
// CHECK-LABEL: func.func private @blocks_of_two_sizes(
// CHECK-SAME: %[[K:[a-z0-9]*]]: memref<?x64xf32>
// CHECK: affine.for %{{.*}} = 0 to affine_map<()[s0] -> (((s0 mod 16) floordiv 8 + s0 floordiv 16) ceildiv 1099511627776)>()[%[[R:.*]]] {
// CHECK: affine.for %{{.*}} = 0 to affine_map<()[s0] -> (s0 floordiv 16)>()[%[[R]]] {
// CHECK-NOT: affine.load %[[K]]
// CHECK: affine.for %{{.*}} = 0 to affine_map<()[s0] -> ((s0 mod 16) floordiv 8)>()[%[[R]]] {
// CHECK-NOT: affine.load %[[K]]
// CHECK: affine.for %{{.*}} = 0 to affine_map<()[s0] -> (s0 mod 8)>()[%[[R]]] {
// CHECK: affine.load %[[K]][%{{.*}}, 3] : memref<?x64xf32>
func.func private @blocks_of_two_sizes(%k: memref<?x64xf32>, %s: memref<?x?xf32> {llvm.noalias}, %r: index, %n: index) attributes {dl.kernel} {
  %t = memref.alloc(%n) : memref<64x?xf32>
  affine.for %d = 0 to 64 {
    affine.for %j = 0 to %n {
      %0 = affine.load %k[%j, %d] : memref<?x64xf32>
      affine.store %0, %t[%d, %j] : memref<64x?xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  affine.for %b = 0 to affine_map<()[s0] -> (s0 floordiv 16)>()[%r] {
    affine.for %j = 0 to %n {
      %0 = affine.load %t[1, %j] : memref<64x?xf32>
      affine.store %0, %s[%b * 16, %j] : memref<?x?xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  affine.for %b = 0 to affine_map<()[s0] -> ((s0 mod 16) floordiv 8)>()[%r] {
    affine.for %j = 0 to %n {
      %0 = affine.load %t[2, %j] : memref<64x?xf32>
      affine.store %0, %s[%b * 8 + 1, %j] : memref<?x?xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  affine.for %i = 0 to affine_map<()[s0] -> (s0 mod 8)>()[%r] {
    affine.for %j = 0 to %n {
      %0 = affine.load %t[3, %j] : memref<64x?xf32>
      affine.store %0, %s[%i + 2, %j] : memref<?x?xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  memref.dealloc %t : memref<64x?xf32>
  return
}

// -----

// no-match: the keys are written, and those that read the copy are all the rows.
// CHECK-LABEL: func.func private @written(
// CHECK-NOT: ceildiv
// CHECK: return
func.func private @written(%k: memref<?x64xf32>, %s: memref<?xf32> {llvm.noalias}, %r: index, %n: index) attributes {dl.kernel} {
  %zero = arith.constant 0.0 : f32
  %t = memref.alloc(%n) : memref<64x?xf32>
  affine.for %d = 0 to 64 {
    affine.for %j = 0 to %n {
      %0 = affine.load %k[%j, %d] : memref<?x64xf32>
      affine.store %0, %t[%d, %j] : memref<64x?xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  affine.for %i = 0 to affine_map<()[s0] -> (s0 mod 16)>()[%r] {
    %0 = affine.load %t[0, %i] : memref<64x?xf32>
    affine.store %0, %k[%i, 0] : memref<?x64xf32>
  } {dlc.parallel}
  memref.dealloc %t : memref<64x?xf32>
  return
}
