// Expands a variant's spec and the kernel's includes into one text that needs no include path.
#include "device/kernel_text.hpp"

#include <fmt/format.h>

#include <cctype>
#include <optional>
#include <set>

#include "datasets/errors.hpp"

namespace parity {
namespace {

std::string upper(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return result;
}

std::optional<std::string_view> find_text(const KernelTexts& texts, std::string_view file) {
  for (const auto& [known, text] : texts)
    if (known == file) return text;
  return std::nullopt;
}

std::string_view trim(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return line.substr(begin, line.find_last_not_of(" \t\r") + 1 - begin);
}

/// The directive and its argument in `# include "x"`: {"include", "\"x\""}; empty for other lines.
std::pair<std::string_view, std::string_view> directive(std::string_view line) {
  line = trim(line);
  if (!line.starts_with('#')) return {};
  line = trim(line.substr(1));
  const std::size_t end = std::min(line.find_first_of(" \t\"<"), line.size());
  return {line.substr(0, end), trim(line.substr(end))};
}

/// The name in `#include "name"`, whatever folder stands before it; empty for any other line.
std::string_view included_file(std::string_view line) {
  const auto [word, argument] = directive(line);
  if (word != "include" || !argument.starts_with('"')) return {};
  const std::size_t end = argument.find('"', 1);
  if (end == std::string_view::npos) return {};
  const std::string_view path = argument.substr(1, end - 1);
  return path.substr(path.rfind('/') + 1);
}

bool is_pragma_once(std::string_view line) {
  return directive(line) == std::pair<std::string_view, std::string_view>{"pragma", "once"};
}

void expand(const KernelTexts& texts, std::string_view text, std::set<std::string_view>& included,
            std::string& out) {
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    begin = end + 1;
    if (is_pragma_once(line)) continue;
    const std::string_view file = included_file(line);
    if (file.empty()) {
      out.append(line).push_back('\n');
      continue;
    }
    const auto content = find_text(texts, file);
    if (!content)
      throw UsageError(fmt::format(
          "kernel text includes \"{}\", which is not embedded; list it in device/CMakeLists.txt",
          file));
    if (included.insert(file).second) expand(texts, *content, included, out);
  }
}

}  // namespace

std::string opening(const VariantSpec& spec) {
  std::string out = fmt::format("// parity module: {}\n", spec.canonical());
  for (const auto& [axis, dtype] : spec.dtypes)
    out += fmt::format("#define PARITY_DTYPE_{} {}\n", upper(axis), name(dtype));
  for (const auto& [constant, value] : spec.constants)
    out += fmt::format("#define PARITY_{} {}\n", constant, value);
  return out;
}

std::string expand(const std::string& kernel, const KernelTexts& texts) {
  const std::string file = kernel + ".cuh";
  const auto text = find_text(texts, file);
  if (!text) throw UsageError(fmt::format("no kernel is called '{}'", kernel));
  std::string out;
  std::set<std::string_view> included{file};
  expand(texts, *text, included, out);
  return out;
}

std::string render(const VariantSpec& spec, const KernelTexts& texts) {
  return opening(spec) + expand(spec.kernel, texts);
}

}  // namespace parity
