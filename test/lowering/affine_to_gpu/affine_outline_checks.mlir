// RUN: dlc-opt %s --affine-outline-checks --canonicalize | filecheck %s
// RUN: dlc-opt %s --affine-outline-checks --affine-demote-values --affine-expand-buffers --affine-map-to-gpu=leave-others=true --convert-affine-to-gpu | filecheck %s --check-prefix=GPU
// Checks of what data holds run before the kernels that rely on them, in a function of their own. The pass refuses nothing.

// CHECK-LABEL: func.func @main
// CHECK: call @gather_checks(%arg0) : (memref<16xi64>) -> ()
// CHECK-NEXT: call @gather(%arg1, %arg0, %arg2)
// CHECK-NEXT: call @of_a_view_checks(%arg3) : (memref<2x8xi64>) -> ()
// CHECK-NEXT: call @of_a_view(%arg3)
func.func @main(%ids: memref<16xi64>, %w: memref<50xf32>, %out: memref<16xf32>, %rows: memref<2x8xi64>) {
  call @gather(%w, %ids, %out) : (memref<50xf32>, memref<16xi64>, memref<16xf32>) -> ()
  call @of_a_view(%rows) : (memref<2x8xi64>) -> ()
  return
}

// CHECK-LABEL: func.func private @gather(
// CHECK-NOT: cf.assert
// CHECK: memref.load
// A subscript that data decides does not keep the loop from the GPU, and the check is a kernel of one thread.
// GPU-LABEL: func.func private @gather(
// GPU: gpu.launch
// GPU: memref.load
// GPU-LABEL: func.func private @gather_checks(
// GPU: gpu.launch
// GPU: cf.assert
func.func private @gather(%w: memref<50xf32> {llvm.noalias}, %ids: memref<16xi64> {llvm.noalias}, %out: memref<16xf32> {llvm.noalias}) {
  %least = arith.constant -1 : i64
  %c49 = arith.constant 49 : i64
  %largest = affine.for %i = 0 to 16 iter_args(%m = %least) -> i64 {
    %id = affine.load %ids[%i] : memref<16xi64>
    %new = arith.maxsi %m, %id : i64
    affine.yield %new : i64
  }
  %ok = arith.cmpi sle, %largest, %c49 : i64
  cf.assert %ok, "an index is too large"
  affine.for %i = 0 to 16 {
    %id = affine.load %ids[%i] : memref<16xi64>
    %at = arith.index_cast %id : i64 to index
    %x = memref.load %w[%at] : memref<50xf32>
    affine.store %x, %out[%i] : memref<16xf32>
  }
  return
}

// CHECK-LABEL: func.func private @of_a_view(
// CHECK-NOT: cf.assert
// CHECK: return
func.func private @of_a_view(%rows: memref<2x8xi64>) {
  %c0 = arith.constant 0 : i64
  %c3 = arith.constant 3 : index
  %flat = memref.collapse_shape %rows [[0, 1]] : memref<2x8xi64> into memref<16xi64>
  %x = affine.load %flat[%c3] : memref<16xi64>
  %ok = arith.cmpi ne, %x, %c0 : i64
  cf.assert %ok, "zero"
  return
}

// A check of what the kernel itself writes stays, and so does one of a kernel that nobody calls.
// CHECK-LABEL: func.func private @alone
// CHECK: cf.assert
func.func private @alone(%a: memref<i64>) {
  %c0 = arith.constant 0 : i64
  %x = affine.load %a[] : memref<i64>
  %ok = arith.cmpi ne, %x, %c0 : i64
  cf.assert %ok, "zero"
  return
}

// CHECK-LABEL: func.func private @writes
// CHECK: cf.assert
func.func private @writes(%a: memref<i64>) {
  %c0 = arith.constant 0 : i64
  affine.store %c0, %a[] : memref<i64>
  %x = affine.load %a[] : memref<i64>
  %ok = arith.cmpi ne, %x, %c0 : i64
  cf.assert %ok, "zero"
  return
}

// no-match: no check.
// CHECK-LABEL: func.func @caller
// CHECK-NEXT: call @writes(%arg0)
// CHECK-NEXT: return

// CHECK-LABEL: func.func private @gather_checks(
// CHECK-SAME: attributes {dlc.checks}
// CHECK: affine.for
// CHECK: cf.assert %{{.*}}, "an index is too large"
func.func @caller(%a: memref<i64>) {
  call @writes(%a) : (memref<i64>) -> ()
  return
}

// CHECK-LABEL: func.func private @of_a_view_checks(
// CHECK: memref.collapse_shape
// CHECK: cf.assert
