// RUN: dlc-opt %s --affine-assign-schedules --split-input-file --verify-diagnostics | filecheck %s
// Nests get their numbers in the order of the text, and the schedules that the function has for them.

// CHECK-LABEL: func.func @two(
// CHECK-NOT: dlc.schedules
// CHECK: } {dlc.nest = 0 : i64, dlc.parallel}
// CHECK: } {dlc.nest = 1 : i64, dlc.parallel, dlc.schedule = {code_generator = "rows", lanes = 8 : i64}}
func.func @two(%x: memref<64xf32>, %y: memref<64xf32>) attributes {dlc.schedules = {"1" = {code_generator = "rows", lanes = 8}}} {
  affine.for %i = 0 to 64 {
    %0 = affine.load %x[%i] : memref<64xf32>
    affine.store %0, %y[%i] : memref<64xf32>
  } {dlc.parallel}
  affine.for %i = 0 to 64 {
    %0 = affine.load %y[%i] : memref<64xf32>
    affine.store %0, %x[%i] : memref<64xf32>
  } {dlc.parallel}
  return
}

// no-match: without schedules only the numbers come; loops that are no nests get none.
// CHECK-LABEL: func.func @none(
// CHECK: affine.for
// CHECK-NOT: dlc.nest
// CHECK: return
func.func @none(%x: memref<64xf32>) {
  affine.for %i = 1 to 64 {
    %0 = affine.load %x[%i - 1] : memref<64xf32>
    affine.store %0, %x[%i] : memref<64xf32>
  }
  return
}

// -----

// expected-error @below {{'dlc.schedules' has an entry for nest '1' but the function has nests 0 to 0; write the schedules of this version}}
func.func @no_such_nest(%x: memref<64xf32>, %y: memref<64xf32>) attributes {dlc.schedules = {"1" = {}}} {
  affine.for %i = 0 to 64 {
    %0 = affine.load %x[%i] : memref<64xf32>
    affine.store %0, %y[%i] : memref<64xf32>
  } {dlc.parallel}
  return
}

// -----

// expected-error @below {{'dlc.schedules' is 3 : i64 but must be a dictionary of schedules by nest}}
func.func @no_dictionary() attributes {dlc.schedules = 3 : i64} {
  return
}
