#include "inventory/yaml_text.hpp"

#include "inventory/yaml_tree.hpp"

namespace fabricgate {

std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const unsigned first = byte(0);
  if (first < 0x80) return text.empty() ? 0 : 1;
  const std::size_t length = first >= 0xf5 ? 0 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  const unsigned second = byte(1);  // overlong forms, surrogates and values above U+10FFFF show in the second byte
  if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second >= 0xa0)) return 0;
  if ((first == 0xf0 && second < 0x90) || (first == 0xf4 && second >= 0x90)) return 0;
  return length;
}

std::optional<TextFault> find_text_fault(std::string_view text) {
  if (text.size() > max_yaml_bytes) return TextFault{.what = "larger than 16 MiB: not an inventory"};
  int line = 1;
  std::size_t line_start = 0, i = 0;
  bool indentation = true;
  const auto fault = [&](const char* what) {
    return TextFault{.line = line, .column = static_cast<int>(i - line_start) + 1, .what = what};
  };
  while (i < text.size()) {
    const char c = text[i];
    const std::size_t length = utf8_length(text.substr(i, 4));
    if (length == 0) return fault("not UTF-8 text");
    if ((c >= 0 && c < ' ' && c != '\n' && c != '\r' && c != '\t') || c == 0x7f) return fault("control character");
    if (c == '\t' && indentation) return fault("tab in front of text: indent with spaces");
    i += length;
    if (c == '\n') {
      ++line;
      line_start = i;
      indentation = true;
    } else if (c != ' ') {
      indentation = false;
    }
  }
  return std::nullopt;
}

}  // namespace fabricgate
