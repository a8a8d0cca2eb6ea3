// Inside the runtime: what this processor can do, by the names that engines use.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string_view>

// The architecture that this library is built for, as engines name it.
constexpr std::string_view kArchitecture =
#if defined(__x86_64__)
    "x86_64";
#elif defined(__aarch64__)
    "aarch64";
#else
    "unknown";
#endif

enum class Presence { missing, present, unknown };

// Whether the processor, and the system for its registers, has a feature; `unknown` for a name that is in no table here.
Presence presenceOf(std::string_view feature);
