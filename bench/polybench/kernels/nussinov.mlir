// Nussinov's folding of a sequence of bases 0..3; bases whose sum is 3 pair (PolyBench/C 4.2.1, medley).
!Nxi8 = memref<${N}xi8>
!NxN = memref<${N}x${N}xi32>
func.func @kernel_nussinov(%seq: !Nxi8 {llvm.noalias}, %table: !NxN {llvm.noalias}) {
  %c3 = arith.constant 3 : i32
  %one = arith.constant 1 : i32
  %zero = arith.constant 0 : i32
  affine.for %ir = 0 to $N {  // i = N - 1 - ir
    affine.for %j = affine_map<(ir) -> ($N - ir)>(%ir) to $N {
      affine.if affine_set<(j) : (j - 1 >= 0)>(%j) {  // j - 1 >= 0
        // table[i][j] = maximum(table[i][j], table[i][j - 1])
        %table2 = affine.load %table[$N - 1 - %ir, %j] : !NxN
        %table3 = affine.load %table[$N - 1 - %ir, %j - 1] : !NxN
        %largest = arith.maxsi %table2, %table3 : i32
        affine.store %largest, %table[$N - 1 - %ir, %j] : !NxN
      }
      affine.if affine_set<(ir) : (ir - 1 >= 0)>(%ir) {  // i + 1 < N
        // table[i][j] = maximum(table[i][j], table[i + 1][j])
        %table2 = affine.load %table[$N - 1 - %ir, %j] : !NxN
        %table3 = affine.load %table[$N - %ir, %j] : !NxN
        %largest = arith.maxsi %table2, %table3 : i32
        affine.store %largest, %table[$N - 1 - %ir, %j] : !NxN
      }
      affine.if affine_set<(j, ir) : (j - 1 >= 0, ir - 1 >= 0)>(%j, %ir) {  // j - 1 >= 0 and i + 1 < N
        affine.if affine_set<(ir, j) : (j + ir - 1 - $N >= 0)>(%ir, %j) {  // i < j - 1
          // table[i][j] = maximum(table[i][j], table[i + 1][j - 1] + (seq[i] + seq[j] == 3 ? 1 : 0))
          %table2 = affine.load %table[$N - 1 - %ir, %j] : !NxN
          %table3 = affine.load %table[$N - %ir, %j - 1] : !NxN
          %seq2 = affine.load %seq[$N - 1 - %ir] : !Nxi8
          %base = arith.extsi %seq2 : i8 to i32
          %seq3 = affine.load %seq[%j] : !Nxi8
          %base2 = arith.extsi %seq3 : i8 to i32
          %sum = arith.addi %base, %base2 : i32
          %holds = arith.cmpi eq, %sum, %c3 : i32
          %chosen = arith.select %holds, %one, %zero : i32
          %sum2 = arith.addi %table3, %chosen : i32
          %largest = arith.maxsi %table2, %sum2 : i32
          affine.store %largest, %table[$N - 1 - %ir, %j] : !NxN
        } else {
          // table[i][j] = maximum(table[i][j], table[i + 1][j - 1])
          %table2 = affine.load %table[$N - 1 - %ir, %j] : !NxN
          %table3 = affine.load %table[$N - %ir, %j - 1] : !NxN
          %largest = arith.maxsi %table2, %table3 : i32
          affine.store %largest, %table[$N - 1 - %ir, %j] : !NxN
        }
      }
      affine.for %k = affine_map<(ir) -> ($N - ir)>(%ir) to affine_map<(j) -> (j)>(%j) {
        // table[i][j] = maximum(table[i][j], table[i][k] + table[k + 1][j])
        %table2 = affine.load %table[$N - 1 - %ir, %j] : !NxN
        %table3 = affine.load %table[$N - 1 - %ir, %k] : !NxN
        %table4 = affine.load %table[%k + 1, %j] : !NxN
        %sum = arith.addi %table3, %table4 : i32
        %largest = arith.maxsi %table2, %sum : i32
        affine.store %largest, %table[$N - 1 - %ir, %j] : !NxN
      }
    }
  }
  return
}
