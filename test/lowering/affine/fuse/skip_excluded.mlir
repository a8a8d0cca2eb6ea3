// RUN: dlc-opt %s --affine-skip-excluded --split-input-file --mlir-print-local-scope | filecheck %s
// Loops over scratch memory end behind the last element that counts for some row of a block. The pass refuses nothing.

// CHECK-LABEL: func.func private @causal(
// CHECK: affine.for %[[B:.*]] = 0 to 4 {
// CHECK: affine.for %{{.*}} = 0 to 16 {
// CHECK: affine.for %{{.*}} = 0 to affine_map<(d0) -> (d0 * 16 + 16)>(%[[B]]) {
// CHECK: arith.select %{{.*}}, %{{.*}}, %{{.*}} : f32
// CHECK: affine.for %{{.*}} = 0 to 16 {
// CHECK: affine.for %{{.*}} = 0 to affine_map<(d0) -> (d0 * 16 + 16)>(%[[B]]) iter_args
func.func private @causal(%x: memref<64x64xf32>, %y: memref<64xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  affine.for %b = 0 to 4 {
    %s = memref.alloca() : memref<16x64xf32>
    affine.for %i = 0 to 16 {
      affine.for %j = 0 to 64 {
        %row = affine.apply affine_map<(d0, d1) -> (d0 * 16 + d1)>(%b, %i)
        %v = affine.load %x[%b * 16 + %i, %j] : memref<64x64xf32>
        %c = arith.cmpi sle, %j, %row : index
        %m = arith.select %c, %v, %lowest {dlc.excluded} : f32
        affine.store %m, %s[%i, %j] : memref<16x64xf32>
      } {dlc.parallel}
    } {dlc.parallel}
    affine.for %i = 0 to 16 {
      %0 = affine.for %j = 0 to 64 iter_args(%acc = %zero) -> (f32) {
        %v = affine.load %s[%i, %j] : memref<16x64xf32>
        %e = math.exp %v : f32
        %sum = arith.addf %acc, %e : f32
        affine.yield %sum : f32
      }
      affine.store %0, %y[%b * 16 + %i] : memref<64xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// -----

// no-match: one of the loops over the elements stores all of them elsewhere.
// CHECK-LABEL: func.func private @all_are_stored(
// CHECK-COUNT-2: affine.for %{{.*}} = 0 to 64 {
// CHECK: return
func.func private @all_are_stored(%x: memref<64x64xf32>, %y: memref<64x64xf32> {llvm.noalias}) {
  %lowest = arith.constant 0xFF800000 : f32
  affine.for %b = 0 to 64 {
    %s = memref.alloca() : memref<64xf32>
    affine.for %j = 0 to 64 {
      %v = affine.load %x[%b, %j] : memref<64x64xf32>
      %c = arith.cmpi sle, %j, %b : index
      %m = arith.select %c, %v, %lowest {dlc.excluded} : f32
      affine.store %m, %s[%j] : memref<64xf32>
    } {dlc.parallel}
    affine.for %j = 0 to 64 {
      %v = affine.load %s[%j] : memref<64xf32>
      affine.store %v, %y[%b, %j] : memref<64x64xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// -----

// no-match: the last blocks would end beyond the elements.
// CHECK-LABEL: func.func private @beyond(
// CHECK-COUNT-2: affine.for %{{.*}} = 0 to 32
// CHECK: return
func.func private @beyond(%x: memref<64x32xf32>, %y: memref<64xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  affine.for %b = 0 to 64 {
    %s = memref.alloca() : memref<32xf32>
    affine.for %j = 0 to 32 {
      %v = affine.load %x[%b, %j] : memref<64x32xf32>
      %c = arith.cmpi sle, %j, %b : index
      %m = arith.select %c, %v, %lowest {dlc.excluded} : f32
      affine.store %m, %s[%j] : memref<32xf32>
    } {dlc.parallel}
    %0 = affine.for %j = 0 to 32 iter_args(%acc = %zero) -> (f32) {
      %v = affine.load %s[%j] : memref<32xf32>
      %sum = arith.addf %acc, %v : f32
      affine.yield %sum : f32
    }
    affine.store %0, %y[%b] : memref<64xf32>
  } {dlc.parallel}
  return
}

// -----

// An open number of elements has at least 16 for each block of 16 rows.
// CHECK-LABEL: func.func private @open(
// CHECK: affine.for %[[B:.*]] = 0 to
// CHECK: affine.for %{{.*}} = 0 to affine_map<(d0) -> (d0 * 16 + 16)>(%[[B]]) {
// CHECK: affine.for %{{.*}} = 0 to affine_map<(d0) -> (d0 * 16 + 16)>(%[[B]]) iter_args
// CHECK-LABEL: func.func private @other_rows(
// CHECK: affine.for %{{.*}} = 0 to %{{.*}} {
// CHECK: affine.for %{{.*}} = 0 to 16 {
// CHECK: affine.for %{{.*}} = 0 to %{{.*}} {
// CHECK-NOT: d0 * 16 + 16
// CHECK: return
func.func private @open(%x: memref<?x?xf32>, %y: memref<?xf32> {llvm.noalias}, %n: index) {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  affine.for %b = 0 to affine_map<()[s0] -> (s0 floordiv 16)>()[%n] {
    %s = memref.alloc(%n) : memref<16x?xf32>
    affine.for %i = 0 to 16 {
      affine.for %j = 0 to %n {
        %row = affine.apply affine_map<(d0, d1) -> (d0 * 16 + d1)>(%b, %i)
        %v = affine.load %x[%b * 16 + %i, %j] : memref<?x?xf32>
        %c = arith.cmpi sle, %j, %row : index
        %m = arith.select %c, %v, %lowest {dlc.excluded} : f32
        affine.store %m, %s[%i, %j] : memref<16x?xf32>
      } {dlc.parallel}
    } {dlc.parallel}
    affine.for %i = 0 to 16 {
      %0 = affine.for %j = 0 to %n iter_args(%acc = %zero) -> (f32) {
        %v = affine.load %s[%i, %j] : memref<16x?xf32>
        %e = math.exp %v : f32
        %sum = arith.addf %acc, %e : f32
        affine.yield %sum : f32
      }
      affine.store %0, %y[%b * 16 + %i] : memref<?xf32>
    } {dlc.parallel}
    memref.dealloc %s : memref<16x?xf32>
  } {dlc.parallel}
  return
}
func.func private @other_rows(%x: memref<?x?xf32>, %y: memref<?xf32> {llvm.noalias}, %blocks: index, %n: index) {
  %lowest = arith.constant 0xFF800000 : f32
  affine.for %b = 0 to %blocks {
    %s = memref.alloc(%n) : memref<16x?xf32>
    affine.for %i = 0 to 16 {
      affine.for %j = 0 to %n {
        %row = affine.apply affine_map<(d0, d1) -> (d0 * 16 + d1)>(%b, %i)
        %v = affine.load %x[%b * 16 + %i, %j] : memref<?x?xf32>
        %c = arith.cmpi sle, %j, %row : index
        %m = arith.select %c, %v, %lowest {dlc.excluded} : f32
        affine.store %m, %s[%i, %j] : memref<16x?xf32>
      } {dlc.parallel}
      %most = affine.for %j = 0 to %n iter_args(%acc = %lowest) -> (f32) {
        %v = affine.load %s[%i, %j] : memref<16x?xf32>
        %more = arith.maximumf %acc, %v : f32
        affine.yield %more : f32
      }
      affine.store %most, %y[%b * 16 + %i] : memref<?xf32>
    } {dlc.parallel}
    memref.dealloc %s : memref<16x?xf32>
  } {dlc.parallel}
  return
}
