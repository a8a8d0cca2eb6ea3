// RUN: dlc-opt %s --dl-set-target=target=cascadelake --affine-use-dot-products | filecheck %s
// RUN: dlc-opt %s --dl-set-target=target=haswell --affine-use-dot-products | filecheck %s --check-prefix=PAIRS
// RUN: dlc-opt %s --dl-set-target=target=cortex-a72 --affine-use-dot-products | filecheck %s --check-prefix=NONE
// RUN: dlc-opt %s --dl-set-target=target=neoverse-n1 --affine-use-dot-products | filecheck %s --check-prefix=SDOT
// RUN: dlc-opt %s --dl-set-target=target=generic --affine-use-dot-products | filecheck %s --check-prefix=SSE
// RUN: dlc-opt %s --dl-set-target=target=znver4 --affine-use-dot-products | filecheck %s --check-prefix=BF16
// RUN: dlc-opt %s --dl-set-target=target=neoverse-v1 --affine-use-dot-products | filecheck %s --check-prefix=ARM
// Four products of bytes are one instruction with VNNI, two without it, and stay where the target has neither. The pass
// refuses nothing.

// CHECK-LABEL: func.func @dot(
// CHECK-SAME: %[[A:[a-z0-9]+]]: i8, %[[B:[a-z0-9]+]]: i8, %[[C:[a-z0-9]+]]: i8, %[[D:[a-z0-9]+]]: i8, %[[W:[a-z0-9]+]]: vector<8xi32>
// CHECK-SAME: %[[ACC:[a-z0-9]+]]: vector<8xi32>)
// CHECK-COUNT-2: arith.ori
// CHECK: %[[GROUP:.*]] = arith.ori
// CHECK: %[[ALL:.*]] = vector.broadcast %[[GROUP]] : i32 to vector<8xi32>
// CHECK: %[[BYTES:.*]] = vector.bitcast %[[ALL]] : vector<8xi32> to vector<32xi8>
// CHECK: %[[WEIGHTS:.*]] = vector.bitcast %[[W]]
// CHECK: %[[SUM:.*]] = llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.256"(%[[ACC]], %[[BYTES]], %[[WEIGHTS]])
// CHECK-NOT: arith.muli
// CHECK: return %[[SUM]]

// PAIRS-LABEL: func.func @dot(
// PAIRS-COUNT-2: llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"({{.*}}) : (vector<16xi16>, vector<16xi16>) -> vector<8xi32>
// PAIRS-NOT: arith.muli
// PAIRS: return

// NONE-NOT: llvm.call_intrinsic
func.func @dot(%a: i8, %b: i8, %c: i8, %d: i8, %w: vector<8xi32>, %acc: vector<8xi32>) -> vector<8xi32> {
  %c8 = arith.constant dense<8> : vector<8xi32>
  %c16 = arith.constant dense<16> : vector<8xi32>
  %c24 = arith.constant dense<24> : vector<8xi32>
  %a0 = arith.extui %a : i8 to i32
  %b0 = arith.extui %b : i8 to i32
  %c0 = arith.extui %c : i8 to i32
  %d0 = arith.extui %d : i8 to i32
  %a1 = vector.broadcast %a0 : i32 to vector<8xi32>
  %b1 = vector.broadcast %b0 : i32 to vector<8xi32>
  %c1 = vector.broadcast %c0 : i32 to vector<8xi32>
  %d1 = vector.broadcast %d0 : i32 to vector<8xi32>
  %w0 = arith.shli %w, %c24 : vector<8xi32>
  %w1 = arith.shli %w, %c16 : vector<8xi32>
  %w2 = arith.shli %w, %c8 : vector<8xi32>
  %s0 = arith.shrsi %w0, %c24 : vector<8xi32>
  %s1 = arith.shrsi %w1, %c24 : vector<8xi32>
  %s2 = arith.shrsi %w2, %c24 : vector<8xi32>
  %s3 = arith.shrsi %w, %c24 : vector<8xi32>
  %p0 = arith.muli %a1, %s0 : vector<8xi32>
  %p1 = arith.muli %b1, %s1 : vector<8xi32>
  %p2 = arith.muli %c1, %s2 : vector<8xi32>
  %p3 = arith.muli %d1, %s3 : vector<8xi32>
  %low = arith.addi %p0, %p1 : vector<8xi32>
  %high = arith.addi %p2, %p3 : vector<8xi32>
  %four = arith.addi %low, %high : vector<8xi32>
  %sum = arith.addi %acc, %four : vector<8xi32>
  return %sum : vector<8xi32>
}

// AArch64 has them for four lanes: of unsigned bytes by signed ones, or of signed ones, for which 128 is taken off.
// ARM-LABEL: func.func @four_lanes(
// ARM: llvm.call_intrinsic "llvm.aarch64.neon.usdot.v4i32.v16i8"
// ARM-NOT: arith.muli
// ARM: return
// SDOT-LABEL: func.func @four_lanes(
// SDOT: %[[MOVED:.*]] = llvm.call_intrinsic "llvm.aarch64.neon.sdot.v4i32.v16i8"(%cst
// SDOT: %[[LOWERED:.*]] = arith.xori
// SDOT: vector.broadcast %[[LOWERED]]
// SDOT: %[[SUM:.*]] = llvm.call_intrinsic "llvm.aarch64.neon.sdot.v4i32.v16i8"
// SDOT: %[[RESULT:.*]] = arith.subi %[[SUM]], %[[MOVED]]
// SDOT-NOT: arith.muli
// SDOT: return %[[RESULT]]
// NONE-LABEL: func.func @four_lanes(
// NONE-NOT: llvm.call_intrinsic
func.func @four_lanes(%a: i8, %b: i8, %c: i8, %d: i8, %w: vector<4xi32>, %acc: vector<4xi32>) -> vector<4xi32> {
  %c8 = arith.constant dense<8> : vector<4xi32>
  %c16 = arith.constant dense<16> : vector<4xi32>
  %c24 = arith.constant dense<24> : vector<4xi32>
  %a0 = arith.extui %a : i8 to i32
  %b0 = arith.extui %b : i8 to i32
  %c0 = arith.extui %c : i8 to i32
  %d0 = arith.extui %d : i8 to i32
  %a1 = vector.broadcast %a0 : i32 to vector<4xi32>
  %b1 = vector.broadcast %b0 : i32 to vector<4xi32>
  %c1 = vector.broadcast %c0 : i32 to vector<4xi32>
  %d1 = vector.broadcast %d0 : i32 to vector<4xi32>
  %w0 = arith.shli %w, %c24 : vector<4xi32>
  %w1 = arith.shli %w, %c16 : vector<4xi32>
  %w2 = arith.shli %w, %c8 : vector<4xi32>
  %s0 = arith.shrsi %w0, %c24 : vector<4xi32>
  %s1 = arith.shrsi %w1, %c24 : vector<4xi32>
  %s2 = arith.shrsi %w2, %c24 : vector<4xi32>
  %s3 = arith.shrsi %w, %c24 : vector<4xi32>
  %p0 = arith.muli %a1, %s0 : vector<4xi32>
  %p1 = arith.muli %b1, %s1 : vector<4xi32>
  %p2 = arith.muli %c1, %s2 : vector<4xi32>
  %p3 = arith.muli %d1, %s3 : vector<4xi32>
  %low = arith.addi %p0, %p1 : vector<4xi32>
  %high = arith.addi %p2, %p3 : vector<4xi32>
  %four = arith.addi %low, %high : vector<4xi32>
  %sum = arith.addi %acc, %four : vector<4xi32>
  return %sum : vector<4xi32>
}

// no-match: products of numbers that are no bytes.
// CHECK-LABEL: func.func @left(
// CHECK-COUNT-4: arith.muli
// CHECK-NOT: llvm.call_intrinsic
func.func @left(%x: vector<8xi32>, %y: vector<8xi32>, %acc: vector<8xi32>) -> vector<8xi32> {
  %p0 = arith.muli %x, %y : vector<8xi32>
  %p1 = arith.muli %x, %x : vector<8xi32>
  %p2 = arith.muli %y, %y : vector<8xi32>
  %p3 = arith.muli %acc, %y : vector<8xi32>
  %low = arith.addi %p0, %p1 : vector<8xi32>
  %high = arith.addi %p2, %p3 : vector<8xi32>
  %four = arith.addi %low, %high : vector<8xi32>
  %sum = arith.addi %acc, %four : vector<8xi32>
  return %sum : vector<8xi32>
}

// Two products of bf16 are one instruction where the target has it, and stay elsewhere.
// CHECK-LABEL: func.func @pair(
// CHECK-COUNT-2: vector.fma
// BF16-LABEL: func.func @pair(
// BF16-SAME: %[[A:[a-z0-9]+]]: bf16, %[[B:[a-z0-9]+]]: bf16, %[[W:[a-z0-9]+]]: vector<4xi32>, %[[ACC:[a-z0-9]+]]: vector<4xf32>)
// BF16: %[[GROUP:.*]] = arith.ori
// BF16: %[[ALL:.*]] = vector.broadcast %[[GROUP]] : i32 to vector<4xi32>
// BF16: %[[NUMBERS:.*]] = vector.bitcast %[[ALL]] : vector<4xi32> to vector<8xbf16>
// BF16: %[[WEIGHTS:.*]] = vector.bitcast %[[W]]
// BF16: %[[SUM:.*]] = llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.128"(%[[ACC]], %[[NUMBERS]], %[[WEIGHTS]])
// BF16-NOT: vector.fma
// BF16: return %[[SUM]]
// ARM-LABEL: func.func @pair(
// ARM: llvm.call_intrinsic "llvm.aarch64.neon.bfdot.v4f32.v8bf16"
func.func @pair(%a: bf16, %b: bf16, %w: vector<4xi32>, %acc: vector<4xf32>) -> vector<4xf32> {
  %c16 = arith.constant dense<16> : vector<4xi32>
  %upper = arith.constant dense<-65536> : vector<4xi32>
  %a0 = arith.extf %a : bf16 to f32
  %b0 = arith.extf %b : bf16 to f32
  %a1 = vector.broadcast %a0 : f32 to vector<4xf32>
  %b1 = vector.broadcast %b0 : f32 to vector<4xf32>
  %low = arith.shli %w, %c16 : vector<4xi32>
  %high = arith.andi %w, %upper : vector<4xi32>
  %w0 = arith.bitcast %low : vector<4xi32> to vector<4xf32>
  %w1 = arith.bitcast %high : vector<4xi32> to vector<4xf32>
  %s0 = vector.fma %a1, %w0, %acc : vector<4xf32>
  %s1 = vector.fma %b1, %w1, %s0 : vector<4xf32>
  return %s1 : vector<4xf32>
}

// no-match: halves in the other order, and a first sum that something else uses.
// BF16-LABEL: func.func @other(
// BF16-COUNT-4: vector.fma
// BF16-NOT: llvm.call_intrinsic
func.func @other(%a: bf16, %w: vector<4xi32>, %acc: vector<4xf32>) -> (vector<4xf32>, vector<4xf32>, vector<4xf32>) {
  %c16 = arith.constant dense<16> : vector<4xi32>
  %upper = arith.constant dense<-65536> : vector<4xi32>
  %a0 = arith.extf %a : bf16 to f32
  %a1 = vector.broadcast %a0 : f32 to vector<4xf32>
  %low = arith.shli %w, %c16 : vector<4xi32>
  %high = arith.andi %w, %upper : vector<4xi32>
  %w0 = arith.bitcast %low : vector<4xi32> to vector<4xf32>
  %w1 = arith.bitcast %high : vector<4xi32> to vector<4xf32>
  %s0 = vector.fma %a1, %w1, %acc : vector<4xf32>
  %s1 = vector.fma %a1, %w0, %s0 : vector<4xf32>
  %s2 = vector.fma %a1, %w0, %acc : vector<4xf32>
  %s3 = vector.fma %a1, %w1, %s2 : vector<4xf32>
  return %s1, %s2, %s3 : vector<4xf32>, vector<4xf32>, vector<4xf32>
}

// Neighbours that are loaded are one load of a word.
// BF16-LABEL: func.func @loaded(
// BF16-SAME: %[[A:[a-z0-9]+]]: memref<4x8xbf16>, %[[I:[a-z0-9]+]]: index
// BF16: %[[PAIR:.*]] = affine.vector_load %[[A]][symbol(%[[I]]), symbol(%[[I]]) * 2] : memref<4x8xbf16>, vector<2xbf16>
// BF16: %[[BITS:.*]] = vector.bitcast %[[PAIR]] : vector<2xbf16> to vector<1xi32>
// BF16: %[[WORD:.*]] = vector.extract %[[BITS]][0]
// BF16: vector.broadcast %[[WORD]] : i32 to vector<4xi32>
// BF16-NOT: arith.ori
// BF16: return
func.func @loaded(%m: memref<4x8xbf16>, %i: index, %w: vector<4xi32>, %acc: vector<4xf32>) -> vector<4xf32> {
  %c16 = arith.constant dense<16> : vector<4xi32>
  %upper = arith.constant dense<-65536> : vector<4xi32>
  %sum = affine.for %j = 0 to 1 iter_args(%s = %acc) -> (vector<4xf32>) {
    %a = affine.load %m[symbol(%i), symbol(%i) * 2] : memref<4x8xbf16>
    %b = affine.load %m[symbol(%i), symbol(%i) * 2 + 1] : memref<4x8xbf16>
    %a0 = arith.extf %a : bf16 to f32
    %b0 = arith.extf %b : bf16 to f32
    %a1 = vector.broadcast %a0 : f32 to vector<4xf32>
    %b1 = vector.broadcast %b0 : f32 to vector<4xf32>
    %low = arith.shli %w, %c16 : vector<4xi32>
    %high = arith.andi %w, %upper : vector<4xi32>
    %w0 = arith.bitcast %low : vector<4xi32> to vector<4xf32>
    %w1 = arith.bitcast %high : vector<4xi32> to vector<4xf32>
    %s0 = vector.fma %a1, %w0, %s : vector<4xf32>
    %s1 = vector.fma %b1, %w1, %s0 : vector<4xf32>
    affine.yield %s1 : vector<4xf32>
  }
  return %sum : vector<4xf32>
}

// no-match: numbers that lie apart, and a store between the loads and the sum.
// BF16-LABEL: func.func @apart(
// BF16-NOT: affine.vector_load
// BF16-COUNT-2: llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.128"
// BF16-NOT: affine.vector_load
// BF16: return
func.func @apart(%m: memref<4x8xbf16>, %w: vector<4xi32>, %acc: vector<4xf32>) -> (vector<4xf32>, vector<4xf32>) {
  %zero = arith.constant 0.0 : bf16
  %c16 = arith.constant dense<16> : vector<4xi32>
  %upper = arith.constant dense<-65536> : vector<4xi32>
  %low = arith.shli %w, %c16 : vector<4xi32>
  %high = arith.andi %w, %upper : vector<4xi32>
  %w0 = arith.bitcast %low : vector<4xi32> to vector<4xf32>
  %w1 = arith.bitcast %high : vector<4xi32> to vector<4xf32>
  %sum = affine.for %j = 0 to 1 iter_args(%s = %acc) -> (vector<4xf32>) {
    %a = affine.load %m[0, 0] : memref<4x8xbf16>
    %b = affine.load %m[0, 2] : memref<4x8xbf16>
    %a0 = arith.extf %a : bf16 to f32
    %b0 = arith.extf %b : bf16 to f32
    %a1 = vector.broadcast %a0 : f32 to vector<4xf32>
    %b1 = vector.broadcast %b0 : f32 to vector<4xf32>
    %s0 = vector.fma %a1, %w0, %s : vector<4xf32>
    %s1 = vector.fma %b1, %w1, %s0 : vector<4xf32>
    affine.yield %s1 : vector<4xf32>
  }
  %c = affine.load %m[0, 0] : memref<4x8xbf16>
  %d = affine.load %m[0, 1] : memref<4x8xbf16>
  affine.store %zero, %m[0, 0] : memref<4x8xbf16>
  %c0 = arith.extf %c : bf16 to f32
  %d0 = arith.extf %d : bf16 to f32
  %c1 = vector.broadcast %c0 : f32 to vector<4xf32>
  %d1 = vector.broadcast %d0 : f32 to vector<4xf32>
  %s2 = vector.fma %c1, %w0, %acc : vector<4xf32>
  %s3 = vector.fma %d1, %w1, %s2 : vector<4xf32>
  return %sum, %s3 : vector<4xf32>, vector<4xf32>
}

// Two products of i16 are one instruction on x86-64, with VNNI or without.
// CHECK-LABEL: func.func @pair_of_i16(
// CHECK-SAME: %[[ACC:[a-z0-9]+]]: vector<8xi32>)
// CHECK: %[[ALL:.*]] = vector.broadcast %{{.*}} : i32 to vector<8xi32>
// CHECK: %[[HALVES:.*]] = vector.bitcast %[[ALL]] : vector<8xi32> to vector<16xi16>
// CHECK: %[[SUM:.*]] = llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"(%[[HALVES]], %{{.*}}) : (vector<16xi16>, vector<16xi16>)
// CHECK: arith.addi %[[ACC]], %[[SUM]]
// CHECK-NOT: arith.muli

// PAIRS-LABEL: func.func @pair_of_i16(
// PAIRS-COUNT-1: llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"
// PAIRS-NOT: arith.muli

// NONE-LABEL: func.func @pair_of_i16(
// NONE-COUNT-2: arith.muli

// SSE-LABEL: func.func @pair_of_i16(
// SSE-COUNT-2: arith.muli
// SSE-LABEL: func.func @short_pair_of_i16(
// SSE: llvm.call_intrinsic "llvm.x86.sse2.pmadd.wd"({{.*}}) : (vector<8xi16>, vector<8xi16>) -> vector<4xi32>
func.func @pair_of_i16(%a: i16, %b: i16, %w: vector<8xi32>, %acc: vector<8xi32>) -> vector<8xi32> {
  %c16 = arith.constant dense<16> : vector<8xi32>
  %a0 = arith.extsi %a : i16 to i32
  %b0 = arith.extsi %b : i16 to i32
  %a1 = vector.broadcast %a0 : i32 to vector<8xi32>
  %b1 = vector.broadcast %b0 : i32 to vector<8xi32>
  %w0 = arith.shli %w, %c16 : vector<8xi32>
  %s0 = arith.shrsi %w0, %c16 : vector<8xi32>
  %s1 = arith.shrsi %w, %c16 : vector<8xi32>
  %p0 = arith.muli %a1, %s0 : vector<8xi32>
  %p1 = arith.muli %b1, %s1 : vector<8xi32>
  %two = arith.addi %p0, %p1 : vector<8xi32>
  %sum = arith.addi %acc, %two : vector<8xi32>
  return %sum : vector<8xi32>
}

func.func @short_pair_of_i16(%a: i16, %b: i16, %w: vector<4xi32>, %acc: vector<4xi32>) -> vector<4xi32> {
  %c16 = arith.constant dense<16> : vector<4xi32>
  %a0 = arith.extsi %a : i16 to i32
  %b0 = arith.extsi %b : i16 to i32
  %a1 = vector.broadcast %a0 : i32 to vector<4xi32>
  %b1 = vector.broadcast %b0 : i32 to vector<4xi32>
  %w0 = arith.shli %w, %c16 : vector<4xi32>
  %s0 = arith.shrsi %w0, %c16 : vector<4xi32>
  %s1 = arith.shrsi %w, %c16 : vector<4xi32>
  %p0 = arith.muli %a1, %s0 : vector<4xi32>
  %p1 = arith.muli %b1, %s1 : vector<4xi32>
  %two = arith.addi %p0, %p1 : vector<4xi32>
  %sum = arith.addi %acc, %two : vector<4xi32>
  return %sum : vector<4xi32>
}
