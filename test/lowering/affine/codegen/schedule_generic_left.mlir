// RUN: dlc-opt %s --dl-set-target=target=cpu:skylake-avx512 --affine-schedule-generic="min-work=1000" --split-input-file | filecheck %s
// What no code generator took: sums into memory in vectors. It refuses nothing; no-match: data that gives subscripts stays, and so does an order that costs more.

// CHECK-LABEL: func.func @scatter(
// CHECK-SAME: dlc.generic = ["a nest: {{.*}}vectors of 16"]
// CHECK: vector<16xf32>
func.func @scatter(%x: memref<512xf32> {llvm.noalias}, %w: memref<64xf32> {llvm.noalias}, %y: memref<575xf32> {llvm.noalias}) attributes {dl.kernel} {
  affine.for %i = 0 to 512 {
    affine.for %k = 0 to 64 {
      %a = affine.load %x[%i] : memref<512xf32>
      %b = affine.load %w[%k] : memref<64xf32>
      %m = arith.mulf %a, %b : f32
      %o = affine.load %y[%i + %k] : memref<575xf32>
      %s = arith.addf %o, %m : f32
      affine.store %s, %y[%i + %k] : memref<575xf32>
    }
  }
  return
}

// -----

// CHECK-LABEL: func.func @gather(
// CHECK-SAME: dlc.generic = ["a nest: as written, it reads at subscripts that are computed or data"]
// CHECK: memref.load
func.func @gather(%x: memref<512xf32> {llvm.noalias}, %at: memref<512xindex> {llvm.noalias}, %y: memref<512xf32> {llvm.noalias}) attributes {dl.kernel} {
  affine.for %i = 0 to 512 {
    %k = affine.load %at[%i] : memref<512xindex>
    %a = memref.load %x[%k] : memref<512xf32>
    affine.store %a, %y[%i] : memref<512xf32>
  } {dlc.parallel}
  return
}

// -----

// No match: too little work, and a function that is no kernel.
// CHECK-LABEL: func.func @small(
// CHECK-NOT: dlc.generic
func.func @small(%x: memref<8xf32>, %y: memref<8xf32>) attributes {dl.kernel} {
  affine.for %i = 0 to 8 {
    %a = affine.load %x[%i] : memref<8xf32>
    affine.store %a, %y[%i] : memref<8xf32>
  }
  return
}
