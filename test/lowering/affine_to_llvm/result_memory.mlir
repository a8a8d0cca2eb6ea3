// RUN: dlc-opt %s --split-input-file --convert-affine-to-llvm | filecheck %s
// The entry asks for the memory of results that it allocates once; whatever else it allocates is its own.

// CHECK: llvm.func @dlc_result_memory(i64, i64) -> !llvm.ptr
// CHECK-LABEL: llvm.func @_mlir_ciface_two(
// CHECK-DAG: %[[ZERO:.*]] = llvm.mlir.constant(0 : i64)
// CHECK-DAG: %[[FIRST:.*]] = llvm.call @dlc_result_memory(%[[ZERO]], %{{.*}}) : (i64, i64) -> !llvm.ptr
// CHECK-DAG: %[[ONE:.*]] = llvm.mlir.constant(1 : i64)
// CHECK-DAG: %[[SECOND:.*]] = llvm.call @dlc_result_memory(%[[ONE]], %{{.*}}) : (i64, i64) -> !llvm.ptr
// CHECK: %[[SCRATCH:.*]] = llvm.call @dlc_allocate(
// CHECK: llvm.call @_mlir_memref_to_llvm_free(%[[SCRATCH]])
func.func @two(%n: index) -> (memref<4xf32>, memref<?xf32>) {
  %a = memref.alloc() : memref<4xf32>
  %b = memref.alloc(%n) : memref<?xf32>
  %scratch = memref.alloc() : memref<8xf32>
  call @use(%a, %b, %scratch) : (memref<4xf32>, memref<?xf32>, memref<8xf32>) -> ()
  memref.dealloc %scratch : memref<8xf32>
  return %a, %b : memref<4xf32>, memref<?xf32>
}
func.func private @use(memref<4xf32>, memref<?xf32>, memref<8xf32>)

// -----

// An assertion before it is no loop around it.
// CHECK-LABEL: llvm.func @_mlir_ciface_checked(
// CHECK: llvm.call @dlc_result_memory(
func.func @checked(%n: index) -> memref<?xf32> {
  %c4 = arith.constant 4 : index
  %fits = arith.cmpi eq, %n, %c4 : index
  cf.assert %fits, "n is {} but must be {}"
  %a = memref.alloc(%n) : memref<?xf32>
  return %a : memref<?xf32>
}

// -----

// An argument that is handed back, and memory that a loop allocates again and again, are no memory of the caller.
// CHECK-NOT: dlc_result_memory
// CHECK-LABEL: llvm.func @_mlir_ciface_back(
func.func @back(%a: memref<4xf32>) -> memref<4xf32> {
  return %a : memref<4xf32>
}

// CHECK-LABEL: llvm.func @_mlir_ciface_last(
func.func @last(%n: index) -> memref<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %first = memref.alloc() : memref<4xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%old = %first) -> (memref<4xf32>) {
    memref.dealloc %old : memref<4xf32>
    %new = memref.alloc() : memref<4xf32>
    scf.yield %new : memref<4xf32>
  }
  return %r : memref<4xf32>
}
