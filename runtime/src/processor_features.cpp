// Features of x86-64 by CPUID: one with wide registers counts where the system saves these, too. Those of AArch64 as Linux tells them.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "processor_features.h"
#include "dlc_runtime.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#if defined(__x86_64__)
#include <cpuid.h>

namespace {

enum Register { eax, ebx, ecx, edx };

// Registers that the system has to save, as bits of XCR0.
constexpr uint64_t kAnyState = 0, kAvxState = 0x6, kAvx512State = 0xE6;

struct Feature {
  std::string_view name;
  uint32_t leaf;
  uint32_t subleaf;
  Register where;
  int bit;
  uint64_t state;
};

// Names are those of Linux where it has one. Intel, Software Developer's Manual, volume 2A, CPUID; AMD, Programmer's Manual, volume 3.
constexpr Feature kFeatures[] = {
    {"sse", 1, 0, edx, 25, kAnyState},
    {"sse2", 1, 0, edx, 26, kAnyState},
    {"sse3", 1, 0, ecx, 0, kAnyState},
    {"ssse3", 1, 0, ecx, 9, kAnyState},
    {"cx16", 1, 0, ecx, 13, kAnyState},
    {"sse4_1", 1, 0, ecx, 19, kAnyState},
    {"sse4_2", 1, 0, ecx, 20, kAnyState},
    {"movbe", 1, 0, ecx, 22, kAnyState},
    {"popcnt", 1, 0, ecx, 23, kAnyState},
    {"fma", 1, 0, ecx, 12, kAvxState},
    {"avx", 1, 0, ecx, 28, kAvxState},
    {"f16c", 1, 0, ecx, 29, kAvxState},
    {"lahf_lm", 0x80000001, 0, ecx, 0, kAnyState},
    {"abm", 0x80000001, 0, ecx, 5, kAnyState},
    {"sse4a", 0x80000001, 0, ecx, 6, kAnyState},
    {"bmi1", 7, 0, ebx, 3, kAnyState},
    {"avx2", 7, 0, ebx, 5, kAvxState},
    {"bmi2", 7, 0, ebx, 8, kAnyState},
    {"avx512f", 7, 0, ebx, 16, kAvx512State},
    {"avx512dq", 7, 0, ebx, 17, kAvx512State},
    {"avx512ifma", 7, 0, ebx, 21, kAvx512State},
    {"avx512cd", 7, 0, ebx, 28, kAvx512State},
    {"avx512bw", 7, 0, ebx, 30, kAvx512State},
    {"avx512vl", 7, 0, ebx, 31, kAvx512State},
    {"avx512vbmi", 7, 0, ecx, 1, kAvx512State},
    {"avx512_vbmi2", 7, 0, ecx, 6, kAvx512State},
    {"gfni", 7, 0, ecx, 8, kAnyState},
    {"vaes", 7, 0, ecx, 9, kAvxState},
    {"vpclmulqdq", 7, 0, ecx, 10, kAvxState},
    {"avx512_vnni", 7, 0, ecx, 11, kAvx512State},
    {"avx512_bitalg", 7, 0, ecx, 12, kAvx512State},
    {"avx512_vpopcntdq", 7, 0, ecx, 14, kAvx512State},
    {"avx512_fp16", 7, 0, edx, 23, kAvx512State},
    {"avx_vnni", 7, 1, eax, 4, kAvxState},
    {"avx512_bf16", 7, 1, eax, 5, kAvx512State},
    {"avx_ifma", 7, 1, eax, 23, kAvxState},
    {"avx_vnni_int8", 7, 1, edx, 4, kAvxState},
    {"avx_ne_convert", 7, 1, edx, 5, kAvxState},
    {"avx_vnni_int16", 7, 1, edx, 10, kAvxState},
};

uint64_t savedState() {
  uint32_t registers[4] = {};
  __cpuid(1, registers[eax], registers[ebx], registers[ecx], registers[edx]);
  if (!(registers[ecx] >> 27 & 1)) // OSXSAVE
    return 0;
  uint32_t low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low | static_cast<uint64_t>(high) << 32;
}

} // namespace

Presence presenceOf(std::string_view name) {
  auto found = std::find_if(std::begin(kFeatures), std::end(kFeatures), [&](const Feature &each) { return each.name == name; });
  if (found == std::end(kFeatures))
    return Presence::unknown;
  uint32_t registers[4] = {};
  if (!__get_cpuid_count(found->leaf, found->subleaf, &registers[eax], &registers[ebx], &registers[ecx], &registers[edx]))
    return Presence::missing;
  bool isThere = (registers[found->where] >> found->bit & 1) && (savedState() & found->state) == found->state;
  return isThere ? Presence::present : Presence::missing;
}

#elif defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>

namespace {

struct Feature {
  std::string_view name;
  unsigned long word;
  int bit;
};

// Linux, Documentation/arch/arm64/elf_hwcaps.rst.
constexpr Feature kFeatures[] = {
    {"asimd", AT_HWCAP, 1},     {"crc32", AT_HWCAP, 7},       {"atomics", AT_HWCAP, 8}, {"fphp", AT_HWCAP, 9},
    {"asimdhp", AT_HWCAP, 10},  {"asimdrdm", AT_HWCAP, 12},   {"jscvt", AT_HWCAP, 13},  {"fcma", AT_HWCAP, 14},
    {"lrcpc", AT_HWCAP, 15},    {"asimddp", AT_HWCAP, 20},    {"sve", AT_HWCAP, 22},    {"asimdfhm", AT_HWCAP, 23},
    {"uscat", AT_HWCAP, 25},    {"ilrcpc", AT_HWCAP, 26},     {"flagm", AT_HWCAP, 27},  {"sve2", AT_HWCAP2, 1},
    {"svebitperm", AT_HWCAP2, 4}, {"flagm2", AT_HWCAP2, 7},   {"frint", AT_HWCAP2, 8},  {"svei8mm", AT_HWCAP2, 9},
    {"svebf16", AT_HWCAP2, 12}, {"i8mm", AT_HWCAP2, 13},      {"bf16", AT_HWCAP2, 14},
};

} // namespace

Presence presenceOf(std::string_view name) {
  auto found = std::find_if(std::begin(kFeatures), std::end(kFeatures), [&](const Feature &each) { return each.name == name; });
  if (found == std::end(kFeatures))
    return Presence::unknown;
  return getauxval(found->word) >> found->bit & 1 ? Presence::present : Presence::missing;
}

#else

Presence presenceOf(std::string_view) { return Presence::unknown; }

#endif

int32_t dlc_processor_has(const char *feature) {
  Presence found = presenceOf(feature);
  return found == Presence::unknown ? -1 : found == Presence::present;
}
