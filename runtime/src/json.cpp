// A strict reader of JSON: every position is checked, depth is bounded.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "json.h"
#include "engine_error.h"

#include <algorithm>

namespace {

constexpr int kMostDepth = 16;
// Names are compared with all others of their object.
constexpr size_t kMostNames = 64;

// Bytes of the UTF-8 character that begins with `first`; 0 for a byte that begins none.
int characterBytes(unsigned char first) {
  if (first < 0x80)
    return 1;
  if (first >= 0xC2 && first < 0xE0)
    return 2;
  if (first >= 0xE0 && first < 0xF0)
    return 3;
  return first >= 0xF0 && first < 0xF5 ? 4 : 0;
}

} // namespace

class JsonReader {
public:
  explicit JsonReader(std::string_view given) : text(given) {}

  Json whole() {
    Json found = value(0);
    skipSpace();
    if (position != text.size())
      fail("something follows the end");
    return found;
  }

private:
  [[noreturn]] void fail(const char *reason) const {
    throw EngineError(DLC_BAD_ENGINE, "the manifest is no JSON of engines at byte " + std::to_string(position) + ": " + reason);
  }

  void skipSpace() {
    while (position < text.size() && (text[position] == ' ' || text[position] == '\n' || text[position] == '\t' || text[position] == '\r'))
      ++position;
  }

  bool skip(char expected) {
    skipSpace();
    if (position >= text.size() || text[position] != expected)
      return false;
    ++position;
    return true;
  }

  bool skipWord(std::string_view word) {
    if (text.substr(position, word.size()) != word)
      return false;
    position += word.size();
    return true;
  }

  Json value(int depth) {
    if (depth > kMostDepth)
      fail("it is nested too deep");
    skipSpace();
    Json found;
    if (skip('{')) {
      found.kind = Json::Kind::object;
      fields(found, depth);
    } else if (skip('[')) {
      found.kind = Json::Kind::list;
      items(found, depth);
    } else if (position < text.size() && text[position] == '"') {
      found.kind = Json::Kind::text;
      found.text = string();
    } else if (skipWord("true")) {
      found.kind = Json::Kind::boolean;
      found.boolean = true;
    } else if (skipWord("false")) {
      found.kind = Json::Kind::boolean;
    } else if (!skipWord("null")) {
      found.kind = Json::Kind::number;
      found.number = number();
    }
    return found;
  }

  void fields(Json &object, int depth) {
    if (skip('}'))
      return;
    do {
      skipSpace();
      if (position >= text.size() || text[position] != '"')
        fail("a name is missing");
      std::string name = string();
      if (object.names.size() == kMostNames)
        fail("an object has too many names");
      if (std::find(object.names.begin(), object.names.end(), name) != object.names.end())
        fail("a name is there twice");
      if (!skip(':'))
        fail("':' is missing");
      object.names.push_back(std::move(name));
      object.list.push_back(value(depth + 1));
    } while (skip(','));
    if (!skip('}'))
      fail("'}' is missing");
  }

  void items(Json &list, int depth) {
    if (skip(']'))
      return;
    do
      list.list.push_back(value(depth + 1));
    while (skip(','));
    if (!skip(']'))
      fail("']' is missing");
  }

  int64_t number() {
    bool isNegative = position < text.size() && text[position] == '-';
    position += isNegative;
    size_t begin = position;
    int64_t found = 0;
    for (; position < text.size() && text[position] >= '0' && text[position] <= '9'; ++position)
      if (__builtin_mul_overflow(found, int64_t{10}, &found) || __builtin_add_overflow(found, int64_t{text[position] - '0'}, &found))
        fail("a number is too large");
    if (position == begin)
      fail("a value is missing");
    if (text[begin] == '0' && position > begin + 1)
      fail("a number begins with 0");
    if (position < text.size() && (text[position] == '.' || text[position] == 'e' || text[position] == 'E'))
      fail("a number has a fraction");
    return isNegative ? -found : found;
  }

  std::string string() {
    std::string found;
    ++position;
    while (position < text.size() && text[position] != '"') {
      unsigned char first = static_cast<unsigned char>(text[position]);
      if (first < 0x20)
        fail("a text holds a control character");
      if (first == '\\')
        escape(found);
      else
        character(found, characterBytes(first));
    }
    if (position >= text.size())
      fail("a text has no end");
    ++position;
    return found;
  }

  void character(std::string &found, int bytes) {
    bool isWhole = bytes > 0 && position + static_cast<size_t>(bytes) <= text.size();
    for (int i = 1; isWhole && i < bytes; ++i)
      isWhole = (static_cast<unsigned char>(text[position + static_cast<size_t>(i)]) & 0xC0) == 0x80;
    if (!isWhole)
      fail("a text is no UTF-8");
    found.append(text.substr(position, static_cast<size_t>(bytes)));
    position += static_cast<size_t>(bytes);
  }

  void escape(std::string &found) {
    static constexpr std::string_view names = "\"\\/bfnrt", meanings = "\"\\/\b\f\n\r\t";
    ++position;
    char name = position < text.size() ? text[position] : '\0';
    ++position;
    size_t index = names.find(name);
    if (name != '\0' && index != std::string_view::npos)
      found.push_back(meanings[index]);
    else if (name == 'u')
      found.push_back(static_cast<char>(controlCharacter()));
    else
      fail("an escape is unknown");
  }

  // Writers of manifests escape control characters only.
  int controlCharacter() {
    int code = 0;
    for (int i = 0; i < 4; ++i, ++position) {
      static constexpr std::string_view digits = "0123456789abcdef";
      size_t digit = position < text.size() ? digits.find(text[position]) : std::string_view::npos;
      if (digit == std::string_view::npos)
        fail("an escape is unknown");
      code = 16 * code + static_cast<int>(digit);
    }
    if (code == 0 || code >= 0x80)
      fail("an escape stands for no control character");
    return code;
  }

  std::string_view text;
  size_t position = 0;
};

Json Json::parse(std::string_view text) { return JsonReader(text).whole(); }

void Json::require(Kind expected, const char *what) const {
  if (kind != expected)
    throw EngineError(DLC_BAD_ENGINE, std::string("the manifest has no proper '") + what + "'");
}

bool Json::asBool(const char *what) const {
  require(Kind::boolean, what);
  return boolean;
}

int64_t Json::asNumber(const char *what) const {
  require(Kind::number, what);
  return number;
}

const std::string &Json::asText(const char *what) const {
  require(Kind::text, what);
  return text;
}

const std::vector<Json> &Json::asList(const char *what) const {
  require(Kind::list, what);
  return list;
}

const Json *Json::find(const char *name) const {
  require(Kind::object, name);
  auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? nullptr : &list[static_cast<size_t>(found - names.begin())];
}

const Json &Json::at(const char *name) const {
  const Json *found = find(name);
  if (!found)
    throw EngineError(DLC_BAD_ENGINE, std::string("the manifest has no '") + name + "'");
  return *found;
}
