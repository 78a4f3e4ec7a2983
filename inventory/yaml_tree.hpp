#pragma once
/// Strict YAML text as a plain tree with a place for every node. Built from yaml-cpp's events, so that duplicate keys
/// are seen and nothing is expanded. Anchors, aliases, merge keys, tags, tabs before text and second documents are
/// problems.
#include <compare>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "inventory/inventory.hpp"

namespace fabricgate {

/// A place in a text, from 1.
struct Mark {
  int line = 1, column = 1;

  friend auto operator<=>(const Mark&, const Mark&) = default;
};

struct YamlNode {
  enum class Kind { null, scalar, sequence, map };

  Kind kind = Kind::null;
  bool quoted = false;  ///< scalar written in quotes or as a block: text, never a number
  Mark mark;
  std::string text;  ///< of a scalar
  std::vector<YamlNode>
      keys;  ///< of a map: scalars (null where the text had something else), same order and number as `items`
  std::vector<YamlNode> items;  ///< of a map or sequence

  /// Value of a key of a map, or null.
  const YamlNode* find(std::string_view key) const;
};

/// "a map", "a list", "nothing", "'abc'": for messages.
std::string describe(const YamlNode& node);

/// At most 60 bytes of `text`, cut between characters, without line ends: for messages.
std::string excerpt(std::string_view text);

struct YamlDocument {
  YamlNode root;
  std::vector<InventoryProblem> problems;  ///< in no particular order; with any, `root` may be incomplete
};

constexpr std::size_t max_yaml_bytes = std::size_t{16} << 20;
constexpr std::size_t max_yaml_depth = 32;

/// Never throws. `file` is copied into the problems.
YamlDocument read_yaml(const std::string& text, const std::string& file);

}  // namespace fabricgate
