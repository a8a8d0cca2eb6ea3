// RUN: dlc-opt %s --affine-demote-values --split-input-file --verify-diagnostics | filecheck %s
// RUN: dlc-opt %s --affine-demote-values=hoist=true --split-input-file --verify-diagnostics | filecheck %s --check-prefix=HOIST

// Two values that a loop carries, exchanged in each iteration, one of them used in a loop inside; a condition that gives one.
// CHECK-LABEL: func.func @carried
// CHECK: %[[A:.*]] = memref.alloca() : memref<f32>
// CHECK: %[[B:.*]] = memref.alloca() : memref<f32>
// CHECK: affine.store %{{.*}}, %[[A]][]
// CHECK: affine.store %{{.*}}, %[[B]][]
// CHECK: affine.for %[[I:.*]] = 0 to 8 {
// CHECK:   %[[Q:.*]] = memref.alloca() : memref<f32>
// CHECK:   affine.if
// CHECK:     affine.store %{{.*}}, %[[Q]][]
// CHECK:   } else {
// CHECK:     affine.store %{{.*}}, %[[Q]][]
// CHECK:   affine.for
// CHECK:     %[[OLD:.*]] = affine.load %[[A]][]
// CHECK:     affine.store %[[OLD]], %arg0
// CHECK:   %[[GIVEN:.*]] = affine.load %[[Q]][]
// CHECK:   %[[BEFORE:.*]] = affine.load %[[A]][]
// CHECK:   %[[NEW:.*]] = arith.addf %[[BEFORE]], %[[GIVEN]]
// CHECK:   %[[OTHER:.*]] = affine.load %[[B]][]
// CHECK:   affine.store %[[OTHER]], %[[A]][]
// CHECK:   affine.store %[[NEW]], %[[B]][]
// CHECK: %[[LEFT:.*]] = affine.load %[[A]][]
// CHECK: return %[[LEFT]]
// HOIST-LABEL: func.func @carried
// HOIST-COUNT-3: memref.alloca
// HOIST-NOT: memref.alloca
// HOIST: return
func.func @carried(%m: memref<8x8xf32>, %zero: f32) -> f32 {
  %r:2 = affine.for %i = 0 to 8 iter_args(%a = %zero, %b = %zero) -> (f32, f32) {
    %q = affine.if affine_set<(d0) : (d0 - 3 >= 0)>(%i) -> f32 {
      %l = affine.load %m[%i, 1] : memref<8x8xf32>
      affine.yield %l : f32
    } else {
      affine.yield %zero : f32
    }
    affine.for %j = 0 to 4 {
      affine.store %a, %m[%i, %j] : memref<8x8xf32>
    }
    %new = arith.addf %a, %q : f32
    affine.yield %b, %new : f32, f32
  }
  return %r#0 : f32
}

// -----

// A value that is computed before a loop, and used inside and after it.
// CHECK-LABEL: func.func @crossing
// CHECK: affine.for
// CHECK:   %[[CELL:.*]] = memref.alloca() : memref<f32>
// CHECK:   %[[X:.*]] = affine.load %arg0
// CHECK:   affine.store %[[X]], %[[CELL]][]
// CHECK:   affine.for
// CHECK:     %[[INNER:.*]] = affine.load %[[CELL]][]
// CHECK:     affine.store %[[INNER]], %arg1
// CHECK:   }
// CHECK:   %[[AFTER:.*]] = affine.load %[[CELL]][]
// CHECK:   affine.store %[[AFTER]], %arg1
func.func @crossing(%m: memref<8xf32>, %o: memref<8x8xf32>) {
  affine.for %i = 0 to 8 {
    %x = affine.load %m[%i] : memref<8xf32>
    affine.for %j = 0 to 8 {
      affine.store %x, %o[%i, %j] : memref<8x8xf32>
    }
    affine.store %x, %o[%i, %i] : memref<8x8xf32>
  }
  return
}

// -----

// no-match: statements talk through memory already; constants, arguments and indices are no one's.
// CHECK-LABEL: func.func @memory
// CHECK-NOT: memref.alloca
// CHECK: return
func.func @memory(%m: memref<8xf32>, %a: f32) {
  %two = arith.constant 2.0 : f32
  affine.for %i = 0 to 8 {
    %k = affine.apply affine_map<(d0) -> (7 - d0)>(%i)
    affine.for %j = 0 to 8 {
      %x = arith.mulf %a, %two : f32
      affine.store %x, %m[%k] : memref<8xf32>
    }
  }
  return
}

// -----

func.func @assigned(%m: memref<8xf32>) -> f32 {
  // expected-error @below {{which of its iterations gives the value is left open; combine values by a sum, product, minimum, ...}}
  %p = affine.parallel (%i) = (0) to (8) reduce ("assign") -> f32 {
    %x = affine.load %m[%i] : memref<8xf32>
    affine.yield %x : f32
  }
  return %p : f32
}
