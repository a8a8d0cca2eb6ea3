// RUN: dlc-opt %s --gpu-print-accesses -o /dev/null 2>&1 | filecheck %s
// RUN: dlc-opt %s --gpu-print-accesses=all=true -o /dev/null 2>&1 | filecheck %s --check-prefix=ALL
// What a warp asks of memory, kernel by kernel. The pass refuses nothing.

// Neighbours read a column: each has a sector of its own. Rows are read in 4 sectors.
// CHECK: kernel @columns, blocks of 32x8x1: 1 of 2 accesses uncoalesced, 22% of what memory moves is used, no shared memory
// CHECK-NEXT: affine.load of memref<64x64xf32>: 32 sectors where 4 hold what a warp asks for
// CHECK-NOT: affine.store
// ALL: kernel @columns
// ALL-NEXT: affine.load of memref<64x64xf32>: 32 sectors where 4
// ALL-NEXT: affine.store of memref<64x64xf32>: 4 sectors where 4
gpu.module @columns {
  gpu.func @columns(%A: memref<64x64xf32>, %B: memref<64x64xf32>) kernel attributes {known_block_size = array<i32: 32, 8, 1>} {
    %x = gpu.thread_id x
    %y = gpu.thread_id y
    %a = affine.load %A[symbol(%x), symbol(%y)] : memref<64x64xf32>
    affine.store %a, %B[symbol(%y), symbol(%x)] : memref<64x64xf32>
    gpu.return
  }
}

// Columns of a tile of 32 words lie in one bank; those of 33 in 32 banks; doubles go by half warps.
// CHECK: kernel @banks, blocks of 32x1x1: 0 of 0 accesses uncoalesced, 100% of what memory moves is used, 32-way bank conflicts
// CHECK-NEXT: affine.load of memref<32x32xf32, #gpu.address_space<workgroup>>: 32-way bank conflict
// CHECK-NOT: 33xf32
// CHECK: affine.load of memref<64xf64, #gpu.address_space<workgroup>>: 2-way bank conflict
gpu.module @banks {
  gpu.func @banks() workgroup(%S: memref<32x32xf32, #gpu.address_space<workgroup>>, %P: memref<32x33xf32, #gpu.address_space<workgroup>>, %D: memref<64xf64, #gpu.address_space<workgroup>>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %x = gpu.thread_id x
    %a = affine.load %S[symbol(%x), 0] : memref<32x32xf32, #gpu.address_space<workgroup>>
    affine.store %a, %P[symbol(%x), 0] : memref<32x33xf32, #gpu.address_space<workgroup>>
    %d = affine.load %D[symbol(%x)] : memref<64xf64, #gpu.address_space<workgroup>>
    %e = affine.load %D[symbol(%x) * 2] : memref<64xf64, #gpu.address_space<workgroup>>
    %s = arith.addf %d, %e : f64
    affine.store %s, %D[symbol(%x)] : memref<64xf64, #gpu.address_space<workgroup>>
    gpu.return
  }
}

// Loops count, lanes behind a condition do not; one number for all lanes is one sector.
// CHECK: kernel @loops, blocks of 16x1x1: 1 of 3 accesses uncoalesced, 1 where data decides
// CHECK-NEXT: affine.load of memref<100x16xf32>: 4 sectors where 1
// CHECK-NEXT: memref.load of memref<64xf32>: data decides where it goes
// ALL: kernel @loops
// ALL-NEXT: affine.load of memref<100x16xf32>: 4 sectors where 1
// ALL-NEXT: memref.load of memref<64xf32>: data
// ALL-NEXT: affine.store of memref<64xf32>: 1 sectors where 1
gpu.module @loops {
  gpu.func @loops(%A: memref<100x16xf32>, %B: memref<64xf32>) kernel attributes {known_block_size = array<i32: 16, 1, 1>} {
    %x = gpu.thread_id x
    affine.for %k = 0 to 10 {
      affine.if affine_set<(i) : (3 - i >= 0)>(%x) {
        %a = affine.load %A[symbol(%x) * 10 + %k, 0] : memref<100x16xf32>
        %i = arith.fptosi %a : f32 to i32
        %j = arith.index_cast %i : i32 to index
        %b = memref.load %B[%j] : memref<64xf32>
        affine.store %b, %B[0] : memref<64xf32>
      }
    }
    gpu.return
  }
}

// Vectors of 16 bytes side by side take as many sectors as they hold; those in every second place twice as many.
// CHECK: kernel @vectors, blocks of 32x1x1: 0 of 2 accesses uncoalesced, 67% of what memory moves is used
// ALL: kernel @vectors
// ALL-NEXT: affine.vector_load of memref<1024xf32>: 16 sectors where 16
// ALL-NEXT: affine.vector_store of memref<1024xf32>: 32 sectors where 16
gpu.module @vectors {
  gpu.func @vectors(%A: memref<1024xf32>, %B: memref<1024xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %x = gpu.thread_id x
    %a = affine.vector_load %A[symbol(%x) * 4] : memref<1024xf32>, vector<4xf32>
    affine.vector_store %a, %B[symbol(%x) * 8] : memref<1024xf32>, vector<4xf32>
    gpu.return
  }
}

// Where a layout has no strides, nothing says where accesses go.
// CHECK: kernel @tiles, blocks of 32x1x1
// CHECK-NEXT: affine.load of memref<64xf32, affine_map<(d0) -> (d0 floordiv 2)>>: data decides where it goes
gpu.module @tiles {
  gpu.func @tiles(%A: memref<64xf32, affine_map<(d0) -> (d0 floordiv 2)>>, %B: memref<64xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %x = gpu.thread_id x
    %a = affine.load %A[symbol(%x)] : memref<64xf32, affine_map<(d0) -> (d0 floordiv 2)>>
    affine.store %a, %B[symbol(%x)] : memref<64xf32>
    gpu.return
  }
}

// no-match: a module without kernels.
// CHECK-NOT: kernel @
func.func @host() {
  return
}
