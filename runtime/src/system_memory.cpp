// How much memory the system has left. Linux promises more than it has, and ends a process that then writes to it.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "system_memory.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace {

constexpr uint64_t kUnknown = std::numeric_limits<uint64_t>::max();

// The beginning of a file as text; empty when it cannot be read. It allocates nothing.
struct Text {
  explicit Text(const char *path) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
      return;
    ssize_t size = read(file, content, sizeof content - 1);
    content[std::max<ssize_t>(size, 0)] = 0;
    close(file);
  }
  char content[4096] = "";
};

// The number in a file that holds one; unknown for "max", and where there is no such file.
uint64_t numberIn(const char *path) {
  Text text(path);
  char *end = nullptr;
  uint64_t value = std::strtoull(text.content, &end, 10);
  return end == text.content ? kUnknown : value;
}

// The number after `name` and a space; 0 where the text has no such line.
uint64_t numberAfter(const Text &text, const char *name) {
  const char *line = std::strstr(text.content, name);
  return line ? std::strtoull(line + std::strlen(name), nullptr, 10) : 0;
}

uint64_t ofSystem() {
  Text text("/proc/meminfo");
  uint64_t kilobytes = numberAfter(text, "MemAvailable:");
  return kilobytes ? kilobytes * 1024 : kUnknown;
}

// What a control group has left: pages of files that nobody used lately count as used, but the system takes them back.
uint64_t left(uint64_t limit, uint64_t used, uint64_t reclaimable) {
  if (limit == kUnknown || used == kUnknown)
    return kUnknown;
  used -= std::min(used, reclaimable);
  return limit > used ? limit - used : 0;
}

// Of the control group that a container sees as its own, of either version.
uint64_t ofControlGroup() {
  uint64_t limit = numberIn("/sys/fs/cgroup/memory.max");
  if (limit != kUnknown)
    return left(limit, numberIn("/sys/fs/cgroup/memory.current"), numberAfter(Text("/sys/fs/cgroup/memory.stat"), "inactive_file "));
  limit = numberIn("/sys/fs/cgroup/memory/memory.limit_in_bytes");
  return left(limit, numberIn("/sys/fs/cgroup/memory/memory.usage_in_bytes"),
              numberAfter(Text("/sys/fs/cgroup/memory/memory.stat"), "total_inactive_file "));
}

} // namespace

uint64_t availableMemory() { return std::min(ofSystem(), ofControlGroup()); }

void adviseHugePages(void *memory, uint64_t size) {
#ifdef MADV_HUGEPAGE
  if (size >= kHugePage)
    madvise(memory, size / kHugePage * kHugePage, MADV_HUGEPAGE);
#endif
}
