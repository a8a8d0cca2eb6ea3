// RUN: dlc-opt %s --pass-pipeline="builtin.module(affine-outline-parallel{min-work=1000})" --split-input-file | filecheck %s
// Parallel loops with enough work become tasks for the thread pool. The pass refuses nothing.

// CHECK: func.func private @dlc_parallel_for(!llvm.ptr, !llvm.ptr, i64)
// CHECK-LABEL: func.func @nest(
// CHECK-SAME: %[[X:.*]]: memref<4x?xf32> {llvm.noalias}, %[[Y:.*]]: memref<4x?xf32>
// CHECK: %[[RECORD:.*]] = llvm.alloca
// CHECK: %[[COUNT:.*]] = arith.index_cast %{{.*}} : index to i64
// CHECK: llvm.store
// CHECK: %[[F:.*]] = constant @nest_task0
// CHECK: %[[TASK:.*]] = builtin.unrealized_conversion_cast %[[F]]
// CHECK: call @dlc_parallel_for(%[[TASK]], %[[RECORD]], %[[COUNT]])
// CHECK-NOT: affine.for
// CHECK-LABEL: func.func private @nest_body0(
// CHECK-SAME: %[[N:.*]]: index, %[[X:.*]]: memref<4x?xf32> {llvm.noalias}, %[[Y:.*]]: memref<4x?xf32>{{.*}}, %[[LO:.*]]: index, %[[HI:.*]]: index)
// CHECK: affine.for %[[T:.*]] = %[[LO]] to %[[HI]] {
// CHECK: affine.for %{{.*}} = 0 to %[[N]]
// CHECK-LABEL: func.func private @nest_task0(
// CHECK-SAME: %[[CONTEXT:.*]]: !llvm.ptr, %[[FIRST:.*]]: i64, %[[LAST:.*]]: i64)
// CHECK: llvm.load
// CHECK: %[[LO:.*]] = arith.index_cast %[[FIRST]] : i64 to index
// CHECK: %[[HI:.*]] = arith.index_cast %[[LAST]] : i64 to index
// CHECK: call @nest_body0({{.*}}, %[[LO]], %[[HI]])
func.func @nest(%x: memref<4x?xf32> {llvm.noalias}, %y: memref<4x?xf32>) {
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c1 : memref<4x?xf32>
  affine.for %i = 0 to 4 {
    affine.for %j = 0 to %n {
      %v = affine.load %x[%i, %j] : memref<4x?xf32>
      %w = arith.mulf %v, %v : f32
      %u = arith.mulf %w, %v : f32
      %a = arith.addf %u, %v : f32
      %b = arith.subf %a, %w : f32
      %c = arith.addf %b, %u : f32
      %d = arith.mulf %c, %a : f32
      %e = arith.mulf %d, %b : f32
      %f = arith.addf %e, %c : f32
      %g = arith.addf %f, %d : f32
      %h = arith.addf %g, %e : f32
      %k = arith.addf %h, %f : f32
      %l = arith.addf %k, %g : f32
      %m = arith.addf %l, %h : f32
      %o = arith.addf %m, %k : f32
      affine.store %o, %y[%i, %j] : memref<4x?xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// -----

// Two perfectly nested parallel loops count as one range; steps and lower bounds are kept.
// CHECK-DAG: #[[ROW:.*]] = affine_map<(d0) -> ((d0 floordiv 32) * 2 + 1)>
// CHECK-DAG: #[[COLUMN:.*]] = affine_map<(d0) -> ((d0 mod 32) * 4)>
// CHECK-LABEL: func.func @steps(
// CHECK: arith.constant 128 : index
// CHECK-LABEL: func.func private @steps_body0(
// CHECK: affine.for %[[T:.*]] = %{{.*}} to %{{.*}} {
// CHECK-NEXT: %[[I:.*]] = affine.apply #[[ROW]](%[[T]])
// CHECK-NEXT: %[[J:.*]] = affine.apply #[[COLUMN]](%[[T]])
// CHECK-NEXT: affine.for
// CHECK: affine.store %{{.*}}, %{{.*}}[%[[I]], %[[J]]
func.func @steps(%x: memref<9x128xf32>, %v: f32) {
  affine.for %i = 1 to 9 step 2 {
    affine.for %j = 0 to 128 step 4 {
      affine.for %k = 0 to 100 {
        affine.store %v, %x[%i, %j] : memref<9x128xf32>
      }
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// -----

// Little work, dependent iterations and accumulators stay on their thread.
// CHECK-LABEL: func.func @no_match(
// CHECK-NOT: dlc_parallel_for
// CHECK-COUNT-3: affine.for
func.func @no_match(%x: memref<5000xf32>, %zero: f32) -> f32 {
  affine.for %i = 0 to 10 {
    affine.store %zero, %x[%i] : memref<5000xf32>
  } {dlc.parallel}
  affine.for %i = 1 to 5000 {
    %v = affine.load %x[%i - 1] : memref<5000xf32>
    affine.store %v, %x[%i] : memref<5000xf32>
  }
  %s = affine.for %i = 0 to 5000 iter_args(%a = %zero) -> f32 {
    %v = affine.load %x[%i] : memref<5000xf32>
    %b = arith.addf %a, %v : f32
    affine.yield %b : f32
  } {dlc.parallel}
  return %s : f32
}

// -----

// Two iterations around two parallel loops: a task for each of these, over all its iterations.
// CHECK-LABEL: func.func @distributed(
// CHECK: arith.index_cast %c32
// CHECK: constant @distributed_task0
// CHECK: call @dlc_parallel_for
// CHECK: arith.index_cast %c20
// CHECK: constant @distributed_task1
// CHECK: call @dlc_parallel_for
// CHECK-NOT: affine.for
// CHECK-LABEL: func.func private @distributed_body0(
// CHECK-COUNT-2: affine.for
// CHECK-NOT: affine.for
// CHECK-LABEL: func.func private @distributed_body1(
func.func @distributed(%x: memref<2x26xf32>, %v: f32) {
  affine.for %i = 0 to 2 {
    affine.for %j = 0 to 16 {
      affine.for %k = 0 to 100 {
        affine.store %v, %x[%i, %j] : memref<2x26xf32>
      }
    } {dlc.parallel}
    affine.for %j = 16 to 26 {
      affine.for %k = 0 to 100 {
        affine.store %v, %x[%i, %j] : memref<2x26xf32>
      }
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// -----

// Memory of an iteration ties its loops together, and so does an op that is no loop.
// CHECK-LABEL: func.func @tied(
// CHECK-COUNT-2: call @dlc_parallel_for
// CHECK-NOT: call @dlc_parallel_for
// CHECK-LABEL: func.func private @tied_body0(
func.func @tied(%x: memref<2x26xf32>, %v: f32) {
  affine.for %i = 0 to 2 {
    %scratch = memref.alloca() : memref<16xf32>
    affine.for %j = 0 to 16 {
      affine.for %k = 0 to 100 {
        affine.store %v, %scratch[%j] : memref<16xf32>
      }
    } {dlc.parallel}
    affine.for %j = 0 to 16 {
      %w = affine.load %scratch[%j] : memref<16xf32>
      affine.store %w, %x[%i, %j] : memref<2x26xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  affine.for %i = 0 to 2 {
    affine.store %v, %x[%i, 0] : memref<2x26xf32>
    affine.for %j = 1 to 13 {
      affine.for %k = 0 to 100 {
        affine.store %v, %x[%i, %j] : memref<2x26xf32>
      }
    } {dlc.parallel}
    affine.for %j = 13 to 26 {
      affine.store %v, %x[%i, %j] : memref<2x26xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// -----

// A long loop of short iterations in one of few: blocks of it are shared out, so that indices are found once for each.
// CHECK-LABEL: func.func @blocks(
// CHECK: %[[COUNT:.*]] = arith.constant 286 : index
// CHECK-LABEL: func.func private @blocks_body0(
// CHECK: affine.for %[[AT:.*]] = %{{.*}} to %{{.*}} {
// CHECK: %[[I:.*]] = affine.apply #{{.*}}(%[[AT]])
// CHECK: %[[START:.*]] = affine.apply #{{.*}}(%[[AT]])
// CHECK: affine.for %[[J:.*]] = #{{.*}}(%[[START]]) to min #{{.*}}(%[[START]]) step 16 {
// CHECK: affine.vector_store %{{.*}}, %{{.*}}[%[[I]], %[[J]]]
func.func @blocks(%x: memref<16000xf32>, %y: memref<2x16000xf32>) {
  affine.for %i = 0 to 2 {
    affine.for %j = 0 to 16000 step 16 {
      %v = affine.vector_load %x[%j] : memref<16000xf32>, vector<16xf32>
      affine.vector_store %v, %y[%i, %j] : memref<2x16000xf32>, vector<16xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// -----

// A triangle: shares of equal work. The first of 400 iterations takes one instruction, the last 400.
// CHECK-LABEL: func.func private @dlc_parallel_for_uneven(!llvm.ptr, !llvm.ptr, i64, i64, i64, i64)
// CHECK-LABEL: func.func @triangle(
// CHECK: %[[COUNT:.*]] = arith.index_cast %c400
// CHECK: call @dlc_parallel_for_uneven(%{{.*}}, %{{.*}}, %[[COUNT]], %c1_i64{{.*}}, %c400_i64, %c1000_i64)
func.func @triangle(%x: memref<400x400xf32>, %v: f32) {
  affine.for %i = 0 to 400 {
    affine.for %j = 0 to affine_map<(d0) -> (d0 + 1)>(%i) {
      affine.store %v, %x[%i, %j] : memref<400x400xf32>
    }
  } {dlc.parallel}
  return
}

// -----

// A loop inside one that runs in order starts anywhere and has any number of iterations; short ranges are not shared.
// CHECK-LABEL: func.func @inner(
// CHECK: affine.for %[[K:.*]] = 0 to 300 {
// CHECK: %[[LOWER:.*]] = affine.max #{{.*}}(%[[K]])
// CHECK: %[[UPPER:.*]] = affine.min #{{.*}}(%[[K]])
// CHECK: %[[LENGTH:.*]] = arith.subi %[[UPPER]], %[[LOWER]]
// CHECK: %[[TRIPS:.*]] = arith.maxsi %[[LENGTH]]
// CHECK: arith.divsi
// CHECK: call @dlc_parallel_for_uneven
// CHECK-LABEL: func.func private @inner_body0(
// CHECK-SAME: %{{.*}}: index, %[[START:[a-z0-9]*]]: index, %{{.*}}: memref
// CHECK: affine.for %[[AT:.*]] =
// CHECK: affine.apply #{{.*}}(%[[AT]])[%[[START]]]
func.func @inner(%x: memref<300x300xf32>, %v: f32) {
  affine.for %k = 0 to 300 {
    affine.for %i = max affine_map<(d0) -> (d0 + 1, 7)>(%k) to min affine_map<(d0) -> (300, d0 + 200)>(%k) step 2 {
      affine.for %j = 0 to 300 {
        affine.store %v, %x[%i, %j] : memref<300x300xf32>
      }
    } {dlc.parallel}
  }
  return
}

// -----

// Of loops in a serial one, those of three times the least work of others: what a step has left lies in another core's cache.
// CHECK-LABEL: func.func @each_step(
// CHECK: affine.for %{{.*}} = 0 to 50 {
// CHECK-NEXT: affine.for %{{.*}} = 0 to 64 {
// CHECK: } {dlc.parallel}
// CHECK: call @dlc_parallel_for(
// CHECK-NOT: call @dlc_parallel_for
// CHECK: return
func.func @each_step(%x: memref<64x8xf32>, %y: memref<64x24xf32>) {
  affine.for %t = 0 to 50 {
    affine.for %i = 0 to 64 {
      affine.for %j = 0 to 8 {
        %v = affine.load %x[%i, %j] : memref<64x8xf32>
        %w = arith.addf %v, %v : f32
        affine.store %w, %x[%i, %j] : memref<64x8xf32>
      }
    } {dlc.parallel}
    affine.for %i = 0 to 64 {
      affine.for %j = 0 to 24 {
        %v = affine.load %y[%i, %j] : memref<64x24xf32>
        %w = arith.addf %v, %v : f32
        affine.store %w, %y[%i, %j] : memref<64x24xf32>
      }
    } {dlc.parallel}
  }
  return
}

// -----

// A parallel loop that goes out of the serial loop around it: each range does all steps, with copies of its own. Who has the first
// or the last share takes what lies beyond them, too.
// CHECK-LABEL: func.func @apart(
// CHECK-NOT: memref.alloc
// CHECK: %[[COUNT:.*]] = arith.maxsi
// CHECK: call @dlc_parallel_for_uneven
// CHECK-NOT: affine.for
// CHECK-LABEL: func.func private @apart_body0(
// CHECK-SAME: %[[START:[a-z0-9]*]]: index, %[[MANY:[a-z0-9]*]]: index, %[[LOW:[a-z0-9]*]]: index, %[[HIGH:[a-z0-9]*]]: index)
// CHECK-DAG: arith.cmpi sgt, %[[LOW]]
// CHECK-DAG: arith.cmpi slt, %[[HIGH]], %[[MANY]]
// CHECK-DAG: %[[LO:.*]] = arith.select %{{.*}}, %{{.*}}, %c-1099511627776
// CHECK-DAG: %[[HI:.*]] = arith.select %{{.*}}, %{{.*}}, %c1099511627776
// CHECK: memref.alloca
// CHECK: affine.for %{{.*}} = 0 to 300 {
// CHECK: affine.for %{{.*}} = 0 to 8 {
// CHECK: affine.for %{{.*}} = max #{{.*}}()[%[[LO]]] to min #{{.*}}()[%[[HI]]] {
// CHECK: affine.for %{{.*}} = max #{{.*}}()[%[[LO]]] to min #{{.*}}()[%[[HI]]] {
func.func @apart(%x: memref<40x100xf32> {llvm.noalias}, %y: memref<300x8xf32> {llvm.noalias}) {
  %row = memref.alloca() : memref<8xf32>
  affine.for %k = 0 to 300 {
    affine.for %c = 0 to 8 {
      %v = affine.load %y[%k, %c] : memref<300x8xf32>
      affine.store %v, %row[%c] : memref<8xf32>
    }
    affine.for %i = 0 to 39 {
      affine.for %j = 0 to 100 {
        %v = affine.load %row[%j mod 8] : memref<8xf32>
        affine.store %v, %x[%i, %j] : memref<40x100xf32>
      }
    } {dlc.parallel, dlc.parallel_group = 0 : i64}
    affine.for %i = 39 to 40 {
      affine.for %j = 0 to 100 {
        %v = affine.load %row[7] : memref<8xf32>
        affine.store %v, %x[%i, %j] : memref<40x100xf32>
      }
    } {dlc.parallel, dlc.parallel_group = 0 : i64}
  } {dlc.parallel_group = 0 : i64}
  return
}

// -----

// Copies of more work than it takes to ask the pool: they are shared, too, and both loops become jobs of each step.
// CHECK-LABEL: func.func @shared_copies(
// CHECK: affine.for %{{.*}} = 0 to 3 {
// CHECK: call @dlc_parallel_for(
// CHECK: call @dlc_parallel_for(
// CHECK-NOT: call @dlc_parallel_for
// CHECK: return
func.func @shared_copies(%x: memref<40x100xf32> {llvm.noalias}, %y: memref<3x90000xf32> {llvm.noalias}) {
  %row = memref.alloc() : memref<90000xf32>
  affine.for %k = 0 to 3 {
    affine.for %c = 0 to 90000 {
      %v = affine.load %y[%k, %c] : memref<3x90000xf32>
      affine.store %v, %row[%c] : memref<90000xf32>
    } {dlc.parallel}
    affine.for %i = 0 to 40 {
      affine.for %j = 0 to 100 {
        %v = affine.load %row[%j * 900] : memref<90000xf32>
        affine.store %v, %x[%i, %j] : memref<40x100xf32>
      }
    } {dlc.parallel, dlc.parallel_group = 0 : i64}
  } {dlc.parallel_group = 0 : i64}
  memref.dealloc %row : memref<90000xf32>
  return
}

// -----

// Something else reads what is copied: the loops inside become jobs.
// CHECK-LABEL: func.func @not_apart(
// CHECK: affine.for
// CHECK: call @dlc_parallel_for(
func.func @not_apart(%x: memref<40x100xf32> {llvm.noalias}, %y: memref<300x8xf32> {llvm.noalias}, %row: memref<8xf32>) {
  affine.for %k = 0 to 300 {
    affine.for %c = 0 to 8 {
      %v = affine.load %y[%k, %c] : memref<300x8xf32>
      affine.store %v, %row[%c] : memref<8xf32>
    }
    affine.for %i = 0 to 40 {
      affine.for %j = 0 to 100 {
        %v = affine.load %row[%j mod 8] : memref<8xf32>
        affine.store %v, %x[%i, %j] : memref<40x100xf32>
      }
    } {dlc.parallel, dlc.parallel_group = 0 : i64}
  } {dlc.parallel_group = 0 : i64}
  return
}

// -----

// Two loops that count as one range, the outer one of which begins at a number that is not known: both variables are found again
// inside of the range.
// CHECK-LABEL: func.func private @rest_body0(
// CHECK: affine.for %[[T:.*]] = %{{.*}} to %{{.*}} {
// CHECK:   %[[OUTER:.*]] = affine.apply #{{.*}}(%[[T]])
// CHECK:   %[[INNER:.*]] = affine.apply #{{.*}}(%[[T]])
// CHECK:   %[[ROW:.*]] = affine.apply #{{.*}}(%[[OUTER]])[%{{.*}}]
// CHECK:   affine.store %{{.*}}, %{{.*}}[%[[ROW]], %[[INNER]]]
func.func @rest(%y: memref<?x64xf32>, %from: index, %x: f32) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %y, %c0 : memref<?x64xf32>
  affine.for %i = affine_map<()[s0] -> (s0 floordiv 8)>()[%from] to %n {
    affine.for %j = 0 to 64 {
      %a = math.exp %x : f32
      %b = math.exp %a : f32
      affine.store %b, %y[%i, %j] : memref<?x64xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// -----

// The module has a function of the name that comes first.
// CHECK-LABEL: func.func private @taken_body0(f32)
// CHECK-LABEL: func.func private @taken_body1(
// CHECK-LABEL: func.func private @taken_task1(
func.func private @taken_body0(f32)
func.func @taken(%y: memref<64x64xf32>, %x: f32) {
  affine.for %i = 0 to 64 {
    affine.for %j = 0 to 64 {
      affine.store %x, %y[%i, %j] : memref<64x64xf32>
    }
  } {dlc.parallel}
  return
}
