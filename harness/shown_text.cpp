// UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing above U+10FFFF.
#include "harness/shown_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace parity {
namespace {

struct Sequence {
  std::size_t bytes;  ///< 0: the lead begins none
  std::uint32_t least;
  std::uint32_t bits;  ///< of the lead
};

Sequence begun_by(unsigned char lead) {
  if (lead < 0x80) return {1, 0, lead};
  if (lead >= 0xc0 && lead < 0xe0) return {2, 0x80, lead & 0x1fu};
  if (lead >= 0xe0 && lead < 0xf0) return {3, 0x800, lead & 0x0fu};
  if (lead >= 0xf0 && lead < 0xf8) return {4, 0x10000, lead & 0x07u};
  return {0, 0, 0};
}

/// Bytes of the character that `text` opens with, and what it is; 0 bytes where it opens with none.
std::size_t first_character(std::string_view text, std::uint32_t& character) {
  const auto [bytes, least, bits] = begun_by(static_cast<unsigned char>(text[0]));
  if (bytes == 0 || bytes > text.size()) return 0;
  character = bits;
  for (const char c : text.substr(1, bytes - 1)) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xc0u) != 0x80u) return 0;
    character = character << 6 | (byte & 0x3fu);
  }
  const bool surrogate = character >= 0xd800 && character <= 0xdfff;
  return character < least || character > 0x10ffff || surrogate ? 0 : bytes;
}

/// C0, DEL and C1: terminals obey the latter too.
bool is_control(std::uint32_t character) {
  return character < 0x20 || (character >= 0x7f && character <= 0x9f);
}

std::string escaped(std::string_view text, bool backslashes) {
  std::string out;
  while (!text.empty()) {
    std::uint32_t character = 0;
    const std::size_t bytes = first_character(text, character);
    const bool plain = bytes > 0 && !is_control(character) && !(backslashes && character == '\\');
    const std::string_view taken = text.substr(0, bytes == 0 ? 1 : bytes);
    if (plain) out += taken;
    for (const char c : plain ? std::string_view() : taken)
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    text.remove_prefix(taken.size());
  }
  return out;
}

}  // namespace

bool is_utf8(std::string_view text) {
  std::uint32_t character = 0;
  while (!text.empty()) {
    const std::size_t bytes = first_character(text, character);
    if (bytes == 0) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

std::string shown(std::string_view name) {
  return escaped(name, true);
}

std::string shown_line(std::string_view message) {
  return escaped(message, false);
}

std::string shown_lines(std::string_view text) {
  std::string out;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (begin > 0) out += '\n';
    out += shown_line(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

}  // namespace parity
