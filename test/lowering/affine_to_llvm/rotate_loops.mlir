// RUN: dlc-opt %s --convert-affine-to-llvm --split-input-file | filecheck %s
// Loops that are known to run test at their end, and need no copy of what they carry. Refuses nothing.

// CHECK-LABEL: llvm.func @_mlir_ciface_sum
// CHECK: llvm.br ^[[BODY:bb[0-9]+]](%[[LOW:[0-9]+]], %[[ZERO:[0-9]+]] : i64, f32)
// CHECK: ^[[BODY]](%[[I:[0-9]+]]: i64, %[[SUM:[0-9]+]]: f32):
// CHECK: %[[NEXT_SUM:[0-9]+]] = llvm.fadd %[[SUM]], %{{[0-9]+}} : f32
// CHECK: %[[NEXT:[0-9]+]] = llvm.add %[[I]], %{{[0-9]+}} : i64
// CHECK: %[[LESS:[0-9]+]] = llvm.icmp "slt" %[[NEXT]], %{{[0-9]+}} : i64
// CHECK: llvm.cond_br %[[LESS]], ^[[BODY]](%[[NEXT]], %[[NEXT_SUM]] : i64, f32), ^[[END:bb[0-9]+]]
// CHECK: ^[[END]]:
// CHECK: llvm.store %[[NEXT_SUM]], %{{[0-9]+}} : f32, !llvm.ptr
func.func @sum(%x: memref<64xf32>, %y: memref<f32>) {
  %zero = arith.constant 0.0 : f32
  %s = affine.for %i = 0 to 64 iter_args(%sum = %zero) -> (f32) {
    %v = affine.load %x[%i] : memref<64xf32>
    %t = arith.addf %sum, %v : f32
    affine.yield %t : f32
  }
  affine.store %s, %y[] : memref<f32>
  return
}

// -----

// What is the same in all iterations is computed before them: the row of a panel of 48 columns.
// CHECK-LABEL: llvm.func @_mlir_ciface_panel
// CHECK: ^bb{{[0-9]+}}(%{{[0-9]+}}: i64):
// CHECK: llvm.sdiv
// CHECK: ^bb{{[0-9]+}}(%{{[0-9]+}}: i64):
// CHECK-NOT: llvm.sdiv
// CHECK: llvm.return
func.func @panel(%x: memref<4x8xf32>, %y: memref<96x8xf32>) {
  affine.for %i = 0 to 96 {
    affine.for %j = 0 to 8 {
      %v = affine.load %x[%i floordiv 48, %j] : memref<4x8xf32>
      affine.store %v, %y[%i, %j] : memref<96x8xf32>
    }
  }
  return
}

// -----

// no match: run time decides how often the loop runs, so it tests before its body.
// CHECK-LABEL: llvm.func @_mlir_ciface_open
// CHECK: llvm.br ^[[TEST:bb[0-9]+]]
// CHECK: ^[[TEST]](%[[I:[0-9]+]]: i64, %[[SUM:[0-9]+]]: f32):
// CHECK-NEXT: %[[LESS:[0-9]+]] = llvm.icmp "slt" %[[I]]
// CHECK-NEXT: llvm.cond_br %[[LESS]]
func.func @open(%x: memref<64xf32>, %y: memref<f32>, %n: index) {
  %zero = arith.constant 0.0 : f32
  %s = affine.for %i = 0 to %n iter_args(%sum = %zero) -> (f32) {
    %v = affine.load %x[%i] : memref<64xf32>
    %t = arith.addf %sum, %v : f32
    affine.yield %t : f32
  }
  affine.store %s, %y[] : memref<f32>
  return
}

// -----

// no match: a loop that never runs.
// CHECK-LABEL: llvm.func @_mlir_ciface_empty
// CHECK: llvm.cond_br
// CHECK: llvm.store
func.func @empty(%x: memref<64xf32>) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 4 to 4 {
    affine.store %zero, %x[%i] : memref<64xf32>
  }
  return
}
