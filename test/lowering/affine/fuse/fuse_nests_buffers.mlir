// RUN: dlc-opt %s --affine-fuse-nests --split-input-file | filecheck %s
// What becomes of the buffers between fused nests. It refuses nothing.

// A loop that makes elements and the reduction over them become one; the last loop writes over them: no buffer but the result.
// CHECK-LABEL: func.func private @softmax
// CHECK-NOT: memref.alloc
// CHECK: affine.for %[[I:.*]] = 0 to 8 {
// CHECK-NEXT: %[[SUM:.*]] = affine.for %[[J:.*]] = 0 to 16 iter_args(%[[ACC:.*]] =
// CHECK: %[[E:.*]] = math.exp
// CHECK-NEXT: affine.store %[[E]], %[[Y:.*]][%[[I]], %[[J]]]
// CHECK-NEXT: arith.addf %[[ACC]], %[[E]]
// CHECK: affine.for %[[J:.*]] = 0 to 16 {
// CHECK-NEXT: %[[OLD:.*]] = affine.load %[[Y]][%[[I]], %[[J]]]
// CHECK-NEXT: arith.divf %[[OLD]], %[[SUM]]
// CHECK-NOT: affine.for
func.func private @softmax(%x: memref<8x16xf32>, %y: memref<8x16xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  %sum = memref.alloc() : memref<8xf32>
  affine.for %i = 0 to 8 {
    affine.for %j = 0 to 16 {
      %0 = affine.load %x[%i, %j] : memref<8x16xf32>
      %1 = math.exp %0 : f32
      affine.store %1, %y[%i, %j] : memref<8x16xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  affine.for %i = 0 to 8 {
    %s = affine.for %j = 0 to 16 iter_args(%acc = %zero) -> (f32) {
      %0 = affine.load %y[%i, %j] : memref<8x16xf32>
      %1 = arith.addf %acc, %0 : f32
      affine.yield %1 : f32
    }
    affine.store %s, %sum[%i] : memref<8xf32>
  } {dlc.parallel}
  affine.for %i = 0 to 8 {
    affine.for %j = 0 to 16 {
      %0 = affine.load %y[%i, %j] : memref<8x16xf32>
      %1 = affine.load %sum[%i] : memref<8xf32>
      %2 = arith.divf %0, %1 : f32
      affine.store %2, %y[%i, %j] : memref<8x16xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  memref.dealloc %sum : memref<8xf32>
  return
}

// -----

// Scratch of another type than the result shrinks to a row, on the stack while it is small.
// CHECK-LABEL: func.func private @row
// CHECK: affine.for %[[I:.*]] = 0 to 8 {
// CHECK-NEXT: %[[ROW:.*]] = memref.alloca() : memref<16xf64>
// CHECK: affine.store %{{.*}}, %[[ROW]][%{{.*}}] : memref<16xf64>
// CHECK-NOT: memref.dealloc
func.func private @row(%x: memref<8x16xf32>, %y: memref<8x16xf32> {llvm.noalias}) {
  %t = memref.alloc() : memref<8x16xf64>
  affine.for %i = 0 to 8 {
    affine.for %j = 0 to 16 {
      %0 = affine.load %x[%i, %j] : memref<8x16xf32>
      %1 = arith.extf %0 : f32 to f64
      affine.store %1, %t[%i, %j] : memref<8x16xf64>
    } {dlc.parallel}
  } {dlc.parallel}
  affine.for %i = 0 to 8 {
    affine.for %j = 0 to 16 {
      %0 = affine.load %t[%i, 15 - %j] : memref<8x16xf64>
      %1 = arith.truncf %0 : f64 to f32
      affine.store %1, %y[%i, %j] : memref<8x16xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  memref.dealloc %t : memref<8x16xf64>
  return
}

// -----

// Large or dynamic scratch comes from the heap, and is freed by the iteration that takes it.
// CHECK-LABEL: func.func private @heap
// CHECK-SAME: %[[N:[a-z0-9]*]]: index
// CHECK: affine.for %[[I:.*]] = 0 to 8 {
// CHECK-NEXT: %[[ROW:.*]] = memref.alloc(%[[N]]) : memref<?xf32>
// CHECK: memref.dealloc %[[ROW]]
// CHECK-NEXT: } {dlc.parallel}
func.func private @heap(%n: index, %x: memref<8x?xf32>, %y: memref<8x?xf32> {llvm.noalias}) {
  %t = memref.alloc(%n) : memref<8x?xf32>
  affine.for %i = 0 to 8 {
    affine.for %j = 0 to %n {
      %0 = affine.load %x[%i, %j] : memref<8x?xf32>
      affine.store %0, %t[%i, %j] : memref<8x?xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  affine.for %i = 0 to 8 {
    affine.for %j = 0 to %n {
      %0 = affine.load %t[%i, 0] : memref<8x?xf32>
      affine.store %0, %y[%i, %j] : memref<8x?xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  memref.dealloc %t : memref<8x?xf32>
  return
}

// -----

// no-match: a buffer that is handed on keeps its size.
// CHECK-LABEL: func.func private @returned
// CHECK: memref.alloc() : memref<8xf32>
// CHECK: affine.for
func.func private @returned() -> memref<8xf32> {
  %one = arith.constant 1.0 : f32
  %t = memref.alloc() : memref<8xf32>
  affine.for %i = 0 to 8 {
    affine.store %one, %t[%i] : memref<8xf32>
  } {dlc.parallel}
  return %t : memref<8xf32>
}

// -----

// Lines that are stored side by side 4 KiB apart would share a set of the first cache: rows of scratch are one longer.
// CHECK-LABEL: func.func private @set_conflicts
// CHECK: %[[T:.*]] = memref.alloca() : memref<8x1040xf32>
// CHECK: affine.store %{{.*}}, %[[T]][7, %{{.*}}] : memref<8x1040xf32>
func.func private @set_conflicts(%x: memref<8x1024xf32>, %y: memref<8x1024xf32> {llvm.noalias}) {
  %t = memref.alloc() : memref<8x8x1024xf32>
  affine.for %i = 0 to 8 {
    affine.for %j = 0 to 1024 {
      %0 = affine.load %x[%i, %j] : memref<8x1024xf32>
      %1 = math.exp %0 : f32
      affine.store %1, %t[%i, 0, %j] : memref<8x8x1024xf32>
      affine.store %1, %t[%i, 1, %j] : memref<8x8x1024xf32>
      affine.store %1, %t[%i, 2, %j] : memref<8x8x1024xf32>
      affine.store %1, %t[%i, 3, %j] : memref<8x8x1024xf32>
      affine.store %1, %t[%i, 4, %j] : memref<8x8x1024xf32>
      affine.store %1, %t[%i, 5, %j] : memref<8x8x1024xf32>
      affine.store %1, %t[%i, 6, %j] : memref<8x8x1024xf32>
      affine.store %1, %t[%i, 7, %j] : memref<8x8x1024xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  affine.for %i = 0 to 8 {
    affine.for %j = 0 to 1024 {
      %l0 = affine.load %t[%i, 0, 1023 - %j] : memref<8x8x1024xf32>
      %l1 = affine.load %t[%i, 1, 1023 - %j] : memref<8x8x1024xf32>
      %l2 = affine.load %t[%i, 2, 1023 - %j] : memref<8x8x1024xf32>
      %l3 = affine.load %t[%i, 3, 1023 - %j] : memref<8x8x1024xf32>
      %l4 = affine.load %t[%i, 4, 1023 - %j] : memref<8x8x1024xf32>
      %l5 = affine.load %t[%i, 5, 1023 - %j] : memref<8x8x1024xf32>
      %l6 = affine.load %t[%i, 6, 1023 - %j] : memref<8x8x1024xf32>
      %l7 = affine.load %t[%i, 7, 1023 - %j] : memref<8x8x1024xf32>
      %s1 = arith.addf %l0, %l1 : f32
      %s2 = arith.addf %s1, %l2 : f32
      %s3 = arith.addf %s2, %l3 : f32
      %s4 = arith.addf %s3, %l4 : f32
      %s5 = arith.addf %s4, %l5 : f32
      %s6 = arith.addf %s5, %l6 : f32
      %s7 = arith.addf %s6, %l7 : f32
      affine.store %s7, %y[%i, %j] : memref<8x1024xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  memref.dealloc %t : memref<8x8x1024xf32>
  return
}

// -----

// So would 64 rows 512 bytes apart, of which a product reads a vector each.
// CHECK-LABEL: func.func private @down_columns
// CHECK-DAG: memref.alloca() : memref<64x144xf32>
// CHECK-DAG: memref.alloca() : memref<32xf32>
func.func private @down_columns(%x: memref<4x64x128xf32>, %y: memref<4x32x128xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  %t = memref.alloc() : memref<4x64x128xf32>
  %u = memref.alloc() : memref<4x32xf32>
  affine.for %b = 0 to 4 {
    affine.for %k = 0 to 64 {
      affine.for %j = 0 to 128 {
        %0 = affine.load %x[%b, %k, %j] : memref<4x64x128xf32>
        %1 = math.exp %0 : f32
        affine.store %1, %t[%b, %k, %j] : memref<4x64x128xf32>
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  affine.for %b = 0 to 4 {
    affine.for %i = 0 to 32 {
      %0 = affine.load %x[%b, %i, %i] : memref<4x64x128xf32>
      affine.store %0, %u[%b, %i] : memref<4x32xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  affine.for %b = 0 to 4 {
    affine.for %i = 0 to 32 {
      affine.for %j = 0 to 128 {
        %0 = affine.for %k = 0 to 64 iter_args(%s = %zero) -> (f32) {
          %1 = affine.load %t[%b, %k, %j] : memref<4x64x128xf32>
          %2 = affine.load %u[%b, %i] : memref<4x32xf32>
          %3 = arith.mulf %1, %2 : f32
          %4 = arith.addf %s, %3 : f32
          affine.yield %4 : f32
        }
        affine.store %0, %y[%b, %i, %j] : memref<4x32x128xf32>
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  memref.dealloc %t : memref<4x64x128xf32>
  memref.dealloc %u : memref<4x32xf32>
  return
}

// -----

// no-match: these lie in 64 sets.
// CHECK-LABEL: func.func private @spread
// CHECK: memref.alloca() : memref<8x1008xf32>
func.func private @spread(%x: memref<8x1008xf32>, %y: memref<8x1008xf32> {llvm.noalias}) {
  %t = memref.alloc() : memref<8x8x1008xf32>
  affine.for %i = 0 to 8 {
    affine.for %j = 0 to 1008 {
      %0 = affine.load %x[%i, %j] : memref<8x1008xf32>
      %1 = math.exp %0 : f32
      affine.store %1, %t[%i, 0, %j] : memref<8x8x1008xf32>
      affine.store %1, %t[%i, 1, %j] : memref<8x8x1008xf32>
      affine.store %1, %t[%i, 2, %j] : memref<8x8x1008xf32>
      affine.store %1, %t[%i, 3, %j] : memref<8x8x1008xf32>
      affine.store %1, %t[%i, 4, %j] : memref<8x8x1008xf32>
      affine.store %1, %t[%i, 5, %j] : memref<8x8x1008xf32>
      affine.store %1, %t[%i, 6, %j] : memref<8x8x1008xf32>
      affine.store %1, %t[%i, 7, %j] : memref<8x8x1008xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  affine.for %i = 0 to 8 {
    affine.for %j = 0 to 1008 {
      %l0 = affine.load %t[%i, 0, 1007 - %j] : memref<8x8x1008xf32>
      %l1 = affine.load %t[%i, 1, 1007 - %j] : memref<8x8x1008xf32>
      %l2 = affine.load %t[%i, 2, 1007 - %j] : memref<8x8x1008xf32>
      %l3 = affine.load %t[%i, 3, 1007 - %j] : memref<8x8x1008xf32>
      %l4 = affine.load %t[%i, 4, 1007 - %j] : memref<8x8x1008xf32>
      %l5 = affine.load %t[%i, 5, 1007 - %j] : memref<8x8x1008xf32>
      %l6 = affine.load %t[%i, 6, 1007 - %j] : memref<8x8x1008xf32>
      %l7 = affine.load %t[%i, 7, 1007 - %j] : memref<8x8x1008xf32>
      %s1 = arith.addf %l0, %l1 : f32
      %s2 = arith.addf %s1, %l2 : f32
      %s3 = arith.addf %s2, %l3 : f32
      %s4 = arith.addf %s3, %l4 : f32
      %s5 = arith.addf %s4, %l5 : f32
      %s6 = arith.addf %s5, %l6 : f32
      %s7 = arith.addf %s6, %l7 : f32
      affine.store %s7, %y[%i, %j] : memref<8x1008xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  memref.dealloc %t : memref<8x8x1008xf32>
  return
}

// -----

// A value that only a loop of another dialect needs goes without its buffer.
// CHECK-LABEL: func.func private @scalar_in_a_loop(
// CHECK: scf.for
// CHECK-NOT: memref.alloc
// CHECK: %[[V:.*]] = affine.for
// CHECK: memref.store %[[V]], %arg1
func.func private @scalar_in_a_loop(%x: memref<8xi64>, %y: memref<?xi64>, %n: index) attributes {dl.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i64
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.alloc() : memref<i64>
    %s = affine.for %j = 0 to 8 iter_args(%t = %zero) -> (i64) {
      %e = affine.load %x[%j] : memref<8xi64>
      %u = arith.addi %t, %e : i64
      affine.yield %u : i64
    }
    affine.store %s, %a[] : memref<i64>
    %v = affine.load %a[] : memref<i64>
    memref.dealloc %a : memref<i64>
    memref.store %v, %y[%i] : memref<?xi64>
  }
  return
}
