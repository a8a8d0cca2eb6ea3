// Shortest paths between all pairs of N nodes, in whole numbers (PolyBench/C 4.2.1, medley).
!NxN = memref<${N}x${N}xi32>
func.func @kernel_floyd_warshall(%path: !NxN {llvm.noalias}) {
  affine.for %k = 0 to $N {
    affine.for %i = 0 to $N {
      affine.for %j = 0 to $N {
        // path[i][j] = path[i][j] < path[i][k] + path[k][j] ? path[i][j] : path[i][k] + path[k][j]
        %path2 = affine.load %path[%i, %j] : !NxN
        %path3 = affine.load %path[%i, %k] : !NxN
        %path4 = affine.load %path[%k, %j] : !NxN
        %sum = arith.addi %path3, %path4 : i32
        %holds = arith.cmpi slt, %path2, %sum : i32
        %path5 = affine.load %path[%i, %j] : !NxN
        %path6 = affine.load %path[%i, %k] : !NxN
        %path7 = affine.load %path[%k, %j] : !NxN
        %sum2 = arith.addi %path6, %path7 : i32
        %chosen = arith.select %holds, %path5, %sum2 : i32
        affine.store %chosen, %path[%i, %j] : !NxN
      }
    }
  }
  return
}
