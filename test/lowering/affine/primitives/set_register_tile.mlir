// RUN: dlc-opt %s "--affine-set-register-tile=loop=i lane_loop=j lanes=8 vectors=2 unroll_and_jam=i factors=4" --split-input-file | filecheck %s
// RUN: not dlc-opt %s "--affine-set-register-tile=loop=i unroll_and_jam=i" --split-input-file 2>&1 | filecheck %s --check-prefix=COUNT
// RUN: not dlc-opt %s "--affine-set-register-tile=loop=j lane_loop=i" --split-input-file 2>&1 | filecheck %s --check-prefix=NEST
// RUN: not dlc-opt %s "--affine-set-register-tile=loop=i code-generator=tiles" --split-input-file 2>&1 | filecheck %s --check-prefix=GENERATOR
// The choices stand on the outermost loop, with positions for names.

// COUNT: error: {{.*}}there are 1 loops and 0 factors; give one a loop
// NEST: error: {{.*}}loop 'i' does not lie in the nest
// GENERATOR: error: {{.*}}no code generator is called 'tiles'; use one of tile

// CHECK-LABEL: func.func @tile(
// CHECK: } {dlc.name = "i", dlc.schedule = {code_generator = "tile", lane_loop = 1 : i64, lanes = 8 : i64,
// CHECK-SAME: unroll_and_jam = [array<i64: 0, 4>], vectors = 2 : i64}}
func.func @tile(%A: memref<100x64xf32>) {
  affine.for %i = 0 to 100 {
    affine.for %j = 0 to 64 {
      %a = affine.load %A[%i, %j] : memref<100x64xf32>
      %b = arith.negf %a : f32
      affine.store %b, %A[%i, %j] : memref<100x64xf32>
    } {dlc.name = "j"}
  } {dlc.name = "i"}
  return
}

// -----

// no-match: a function without loops stays as it is.
// CHECK-LABEL: func.func @no_loops(
// CHECK-NEXT: return
func.func @no_loops(%A: memref<4xf32>) {
  return
}
