// Inside the runtime: JSON without fractions, as the manifests of engines are written in.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

class Json {
public:
  enum class Kind { null, boolean, number, text, list, object };

  // Throws EngineError, with a position, for what is no JSON, is nested more than 16 deep, or has a number that is no int64_t.
  static Json parse(std::string_view text);

  // The value as what it must be; EngineError, which names `what`, where it is something else.
  bool asBool(const char *what) const;
  int64_t asNumber(const char *what) const;
  const std::string &asText(const char *what) const;
  const std::vector<Json> &asList(const char *what) const;

  // The field `name` of an object; EngineError where there is none.
  const Json &at(const char *name) const;
  // The same, null where there is none.
  const Json *find(const char *name) const;
  bool isNull() const { return kind == Kind::null; }
  bool isNumber() const { return kind == Kind::number; }

private:
  friend class JsonReader;
  void require(Kind expected, const char *what) const;

  Kind kind = Kind::null;
  bool boolean = false;
  int64_t number = 0;
  std::string text;
  std::vector<Json> list;
  std::vector<std::string> names;
};
