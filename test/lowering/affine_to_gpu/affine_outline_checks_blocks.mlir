// RUN: dlc-opt %s --affine-outline-checks | filecheck %s

// no-match: a kernel of several blocks keeps its checks.
// CHECK-LABEL: func.func private @blocks(
// CHECK: cf.assert
func.func private @blocks(%c: i1) attributes {dl.kernel} {
  cf.assert %c, "wrong"
  cf.br ^a
^a:
  return
}
func.func @calls_blocks(%c: i1) {
  call @blocks(%c) : (i1) -> ()
  return
}
