// RUN: dlc-opt %s --split-input-file --affine-use-dot-products | filecheck %s
// Dot products are taken where they are no slower than what does without them.

// CHECK-LABEL: func.func @fast(
// CHECK: llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"
module attributes {dlc.target = {features = ["avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512_bf16", "avx512_vnni", "fma"], fma_ports = 1 : i64, instructions = {dot_bf16 = {cycles = 1.0}}}} {
  func.func @fast(%a: bf16, %b: bf16, %w: vector<16xi32>, %acc: vector<16xf32>) -> vector<16xf32> {
    %mask = arith.constant dense<-65536> : vector<16xi32>
    %c16 = arith.constant dense<16> : vector<16xi32>
    %a0 = arith.extf %a : bf16 to f32
    %b0 = arith.extf %b : bf16 to f32
    %a1 = vector.broadcast %a0 : f32 to vector<16xf32>
    %b1 = vector.broadcast %b0 : f32 to vector<16xf32>
    %low = arith.shli %w, %c16 : vector<16xi32>
    %high = arith.andi %w, %mask : vector<16xi32>
    %w0 = arith.bitcast %low : vector<16xi32> to vector<16xf32>
    %w1 = arith.bitcast %high : vector<16xi32> to vector<16xf32>
    %s0 = vector.fma %a1, %w0, %acc : vector<16xf32>
    %sum = vector.fma %b1, %w1, %s0 : vector<16xf32>
    return %sum : vector<16xf32>
  }
}

// -----

// no-match: a slow one keeps the multiply-adds.
// CHECK-LABEL: func.func @slow(
// CHECK-NOT: llvm.call_intrinsic
// CHECK-COUNT-2: vector.fma
module attributes {dlc.target = {features = ["avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512_bf16", "avx512_vnni", "fma"], fma_ports = 1 : i64, instructions = {dot_bf16 = {cycles = 8.0}}}} {
  func.func @slow(%a: bf16, %b: bf16, %w: vector<16xi32>, %acc: vector<16xf32>) -> vector<16xf32> {
    %mask = arith.constant dense<-65536> : vector<16xi32>
    %c16 = arith.constant dense<16> : vector<16xi32>
    %a0 = arith.extf %a : bf16 to f32
    %b0 = arith.extf %b : bf16 to f32
    %a1 = vector.broadcast %a0 : f32 to vector<16xf32>
    %b1 = vector.broadcast %b0 : f32 to vector<16xf32>
    %low = arith.shli %w, %c16 : vector<16xi32>
    %high = arith.andi %w, %mask : vector<16xi32>
    %w0 = arith.bitcast %low : vector<16xi32> to vector<16xf32>
    %w1 = arith.bitcast %high : vector<16xi32> to vector<16xf32>
    %s0 = vector.fma %a1, %w0, %acc : vector<16xf32>
    %sum = vector.fma %b1, %w1, %s0 : vector<16xf32>
    return %sum : vector<16xf32>
  }
}
