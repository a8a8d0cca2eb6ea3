// Reads and writes .npy, as numpy.lib.format specifies it.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "npy_file.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>

namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kPrefix = 12; // of version 2; version 1 has two bytes less
constexpr size_t kMostHeader = 1 << 20;
constexpr size_t kAlignment = 64;
constexpr int64_t kMostBytes = INT64_MAX / 2;

struct Close {
  void operator()(FILE *file) const { std::fclose(file); }
};
using File = std::unique_ptr<FILE, Close>;

struct Name {
  std::string_view element;
  std::string_view numpy;
};

// Types that NumPy has; the others are ml_dtypes', whose arrays are written as bytes without a meaning (V2).
constexpr Name kNames[] = {
    {"f64", "<f8"},  {"f32", "<f4"},  {"f16", "<f2"},  {"i64", "<i8"}, {"i32", "<i4"}, {"i16", "<i2"}, {"i8", "|i1"},
    {"ui64", "<u8"}, {"ui32", "<u4"}, {"ui16", "<u2"}, {"ui8", "|u1"}, {"i1", "|b1"},
};

std::string nameOf(const dlc_native_tensor &tensor) {
  for (const Name &name : kNames)
    if (name.element == tensor.element)
      return std::string(name.numpy);
  return (tensor.element_bytes > 1 ? "<V" : "|V") + std::to_string(tensor.element_bytes);
}

// The text after `'key':` in a header, which is a literal of Python; empty where there is none.
std::string_view valueOf(std::string_view header, std::string_view key) {
  size_t at = header.find("'" + std::string(key) + "':");
  if (at == std::string_view::npos)
    return {};
  header.remove_prefix(at + key.size() + 3);
  size_t first = header.find_first_not_of(' ');
  return first == std::string_view::npos ? std::string_view{} : header.substr(first);
}

bool readSizes(std::string_view text, std::vector<int64_t> &sizes) {
  if (text.empty() || text[0] != '(' || text.find(')') == std::string_view::npos)
    return false;
  std::string inside(text.substr(1, text.find(')') - 1));
  const char *at = inside.c_str();
  while (*at) {
    if (*at == ' ' || *at == ',') {
      ++at;
      continue;
    }
    char *end = nullptr;
    errno = 0;
    long long size = std::strtoll(at, &end, 10);
    if (end == at || size < 0 || errno)
      return false;
    sizes.push_back(size);
    at = end;
  }
  return true;
}

bool readExactly(FILE *file, void *bytes, size_t size) { return std::fread(bytes, 1, size, file) == size; }

// The header's text, up to where the elements begin.
bool readHeader(FILE *file, std::string &header) {
  unsigned char prefix[kPrefix];
  if (!readExactly(file, prefix, kPrefix - 2) || std::memcmp(prefix, kMagic.data(), kMagic.size()) != 0)
    return false;
  size_t size = prefix[8] | static_cast<size_t>(prefix[9]) << 8;
  if (prefix[6] > 1) {
    if (!readExactly(file, prefix + kPrefix - 2, 2))
      return false;
    size |= static_cast<size_t>(prefix[10]) << 16 | static_cast<size_t>(prefix[11]) << 24;
  }
  if (size > kMostHeader)
    return false;
  header.resize(size);
  return readExactly(file, header.data(), size);
}

bool countBytes(const std::vector<int64_t> &sizes, int64_t &bytes) {
  for (int64_t size : sizes)
    if (__builtin_mul_overflow(bytes, size, &bytes) || bytes > kMostBytes)
      return false;
  return true;
}

NpyArray refused(std::string fault) {
  NpyArray array;
  array.fault = std::move(fault);
  return array;
}

// Bytes of a file from where it stands; it stays there.
int64_t bytesLeft(FILE *file) {
  long at = std::ftell(file);
  std::fseek(file, 0, SEEK_END);
  long end = std::ftell(file);
  std::fseek(file, at, SEEK_SET);
  return end - at;
}

} // namespace

NpyArray readNpy(const std::string &path, const dlc_native_tensor &tensor) {
  const std::string subject = "'" + path + "' ";
  File file(std::fopen(path.c_str(), "rb"));
  if (!file)
    return refused(subject + "cannot be read: " + std::strerror(errno));
  std::string header;
  if (!readHeader(file.get(), header))
    return refused(subject + "is no .npy file; write it with numpy.save");
  NpyArray array;
  std::string expected = nameOf(tensor), found(valueOf(header, "descr"));
  found = found.size() > 1 ? found.substr(1, found.find('\'', 1) - 1) : "";
  bool isSame = found.size() > 1 && found.substr(1) == expected.substr(1) && (found[0] != '>' || tensor.element_bytes == 1);
  if (!isSame)
    return refused(subject + "holds " + (found.empty() ? "no simple array" : found) + ", and input '" + tensor.name + "' takes " + expected + " (" +
                   tensor.element + ")");
  if (!readSizes(valueOf(header, "shape"), array.sizes) || array.sizes.size() != static_cast<size_t>(tensor.rank))
    return refused(subject + "has " + std::to_string(array.sizes.size()) + " dims, and input '" + tensor.name + "' has " + std::to_string(tensor.rank));
  if (array.sizes.size() > 1 && valueOf(header, "fortran_order").substr(0, 4) == "True")
    return refused(subject + "is in Fortran's order; write numpy.ascontiguousarray of it");
  int64_t bytes = tensor.element_bytes;
  if (!countBytes(array.sizes, bytes) || bytes != bytesLeft(file.get()))
    return refused(subject + "has not as many bytes as its shape needs");
  array.memory.resize(static_cast<size_t>(bytes + 7) / 8);
  if (!readExactly(file.get(), array.memory.data(), static_cast<size_t>(bytes)))
    return refused(subject + "cannot be read to its end");
  return array;
}

std::string writeNpy(const std::string &path, const dlc_native_tensor &tensor, const int64_t *sizes, const void *data, uint64_t bytes) {
  std::string header = "{'descr': '" + nameOf(tensor) + "', 'fortran_order': False, 'shape': (";
  for (int32_t dim = 0; dim < tensor.rank; ++dim)
    header += std::to_string(sizes[dim]) + (dim + 1 < tensor.rank ? ", " : tensor.rank == 1 ? "," : "");
  header += "), }";
  size_t prefix = kPrefix - 2;
  header.append(kAlignment - (prefix + header.size() + 1) % kAlignment, ' ');
  header += '\n';
  std::string head(kMagic);
  head += {1, 0, static_cast<char>(header.size() & 0xFF), static_cast<char>(header.size() >> 8)};
  head += header;
  File file(std::fopen(path.c_str(), "wb"));
  bool isWritten = file && std::fwrite(head.data(), 1, head.size(), file.get()) == head.size() &&
                   std::fwrite(data, 1, bytes, file.get()) == bytes && std::fflush(file.get()) == 0;
  return isWritten ? "" : "'" + path + "' cannot be written: " + std::strerror(errno);
}
