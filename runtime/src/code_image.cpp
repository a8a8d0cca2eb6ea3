// Mapping of code: text and read-only data from the file, the rest private. What is written is written before it is called.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "code_image.h"
#include "imports.h"

#include <cerrno>
#include <cstring>

#include <sys/mman.h>
#include <unistd.h>

namespace {

[[noreturn]] void fail(const char *what) {
  dlc_status status = errno == ENOMEM ? DLC_OUT_OF_MEMORY : DLC_BAD_ENGINE;
  throw EngineError(status, std::string("its code cannot be ") + what + ": " + std::strerror(errno));
}

class Image {
public:
  Image(const VariantEntry &entry, const EngineBytes &from) : variant(entry), engine(from) {
    // Pages of the system that are larger than those of the file cannot show parts of it.
    isMapped = engine.descriptor >= 0 && static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) <= kEnginePage;
    void *begin = mmap(nullptr, variant.memory(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (begin == MAP_FAILED)
      fail("mapped");
    pages = Pages(begin, variant.memory());
  }

  Pages load() {
    uint64_t readOnly = variant.text + variant.rodata, first = variant.relro + variant.data;
    place(0, readOnly, PROT_READ);
    place(readOnly, first, PROT_READ | PROT_WRITE);
    if (variant.zero)
      protect(readOnly + first, variant.zero, PROT_READ | PROT_WRITE);
    writeWords();
    if (!isMapped) // the instruction cache of AArch64 does not see what was written
      __builtin___clear_cache(reinterpret_cast<char *>(pages.begin()), reinterpret_cast<char *>(pages.begin() + variant.text));
    protect(0, variant.text, PROT_READ | PROT_EXEC);
    protect(readOnly, variant.relro, PROT_READ);
    return std::move(pages);
  }

private:
  // Shows `size` bytes of the code from `offset` on: the file's pages, or a copy.
  void place(uint64_t offset, uint64_t size, int access) {
    if (!size)
      return;
    uint8_t *target = pages.begin() + offset;
    uint64_t source = variant.code.offset + offset;
    if (isMapped) {
      if (mmap(target, size, access, MAP_PRIVATE | MAP_FIXED, engine.descriptor, static_cast<off_t>(source)) == MAP_FAILED)
        fail("mapped");
      return;
    }
    protect(offset, size, PROT_READ | PROT_WRITE);
    std::memcpy(target, engine.begin + source, size);
    protect(offset, size, access);
  }

  void protect(uint64_t offset, uint64_t size, int access) {
    if (size && mprotect(pages.begin() + offset, size, access) != 0)
      fail(access & PROT_EXEC ? "made executable" : "protected");
  }

  void write(uint64_t offset, uint64_t value) { std::memcpy(pages.begin() + offset, &value, sizeof value); }

  void writeWords() {
    for (auto [offset, value] : variant.relative)
      write(offset, reinterpret_cast<uint64_t>(pages.begin()) + value);
    for (const ImportEntry &import : variant.imports) {
      const void *address = providedFunction(import.name);
      if (!address)
        throw EngineError(DLC_BAD_ENGINE, "its code calls '" + import.name + "', which this runtime does not have; install a newer dlc-runtime");
      for (uint64_t word : import.words)
        write(word, reinterpret_cast<uint64_t>(address));
    }
  }

  const VariantEntry &variant;
  const EngineBytes &engine;
  bool isMapped = false;
  Pages pages;
};

} // namespace

Pages loadCode(const VariantEntry &variant, const EngineBytes &engine) { return Image(variant, engine).load(); }
