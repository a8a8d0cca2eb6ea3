// RUN: dlc-opt %s --convert-affine-to-llvm --split-input-file --verify-diagnostics
// Divisions that affine maps give no meaning to are refused; by a symbol they are not.

#negative = affine_map<(d0) -> (d0 ceildiv -3)>
func.func @negative(%i: index) -> index {
  // expected-error @below {{affine_map<(d0) -> (d0 ceildiv -3)> divides by what is no positive number; divide by a positive constant}}
  %0 = affine.apply #negative(%i)
  return %0 : index
}

// -----

#zero = affine_set<(d0) : (d0 mod 0 == 0)>
func.func @zero(%i: index) {
  // expected-error @below {{affine_set<(d0) : (d0 mod 0 == 0)> divides by what is no positive number}}
  affine.if #zero(%i) {
  }
  return
}

// -----

#symbol = affine_map<(d0)[s0] -> (d0 floordiv s0)>
func.func @symbol(%i: index, %n: index) -> index {
  %0 = affine.apply #symbol(%i)[%n]
  return %0 : index
}
