// RUN: dlc-opt %s --affine-block-rows=rows=16 --split-input-file | filecheck %s
// RUN: dlc-opt %s "--affine-block-rows=rows=16" --affine-fuse-nests --split-input-file | filecheck %s --check-prefix=FUSED
// RUN: not dlc-opt %s --affine-block-rows=rows=-1 2>&1 | filecheck %s --check-prefix=ROWS
// Rows that pass from one contraction to another are cut into blocks; what is left over becomes nests of its own.

// ROWS: error: {{.*}}blocks of -1 rows; give 0 or more

// CHECK-LABEL: func.func private @left_over(
// CHECK-SAME: %[[Q:[a-z0-9]*]]: memref<37x8xf32>
// CHECK: %[[S:.*]] = memref.alloc() : memref<37x384xf32>
// CHECK: affine.for %[[B:.*]] = 0 to 2 {
// CHECK: affine.for %[[I:.*]] = 0 to 16 {
// CHECK: affine.load %[[Q]][%[[B]] * 16 + %[[I]], %{{.*}}]
// CHECK: affine.for %{{.*}} = 0 to 2 {
// CHECK: affine.for %{{.*}} = 0 to 16 {
// CHECK: %[[REST:.*]] = memref.alloc() : memref<5x384xf32>
// CHECK: affine.for %[[R:.*]] = 0 to 5 {
// CHECK: affine.load %[[Q]][%[[R]] + 32, %{{.*}}]
// CHECK: affine.store %{{.*}}, %[[REST]][%[[R]], %{{.*}}]
// CHECK: affine.for %[[R:.*]] = 0 to 5 {
// CHECK: affine.load %[[REST]][%[[R]], %{{.*}}]
// CHECK: affine.store %{{.*}}, %{{.*}}[%[[R]] + 32, %{{.*}}]
// CHECK: memref.dealloc %[[REST]]
// CHECK: memref.dealloc %[[S]]

// One loop over blocks, with scratch memory for one.
// FUSED-LABEL: func.func private @left_over(
// FUSED: affine.for %{{.*}} = 0 to 2 {
// FUSED-NEXT: memref.alloca() : memref<16x384xf32>
// FUSED: affine.for %{{.*}} = 0 to 16 {
// FUSED: affine.for %{{.*}} = 0 to 16 {
// FUSED: affine.for %{{.*}} = 0 to 5 {
func.func private @left_over(%q: memref<37x8xf32>, %k: memref<8x384xf32>, %v: memref<384x8xf32>, %y: memref<37x8xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  %s = memref.alloc() : memref<37x384xf32>
  affine.for %i = 0 to 37 {
    affine.for %j = 0 to 384 {
      %0 = affine.for %d = 0 to 8 iter_args(%acc = %zero) -> (f32) {
        %a = affine.load %q[%i, %d] : memref<37x8xf32>
        %b = affine.load %k[%d, %j] : memref<8x384xf32>
        %p = arith.mulf %a, %b : f32
        %sum = arith.addf %acc, %p : f32
        affine.yield %sum : f32
      }
      affine.store %0, %s[%i, %j] : memref<37x384xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  affine.for %i = 0 to 37 {
    affine.for %d = 0 to 8 {
      %0 = affine.for %j = 0 to 384 iter_args(%acc = %zero) -> (f32) {
        %a = affine.load %s[%i, %j] : memref<37x384xf32>
        %b = affine.load %v[%j, %d] : memref<384x8xf32>
        %p = arith.mulf %a, %b : f32
        %sum = arith.addf %acc, %p : f32
        affine.yield %sum : f32
      }
      affine.store %0, %y[%i, %d] : memref<37x8xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  memref.dealloc %s : memref<37x384xf32>
  return
}

// -----

// Dynamic rows: whole blocks, then those of a register tile, then what both leave.
// CHECK-DAG: #[[BLOCKS:.*]] = affine_map<()[s0] -> (s0 floordiv 16)>
// CHECK-DAG: #[[TILES:.*]] = affine_map<()[s0] -> ((s0 mod 16) floordiv 8)>
// CHECK-DAG: #[[LEFT:.*]] = affine_map<()[s0] -> (s0 mod 8)>
// CHECK-LABEL: func.func private @dynamic(
// CHECK-SAME: %[[N:[a-z0-9]*]]: index, %[[Q:[a-z0-9]*]]: memref<?x8xf32>
// CHECK: affine.for %{{.*}} = 0 to #[[BLOCKS]]()[%[[N]]] {
// CHECK: affine.for %{{.*}} = 0 to 16 {
// CHECK: %[[REST:.*]] = memref.alloc(%{{.*}}) : memref<?x64xf32>
// CHECK: affine.for %[[B:.*]] = 0 to #[[TILES]]()[%[[N]]] {
// CHECK: affine.for %[[I:.*]] = 0 to 8 {
// CHECK: affine.load %[[Q]][%[[B]] * 8 + %[[I]] + (symbol(%[[N]]) floordiv 16) * 16, %{{.*}}]
// CHECK: affine.store %{{.*}}, %[[REST]][%[[B]] * 8 + %[[I]], %{{.*}}]
// CHECK: %[[LAST:.*]] = memref.alloc(%{{.*}}) : memref<?x64xf32>
// CHECK: affine.for %[[I:.*]] = 0 to #[[LEFT]]()[%[[N]]] {
// CHECK: affine.load %[[Q]][%[[I]] + (symbol(%[[N]]) floordiv 16) * 16 + ((symbol(%[[N]]) mod 16) floordiv 8) * 8, %{{.*}}]
// CHECK: affine.store %{{.*}}, %[[LAST]][%[[I]], %{{.*}}]
func.func private @dynamic(%n: index, %q: memref<?x8xf32>, %k: memref<8x64xf32>, %v: memref<64x8xf32>, %y: memref<?x8xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  %s = memref.alloc(%n) : memref<?x64xf32>
  affine.for %i = 0 to %n {
    affine.for %j = 0 to 64 {
      %0 = affine.for %d = 0 to 8 iter_args(%acc = %zero) -> (f32) {
        %a = affine.load %q[%i, %d] : memref<?x8xf32>
        %b = affine.load %k[%d, %j] : memref<8x64xf32>
        %p = arith.mulf %a, %b : f32
        %sum = arith.addf %acc, %p : f32
        affine.yield %sum : f32
      }
      affine.store %0, %s[%i, %j] : memref<?x64xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  affine.for %i = 0 to %n {
    affine.for %d = 0 to 8 {
      %0 = affine.for %j = 0 to 64 iter_args(%acc = %zero) -> (f32) {
        %a = affine.load %s[%i, %j] : memref<?x64xf32>
        %b = affine.load %v[%j, %d] : memref<64x8xf32>
        %p = arith.mulf %a, %b : f32
        %sum = arith.addf %acc, %p : f32
        affine.yield %sum : f32
      }
      affine.store %0, %y[%i, %d] : memref<?x8xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  memref.dealloc %s : memref<?x64xf32>
  return
}

// -----

// no-match: no other contraction follows, so rows pass through the cache one by one anyway.
// CHECK-LABEL: func.func private @one_contraction(
// CHECK-NOT: to 4 {
// CHECK: return
func.func private @one_contraction(%q: memref<64x8xf32>, %v: memref<8x64xf32>, %y: memref<64xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  %s = memref.alloc() : memref<64x64xf32>
  affine.for %i = 0 to 64 {
    affine.for %j = 0 to 64 {
      %0 = affine.for %d = 0 to 8 iter_args(%acc = %zero) -> (f32) {
        %a = affine.load %q[%i, %d] : memref<64x8xf32>
        %b = affine.load %v[%d, %j] : memref<8x64xf32>
        %p = arith.mulf %a, %b : f32
        %sum = arith.addf %acc, %p : f32
        affine.yield %sum : f32
      }
      affine.store %0, %s[%i, %j] : memref<64x64xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  affine.for %i = 0 to 64 {
    %0 = affine.for %j = 0 to 64 iter_args(%acc = %zero) -> (f32) {
      %a = affine.load %s[%i, %j] : memref<64x64xf32>
      %sum = arith.addf %acc, %a : f32
      affine.yield %sum : f32
    }
    affine.store %0, %y[%i] : memref<64xf32>
  } {dlc.parallel}
  memref.dealloc %s : memref<64x64xf32>
  return
}

// -----

// A multiple of a block: nothing is left over.
// CHECK-DAG: #[[BLOCKS:.*]] = affine_map<()[s0] -> (s0 floordiv 16)>
// CHECK-LABEL: func.func private @whole(
// CHECK: affine.for %{{.*}} = 0 to #[[BLOCKS]]()[%{{.*}}] {
// CHECK-NOT: memref.alloc
// CHECK: return
func.func private @whole(%q: memref<?x8xf32> {dl.dims = ["n", ""]}, %k: memref<8x64xf32>, %v: memref<64x8xf32>, %y: memref<?x8xf32> {llvm.noalias})
    attributes {dl.bounds = {n = array<i64: 0, -1, 32>}} {
  %c0 = arith.constant 0 : index
  %n = memref.dim %q, %c0 : memref<?x8xf32>
  %zero = arith.constant 0.0 : f32
  %s = memref.alloc(%n) : memref<?x64xf32>
  affine.for %i = 0 to %n {
    affine.for %j = 0 to 64 {
      %0 = affine.for %d = 0 to 8 iter_args(%acc = %zero) -> (f32) {
        %a = affine.load %q[%i, %d] : memref<?x8xf32>
        %b = affine.load %k[%d, %j] : memref<8x64xf32>
        %p = arith.mulf %a, %b : f32
        %sum = arith.addf %acc, %p : f32
        affine.yield %sum : f32
      }
      affine.store %0, %s[%i, %j] : memref<?x64xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  affine.for %i = 0 to %n {
    affine.for %d = 0 to 8 {
      %0 = affine.for %j = 0 to 64 iter_args(%acc = %zero) -> (f32) {
        %a = affine.load %s[%i, %j] : memref<?x64xf32>
        %b = affine.load %v[%j, %d] : memref<64x8xf32>
        %p = arith.mulf %a, %b : f32
        %sum = arith.addf %acc, %p : f32
        affine.yield %sum : f32
      }
      affine.store %0, %y[%i, %d] : memref<?x8xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  memref.dealloc %s : memref<?x64xf32>
  return
}
