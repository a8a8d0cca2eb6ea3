// RUN: dlc-opt %s "--affine-search-nest=loop=i" --split-input-file | filecheck %s
// RUN: not dlc-opt %s "--affine-search-nest=loop=q" --split-input-file 2>&1 | filecheck %s --check-prefix=NAME
// A nest is left to the search.

// NAME: error: {{.*}}no loop is called 'q'; use one of i

// CHECK-LABEL: func.func @search(
// CHECK: affine.for
// CHECK: } {dlc.name = "i", dlc.search}
func.func @search(%A: memref<100xf32>) {
  affine.for %i = 0 to 100 {
    %a = affine.load %A[%i] : memref<100xf32>
    %b = arith.negf %a : f32
    affine.store %b, %A[%i] : memref<100xf32>
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
