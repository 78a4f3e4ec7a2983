#pragma once
/// What must hold of a text before a YAML parser may see it.
#include <cstddef>
#include <optional>
#include <string_view>

namespace fabricgate {

struct TextFault {
  int line = 1, column = 1;  ///< from 1, column in bytes
  const char* what = "";
};

/// First fault of: larger than the limit, not UTF-8, a control character, a tab in front of text.
/// Nothing when the text may be parsed.
std::optional<TextFault> find_text_fault(std::string_view text);

/// Length of the valid UTF-8 sequence at the start of `text`, 0 when there is none (surrogates and overlong forms are
/// not).
std::size_t utf8_length(std::string_view text);

}  // namespace fabricgate
