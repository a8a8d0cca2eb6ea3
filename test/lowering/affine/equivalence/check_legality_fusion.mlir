// RUN: dlc-opt %s --split-input-file --verify-diagnostics "--affine-check-legality=pass=affine-loop-fusion assume-no-alias"
// RUN: dlc-opt %s --split-input-file "--affine-check-legality=pass=affine-loop-fusion assume-no-alias on-refusal=keep" | filecheck %s
// Results of upstream's fusion that compute something else are refused, and the loops stay apart.

// After llvm/llvm-project issue 212032: the second loop writes what the first one reads in every iteration.
// CHECK-LABEL: func.func @reads_one_element
// CHECK-COUNT-2: affine.for
func.func @reads_one_element(%a: memref<5xf64>, %c: memref<5xf64>, %t: memref<5xf64>) {
  affine.for %i = 1 to 5 {
    %x = affine.load %a[2] : memref<5xf64>
    %y = affine.load %c[%i] : memref<5xf64>
    %z = arith.mulf %x, %y : f64
    affine.store %z, %t[%i] : memref<5xf64>
  }
  affine.for %i = 1 to 5 {
    %z = affine.load %t[%i] : memref<5xf64>
    // expected-error @+1 {{would run S1[i0=2] (-:18:5) before S0[i0=3] (-:10:10), which reads the %arg0[2] that it writes (anti dependence, distance (-1))}}
    affine.store %z, %a[%i] : memref<5xf64>
  }
  return
}

// -----

// After issue 216535: two names of one global.
memref.global "private" @state : memref<6xi32> = dense<[1, 2, 3, 4, 5, 6]>
// CHECK-LABEL: func.func @two_names
// CHECK-COUNT-3: affine.for
func.func @two_names(%init: i32) -> i32 {
  %scale = arith.constant 3 : i32
  %one = memref.get_global @state : memref<6xi32>
  %other = memref.get_global @state : memref<6xi32>
  affine.for %i = 0 to 6 {
    %v = affine.load %one[%i] : memref<6xi32>
    %w = arith.muli %v, %scale : i32
    affine.store %w, %one[%i] : memref<6xi32>
  }
  %sum = affine.for %i = 0 to 6 iter_args(%x = %init) -> i32 {
    // expected-error @+1 {{affine-loop-fusion would run affine.load[i0=0] (-:40:10) before S0[i0=0] (-:36:5), which writes the}}
    %v = affine.load %other[%i] : memref<6xi32>
    %w = arith.subi %x, %v : i32
    affine.yield %w : i32
  }
  affine.for %i = 0 to 6 {
    %v = affine.load %one[%i] : memref<6xi32>
    %w = arith.addi %v, %scale : i32
    affine.store %w, %one[%i] : memref<6xi32>
  }
  return %sum : i32
}

// -----

// After issue 211599: a call sees the buffer under a cast.
func.func private @send(memref<?xf64>)
// CHECK-LABEL: func.func @cast_for_a_call
// CHECK-COUNT-2: affine.for
func.func @cast_for_a_call(%in: memref<24xf64>, %box: memref<24xf64>, %out: memref<24xf64>) {
  affine.for %i = 0 to 24 {
    %a = affine.load %in[%i] : memref<24xf64>
    %b = arith.addf %a, %a : f64
    affine.store %b, %box[%i] : memref<24xf64>
  }
  %view = memref.cast %box : memref<24xf64> to memref<?xf64>
  // expected-error @+1 {{affine-loop-fusion would run S1[] (-:66:3) before S0[i0=0] (-:62:5), which writes the %arg1[0] that it reads (flow dependence)}}
  func.call @send(%view) : (memref<?xf64>) -> ()
  affine.for %i = 0 to 24 {
    %c = affine.load %box[%i] : memref<24xf64>
    %d = arith.mulf %c, %c : f64
    affine.store %d, %out[%i] : memref<24xf64>
  }
  return
}

// -----

// After issue 218696: padding, then a copy into the middle.
// CHECK-LABEL: func.func @padded
// CHECK-COUNT-4: affine.for
func.func @padded(%x: memref<4x4xf32>, %y: memref<6x6xf32>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %p = memref.alloc() : memref<6x6xf32>
  affine.for %i = 0 to 6 {
    affine.for %j = 0 to 6 {
      affine.store %zero, %p[%i, %j] : memref<6x6xf32>
    }
  }
  %inner = memref.subview %p[1, 1] [4, 4] [1, 1] : memref<6x6xf32> to memref<4x4xf32, strided<[6, 1], offset: 7>>
  // expected-error @+1 {{before S0[i0=1, i1=1] (-:86:7), which writes the %alloc[1, 1] that it writes (output dependence)}}
  memref.copy %x, %inner : memref<4x4xf32> to memref<4x4xf32, strided<[6, 1], offset: 7>>
  affine.for %i = 0 to 6 {
    affine.for %j = 0 to 6 {
      %v = affine.load %p[%i, %j] : memref<6x6xf32>
      %w = arith.addf %v, %one : f32
      affine.store %w, %y[%i, %j] : memref<6x6xf32>
    }
  }
  return
}

// -----

// After issue 152077, which the installed version gets right: fused loops over one array that is read and written.
// CHECK-LABEL: func.func @transposed
// CHECK-COUNT-3: affine.for
// CHECK-NOT: affine.for
func.func @transposed(%x: memref<4x3x8xf32>, %y: memref<3x4x8xf32>, %s: memref<4x8xf32>) {
  affine.for %i = 0 to 3 {
    affine.for %j = 0 to 4 {
      affine.for %k = 0 to 8 {
        %v = affine.load %x[%j, %i, %k] : memref<4x3x8xf32>
        affine.store %v, %y[%i, %j, %k] : memref<3x4x8xf32>
      }
    }
  }
  affine.for %i = 0 to 3 {
    affine.for %j = 0 to 4 {
      affine.for %k = 0 to 8 {
        %v = affine.load %y[%i, %j, %k] : memref<3x4x8xf32>
        %w = affine.load %s[%j, %k] : memref<4x8xf32>
        %p = arith.mulf %v, %w : f32
        affine.store %p, %y[%i, %j, %k] : memref<3x4x8xf32>
      }
    }
  }
  return
}
