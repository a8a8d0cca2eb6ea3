// RUN: dlc-opt %s --dl-set-target=target=cpu:skylake-avx512 --affine-assign-schedules --affine-schedule-generic="select=reuse" --split-input-file | filecheck %s
// Nests that ask for register tiles go through the polyhedral scheduler, and the function says what became of them. Refuses nothing.

// Distances between rows: each operand is used again along a loop of the other.
// CHECK-LABEL: func.func @distances(
// CHECK-SAME: dlc.generic = ["nest 0: {{.*}}parallel {{.*}}vectors of 16"]
// CHECK: affine.vector_load
// CHECK: math.absf %{{.*}} : vector<16xf32>
// CHECK-NOT: dlc.schedule
// CHECK: {dlc.nest = 0 : i64
func.func @distances(%x: memref<64x32xf32> {llvm.noalias}, %y: memref<32x64xf32> {llvm.noalias}, %z: memref<64x64xf32> {llvm.noalias}) attributes {dl.kernel} {
  affine.for %i = 0 to 64 {
    affine.for %j = 0 to 64 {
      %start = affine.load %z[%i, %j] : memref<64x64xf32>
      %sum = affine.for %k = 0 to 32 iter_args(%s = %start) -> f32 {
        %a = affine.load %x[%i, %k] : memref<64x32xf32>
        %b = affine.load %y[%k, %j] : memref<32x64xf32>
        %d = arith.subf %a, %b : f32
        %m = math.absf %d : f32
        %t = arith.addf %s, %m : f32
        affine.yield %t : f32
      }
      affine.store %sum, %z[%i, %j] : memref<64x64xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// -----

// No match: a sum of products, which has a code generator, and a sum of one operand.
// CHECK-LABEL: func.func @others(
// CHECK-NOT: dlc.generic
// CHECK-NOT: vector
// CHECK: return
func.func @others(%x: memref<64x32xf32> {llvm.noalias}, %y: memref<32x64xf32> {llvm.noalias}, %z: memref<64x64xf32> {llvm.noalias}, %s: memref<64xf32> {llvm.noalias}) attributes {dl.kernel} {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 64 {
    affine.for %j = 0 to 64 {
      %sum = affine.for %k = 0 to 32 iter_args(%s0 = %zero) -> f32 {
        %a = affine.load %x[%i, %k] : memref<64x32xf32>
        %b = affine.load %y[%k, %j] : memref<32x64xf32>
        %m = arith.mulf %a, %b : f32
        %t = arith.addf %s0, %m : f32
        affine.yield %t : f32
      }
      affine.store %sum, %z[%i, %j] : memref<64x64xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  affine.for %i = 0 to 64 {
    %sum = affine.for %k = 0 to 32 iter_args(%s0 = %zero) -> f32 {
      %a = affine.load %x[%i, %k] : memref<64x32xf32>
      %t = arith.addf %s0, %a : f32
      affine.yield %t : f32
    }
    affine.store %sum, %s[%i] : memref<64xf32>
  } {dlc.parallel}
  return
}
