// The functions that the code of engines may call, by name: nothing is searched for in the process.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "imports.h"
#include "dlc_runtime.h"
#include "half.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>

namespace {

struct Provided {
  std::string_view name;
  const void *address;
};

// C functions are taken by their type, since C++ overloads some of them.
using Unary = double (*)(double);
using UnaryF = float (*)(float);
using Binary = double (*)(double, double);
using BinaryF = float (*)(float, float);
using Ternary = double (*)(double, double, double);
using TernaryF = float (*)(float, float, float);

template <typename Function> const void *addressOf(Function function) { return reinterpret_cast<const void *>(function); }

#define DLC_PROVIDED(name) {#name, addressOf(&name)}
#define DLC_LIBM(type, name) {#name, addressOf(static_cast<type>(&::name))}

const Provided kProvided[] = {
    DLC_PROVIDED(_mlir_memref_to_llvm_alloc),
    DLC_PROVIDED(_mlir_memref_to_llvm_aligned_alloc),
    DLC_PROVIDED(_mlir_memref_to_llvm_free),
    DLC_PROVIDED(memrefCopy),
    DLC_PROVIDED(dlc_allocate),
    DLC_PROVIDED(dlc_begin_kernel),
    DLC_PROVIDED(dlc_result_memory),
    DLC_PROVIDED(dlc_parallel_for),
    DLC_PROVIDED(dlc_parallel_for_uneven),
    DLC_PROVIDED(dlc_num_threads),
    DLC_PROVIDED(dlc_doacross),
    DLC_PROVIDED(dlc_await_column),
    DLC_PROVIDED(dlc_finish_column),
    DLC_PROVIDED(dlc_raise),
    DLC_PROVIDED(dlc_raise_dims),
    DLC_PROVIDED(dlc_profile_start),
    DLC_PROVIDED(dlc_profile_charge),
    DLC_PROVIDED(dlc_gpu_begin),
    DLC_PROVIDED(dlc_gpu_finish),
    DLC_PROVIDED(dlc_gpu_take),
    DLC_PROVIDED(dlc_gpu_take_result),
    DLC_PROVIDED(dlc_gpu_release),
    DLC_PROVIDED(dlc_gpu_device_of),
    DLC_PROVIDED(dlc_gpu_host_of),
    DLC_PROVIDED(dlc_gpu_upload),
    DLC_PROVIDED(dlc_gpu_download),
    DLC_PROVIDED(dlc_gpu_copy),
    DLC_PROVIDED(dlc_gpu_deliver),
    DLC_PROVIDED(dlc_gpu_tensor_map),
    DLC_PROVIDED(dlc_gpu_launch),
    DLC_PROVIDED(dlc_gpu_charge),
#ifdef __x86_64__
    DLC_PROVIDED(__extendhfsf2),
    DLC_PROVIDED(__truncsfhf2),
#endif
    {"memcpy", addressOf(static_cast<void *(*)(void *, const void *, size_t)>(&std::memcpy))},
    {"memmove", addressOf(static_cast<void *(*)(void *, const void *, size_t)>(&std::memmove))},
    {"memset", addressOf(static_cast<void *(*)(void *, int, size_t)>(&std::memset))},
    {"memcmp", addressOf(static_cast<int (*)(const void *, const void *, size_t)>(&std::memcmp))},
    DLC_LIBM(Unary, sin),
    DLC_LIBM(UnaryF, sinf),
    DLC_LIBM(Unary, cos),
    DLC_LIBM(UnaryF, cosf),
    DLC_LIBM(Unary, tan),
    DLC_LIBM(UnaryF, tanf),
    DLC_LIBM(Unary, asin),
    DLC_LIBM(UnaryF, asinf),
    DLC_LIBM(Unary, acos),
    DLC_LIBM(UnaryF, acosf),
    DLC_LIBM(Unary, atan),
    DLC_LIBM(UnaryF, atanf),
    DLC_LIBM(Binary, atan2),
    DLC_LIBM(BinaryF, atan2f),
    DLC_LIBM(Unary, sinh),
    DLC_LIBM(UnaryF, sinhf),
    DLC_LIBM(Unary, cosh),
    DLC_LIBM(UnaryF, coshf),
    DLC_LIBM(Unary, tanh),
    DLC_LIBM(UnaryF, tanhf),
    DLC_LIBM(Unary, asinh),
    DLC_LIBM(UnaryF, asinhf),
    DLC_LIBM(Unary, acosh),
    DLC_LIBM(UnaryF, acoshf),
    DLC_LIBM(Unary, atanh),
    DLC_LIBM(UnaryF, atanhf),
    DLC_LIBM(Unary, exp),
    DLC_LIBM(UnaryF, expf),
    DLC_LIBM(Unary, exp2),
    DLC_LIBM(UnaryF, exp2f),
    DLC_LIBM(Unary, expm1),
    DLC_LIBM(UnaryF, expm1f),
    DLC_LIBM(Unary, log),
    DLC_LIBM(UnaryF, logf),
    DLC_LIBM(Unary, log2),
    DLC_LIBM(UnaryF, log2f),
    DLC_LIBM(Unary, log10),
    DLC_LIBM(UnaryF, log10f),
    DLC_LIBM(Unary, log1p),
    DLC_LIBM(UnaryF, log1pf),
    DLC_LIBM(Unary, erf),
    DLC_LIBM(UnaryF, erff),
    DLC_LIBM(Unary, cbrt),
    DLC_LIBM(UnaryF, cbrtf),
    DLC_LIBM(Unary, sqrt),
    DLC_LIBM(UnaryF, sqrtf),
    DLC_LIBM(Unary, floor),
    DLC_LIBM(UnaryF, floorf),
    DLC_LIBM(Unary, ceil),
    DLC_LIBM(UnaryF, ceilf),
    DLC_LIBM(Unary, trunc),
    DLC_LIBM(UnaryF, truncf),
    DLC_LIBM(Unary, round),
    DLC_LIBM(UnaryF, roundf),
    DLC_LIBM(Unary, rint),
    DLC_LIBM(UnaryF, rintf),
    DLC_LIBM(Unary, nearbyint),
    DLC_LIBM(UnaryF, nearbyintf),
    // Halves go to the even number, as they do here in the rounding mode that code runs in; glibc has these names from 2.25 on.
    {"roundeven", addressOf(static_cast<Unary>(&::nearbyint))},
    {"roundevenf", addressOf(static_cast<UnaryF>(&::nearbyintf))},
    DLC_LIBM(Binary, pow),
    DLC_LIBM(BinaryF, powf),
    DLC_LIBM(Binary, fmod),
    DLC_LIBM(BinaryF, fmodf),
    DLC_LIBM(Binary, fmin),
    DLC_LIBM(BinaryF, fminf),
    DLC_LIBM(Binary, fmax),
    DLC_LIBM(BinaryF, fmaxf),
    DLC_LIBM(Ternary, fma),
    DLC_LIBM(TernaryF, fmaf),
};

} // namespace

const void *providedFunction(std::string_view name) {
  auto found = std::find_if(std::begin(kProvided), std::end(kProvided), [&](const Provided &each) { return each.name == name; });
  return found == std::end(kProvided) ? nullptr : found->address;
}

int32_t dlc_provides(const char *name) { return providedFunction(name) != nullptr; }
