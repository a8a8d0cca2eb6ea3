// RUN: dlc-opt %s --dl-set-target=target=cpu:znver5 "--affine-transpose-tiles=vector-bits=128" | filecheck %s
// RUN: dlc-opt %s --dl-set-target=target=cpu:znver5 --affine-transpose-tiles | filecheck %s --check-prefix=LINES
// RUN: dlc-opt %s --dl-set-target=target=cpu:haswell --affine-transpose-tiles | filecheck %s --check-prefix=HALVES
// Nests that load along one loop and store along another become square tiles, transposed in registers.

// CHECK-LABEL: func.func private @transpose(
// CHECK-SAME: %[[X:.*]]: memref<40x8xf32>, %[[Y:.*]]: memref<8x40xf32>
// CHECK: affine.for %[[J:.*]] = 0 to 40 step 4 {
// CHECK: affine.for %[[I:.*]] = 0 to 8 step 4 {
// CHECK-COUNT-4: affine.vector_load %[[X]]
// CHECK: vector.shuffle {{.*}} [0, 4, 1, 5]
// CHECK-COUNT-7: vector.shuffle
// CHECK-COUNT-4: arith.negf {{.*}} : vector<4xf32>
// CHECK: affine.vector_store %{{.*}}, %[[Y]][%[[I]], %[[J]]]
// CHECK: affine.vector_store %{{.*}}, %[[Y]][%[[I]] + 3, %[[J]]]
// CHECK: dlc.schedule = {code_generator = "transpose", lane_loop = 1 : i64, lanes = 4 : i64, unroll_and_jam = [array<i64: 0, 4>]}
func.func private @transpose(%x: memref<40x8xf32>, %y: memref<8x40xf32>) {
  affine.for %i = 0 to 8 {
    affine.for %j = 0 to 40 {
      %a = affine.load %x[%j, %i] : memref<40x8xf32>
      %b = arith.negf %a : f32
      affine.store %b, %y[%i, %j] : memref<8x40xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// Ends are masked on both sides, and no row is read that does not exist; the loops of more rows are blocked.
// CHECK-LABEL: func.func private @ends(
// CHECK: affine.for %[[B:.*]] = 0 to 96 step 64 {
// CHECK: affine.for {{.*}} = 0 to 4 step 4 {
// CHECK: affine.for {{.*}} = #{{.*}}(%[[B]]) to min #{{.*}}(%[[B]]) step 4 {
// CHECK: affine.for {{.*}} = 4 to 6 step 4 {
// CHECK-COUNT-2: affine.vector_load
// CHECK-NOT: affine.vector_load
// CHECK-COUNT-4: vector.maskedstore
// CHECK: affine.for {{.*}} = 96 to 97 step 4 {
// CHECK: vector.constant_mask [1]
// CHECK-COUNT-4: vector.maskedload
func.func private @ends(%x: memref<6x97xf32>, %y: memref<97x6xf32>) {
  affine.for %i = 0 to 97 {
    affine.for %j = 0 to 6 {
      %a = affine.load %x[%j, %i] : memref<6x97xf32>
      affine.store %a, %y[%i, %j] : memref<97x6xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// Dynamic sizes: rows of a tile are masked by the lanes that are left, rows of the target that are left are done alone.
// CHECK-LABEL: func.func private @dynamic(
// CHECK: vector.create_mask
// CHECK: vector.maskedload
// CHECK: vector.maskedstore
// CHECK: affine.load {{.*}} : memref<?x?xf32>
func.func private @dynamic(%x: memref<?x?xf32>, %y: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %y, %c0 : memref<?x?xf32>
  %n = memref.dim %y, %c1 : memref<?x?xf32>
  affine.for %i = 0 to %m {
    affine.for %j = 0 to %n {
      %a = affine.load %x[%j, %i] : memref<?x?xf32>
      affine.store %a, %y[%i, %j] : memref<?x?xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// Rows of the target that fall into one set of the nearest cache: few in turn, whole lines of a source whose rows do, too. What
// goes past the caches does not stay in them.
// LINES-LABEL: func.func private @parts(
// LINES: affine.for {{.*}} = 0 to 128 step 32 {
// LINES-LABEL: func.func private @near(
// LINES: affine.for {{.*}} = 0 to 128 step 64 {
// LINES-LABEL: func.func private @far(
// LINES: affine.for {{.*}} = 0 to 128 step 16 {
// LINES-LABEL: func.func private @both(
// LINES: affine.for {{.*}} = 0 to 1024 step 64 {
// HALVES-LABEL: func.func private @near(
// HALVES: affine.for {{.*}} = 0 to 128 step 64 {
// HALVES-LABEL: func.func private @far(
// HALVES: affine.for {{.*}} = 0 to 128 step 8 {
// HALVES-LABEL: func.func private @both(
// HALVES: affine.for {{.*}} = 0 to 1024 step 16 {
func.func private @parts(%x: memref<512x128xf16>, %y: memref<128x512xf16>) {
  affine.for %i = 0 to 128 {
    affine.for %j = 0 to 512 {
      %a = affine.load %x[%j, %i] : memref<512x128xf16>
      affine.store %a, %y[%i, %j] : memref<128x512xf16>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}
func.func private @near(%x: memref<1000x128xf32>, %y: memref<128x1000xf32>) {
  affine.for %i = 0 to 128 {
    affine.for %j = 0 to 1000 {
      %a = affine.load %x[%j, %i] : memref<1000x128xf32>
      affine.store %a, %y[%i, %j] : memref<128x1000xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}
func.func private @far(%x: memref<1024x128xf32>, %y: memref<128x1024xf32>) {
  affine.for %i = 0 to 128 {
    affine.for %j = 0 to 1024 {
      %a = affine.load %x[%j, %i] : memref<1024x128xf32>
      affine.store %a, %y[%i, %j] : memref<128x1024xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}
func.func private @both(%x: memref<1024x1024xf32>, %y: memref<1024x1024xf32>) {
  affine.for %i = 0 to 1024 {
    affine.for %j = 0 to 1024 {
      %a = affine.load %x[%j, %i] : memref<1024x1024xf32>
      affine.store %a, %y[%i, %j] : memref<1024x1024xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// no-match: rows that stay whole, three channels, a loop that is not parallel, another code generator's schedule.
// CHECK-LABEL: func.func private @others(
// CHECK-NOT: vector
func.func private @others(%x: memref<8x6x16xf32>, %y: memref<6x8x16xf32>, %z: memref<40x3xf32>, %w: memref<3x40xf32>,
                          %u: memref<8x8xf32>, %v: memref<8x8xf32>) {
  affine.for %i = 0 to 6 {
    affine.for %j = 0 to 8 {
      affine.for %k = 0 to 16 {
        %a = affine.load %x[%j, %i, %k] : memref<8x6x16xf32>
        affine.store %a, %y[%i, %j, %k] : memref<6x8x16xf32>
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  affine.for %i = 0 to 3 {
    affine.for %j = 0 to 40 {
      %a = affine.load %z[%j, %i] : memref<40x3xf32>
      affine.store %a, %w[%i, %j] : memref<3x40xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  affine.for %i = 0 to 8 {
    affine.for %j = 0 to 8 {
      %a = affine.load %u[%j, %i] : memref<8x8xf32>
      affine.store %a, %u[%i, %j] : memref<8x8xf32>
    }
  }
  affine.for %i = 0 to 8 {
    affine.for %j = 0 to 8 {
      %a = affine.load %u[%j, %i] : memref<8x8xf32>
      affine.store %a, %v[%i, %j] : memref<8x8xf32>
    } {dlc.parallel}
  } {dlc.parallel, dlc.schedule = {code_generator = "generic"}}
  return
}
