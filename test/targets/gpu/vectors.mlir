// RUN: dlc compile %s --target=gpu:sm_80 --emit=ptx | filecheck %s
// RUN: env COLUMNS=200 dlc explain %s --target=gpu:sm_80 | filecheck %s --check-prefix=EXPLAIN
// What threads read and write side by side moves in vectors of 16 bytes; the last elements, which make none, go one by one.

// CHECK: .entry kernel_0_add_relu
// CHECK: ld.global.nc.v4.b32
// CHECK-NOT: {{(ld|st)}}.global.{{(nc.)?}}b{{[0-9]+}}
// CHECK: st.global.v4.b32
// CHECK: .entry kernel_1_add
// CHECK: ld.global.nc.v4.b32
// CHECK-NOT: {{(ld|st)}}.global.{{(nc.)?}}b{{[0-9]+}}
// CHECK: st.global.v4.b32
// CHECK: .entry kernel_2_add
// CHECK: ld.global.nc.v4.b32
// CHECK: st.global.v4.b32
// CHECK: ld.global.nc.b32
// CHECK: st.global.b32
// CHECK: .entry kernel_3_softmax
// CHECK: ld.global.nc.v4.b32
// CHECK: st.global.v4.b32
// CHECK: .entry kernel_4_layer_norm
// CHECK: ld.global.nc.v4.b32
// CHECK: st.global.v4.b32
// CHECK: .entry kernel_5_softmax
// CHECK-NOT: global.{{.*}}v4
// EXPLAIN: 6 kernels for sm_80: {{.*}}0 have uncoalesced accesses
func.func @main(%a: tensor<1024x1024xf32>, %h: tensor<1024x1024xf16>, %r: tensor<1023x1021xf32>, %s: tensor<512x1024xf32>, %n: tensor<512x768xf32>, %w: tensor<768xf32>, %o: tensor<512x1001xf32>)
    -> (tensor<1024x1024xf32>, tensor<1024x1024xf16>, tensor<1023x1021xf32>, tensor<512x1024xf32>, tensor<512x768xf32>, tensor<512x1001xf32>) {
  %0 = "dl.add"(%a, %a) : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %1 = "dl.relu"(%0) : (tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %2 = "dl.add"(%h, %h) : (tensor<1024x1024xf16>, tensor<1024x1024xf16>) -> tensor<1024x1024xf16>
  %3 = "dl.add"(%r, %r) : (tensor<1023x1021xf32>, tensor<1023x1021xf32>) -> tensor<1023x1021xf32>
  %4 = "dl.softmax"(%s) {axis = 1 : i64} : (tensor<512x1024xf32>) -> tensor<512x1024xf32>
  %5 = "dl.layer_norm"(%n, %w, %w) {axis = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1>} : (tensor<512x768xf32>, tensor<768xf32>, tensor<768xf32>) -> tensor<512x768xf32>
  %6 = "dl.softmax"(%o) {axis = 1 : i64} : (tensor<512x1001xf32>) -> tensor<512x1001xf32>
  return %1, %2, %3, %4, %5, %6 : tensor<1024x1024xf32>, tensor<1024x1024xf16>, tensor<1023x1021xf32>, tensor<512x1024xf32>, tensor<512x768xf32>, tensor<512x1001xf32>
}
