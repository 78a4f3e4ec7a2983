#pragma once
/// Typed, strict reading of a YamlNode tree: every mismatch is a problem with its place and what was expected, and so
/// is every CHANGE-ME that is still there.
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "inventory/yaml_tree.hpp"

namespace fabricgate {

/// What a text must look like.
struct Form {
  const char* expected;  ///< "a path without spaces"
  bool (*matches)(std::string_view);
};

/// A key a map may have. `read` gets its value; called in the order of the table, not of the file.
struct Field {
  std::string_view key;
  std::function<void(const YamlNode&)> read;
  bool required = false;
};

class YamlReader {
 public:
  explicit YamlReader(std::string file) : file_(std::move(file)) {}

  void problem(Mark mark, std::string what);
  void add(std::vector<InventoryProblem> problems);
  bool clean() const { return problems_.empty(); }
  /// In file order, each once.
  std::vector<InventoryProblem> take_problems();

  /// Reads a map called `what` in messages. Unknown keys are problems naming the nearest known one, absent required
  /// keys too.
  void map(const YamlNode& node, std::string_view what, const std::vector<Field>& fields);
  /// Calls `read` for every item of a list.
  void list(const YamlNode& node, std::string_view key, const std::function<void(const YamlNode&)>& read);

  bool text(const YamlNode& node, std::string_view key, const Form& form, std::string& out);
  bool integer(const YamlNode& node, std::string_view key, std::pair<std::int64_t, std::int64_t> range,
               std::int64_t& out);
  bool integer(const YamlNode& node, std::string_view key, std::pair<int, int> range, int& out);
  /// Within the range, ends included.
  bool number(const YamlNode& node, std::string_view key, std::pair<double, double> range, double& out);
  bool boolean(const YamlNode& node, std::string_view key, bool& out);
  /// One of the words; returns its index, or -1.
  int word(const YamlNode& node, std::string_view key, std::initializer_list<const char*> words);

 private:
  bool expect_scalar(const YamlNode& node, std::string_view key, const std::string& expected, bool plain);

  std::string file_;
  std::vector<InventoryProblem> problems_;
};

/// The candidate nearest to `text` by edit distance when it is near enough to be meant, else empty.
std::string nearest(std::string_view text, const std::vector<std::string_view>& candidates);
/// "unknown key 'x' in rail, did you mean 'y'?" or with the known ones listed.
std::string unknown(std::string_view kind, std::string_view text, std::string_view where,
                    const std::vector<std::string_view>& candidates);

}  // namespace fabricgate
