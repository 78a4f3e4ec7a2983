#include "inventory/yaml_tree.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <numeric>
#include <sstream>

#include "inventory/yaml_text.hpp"

namespace fabricgate {
namespace {

Mark place(const YAML::Mark& mark) {
  return {.line = std::max(mark.line, 0) + 1, .column = std::max(mark.column, 0) + 1};
}

/// Open maps and sequences are on the stack; in a map a node is a key when keys and items are equal in number.
class TreeBuilder final : public YAML::EventHandler {
 public:
  TreeBuilder(const std::string& text, const std::string& file, YamlDocument& document)
      : text_(text), file_(file), document_(document) {}

  void problem(Mark mark, std::string what) {
    document_.problems.push_back({.file = file_, .line = mark.line, .column = mark.column, .what = std::move(what)});
  }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    check(mark, "", anchor);
    add({.mark = place(mark)});
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    problem(place(mark), "aliases (*name) are not supported: write the values out");
    add({.mark = place(mark)});
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    check(mark, tag, anchor);
    if (tag == "!") check_quotes(mark);
    if (find_text_fault(value)) problem(place(mark), "text with a control character, a leading tab or a broken escape");
    add({.kind = YamlNode::Kind::scalar, .quoted = tag == "!", .mark = place(mark), .text = value});
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, YamlNode::Kind::sequence);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, YamlNode::Kind::map);
  }
  void OnMapEnd() override {
    check_keys(stack_.back());
    close();
  }

 private:
  void check(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    if (anchor != 0) problem(place(mark), "anchors (&name) are not supported: write the values out");
    if (!tag.empty() && tag != "!" && tag != "?") problem(place(mark), "tags (" + excerpt(tag) + ") are not supported");
  }

  /// yaml-cpp lets a forgotten quote run to the end of the file, so quotes must close on the line they open.
  void check_quotes(const YAML::Mark& mark) const {
    const auto begin = static_cast<std::size_t>(std::max(mark.pos, 0));
    if (begin >= text_.size() || (text_[begin] != '"' && text_[begin] != '\'')) return;
    const char quote = text_[begin];
    for (std::size_t i = begin + 1; i < text_.size() && text_[i] != '\n'; ++i) {
      if (text_[i] == quote) return;
      if (quote == '"' && text_[i] == '\\') ++i;
    }
    throw YAML::ParserException(mark, "the quote is not closed on its line");
  }

  void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, YamlNode::Kind kind) {
    check(mark, tag, anchor);
    if (stack_.size() >= max_yaml_depth) throw YAML::ParserException(mark, "nested too deep");
    stack_.push_back({.kind = kind, .mark = place(mark)});
  }

  void close() {
    YamlNode node = std::move(stack_.back());
    stack_.pop_back();
    add(std::move(node));
  }

  void add(YamlNode node) {
    if (stack_.empty()) {
      document_.root = std::move(node);
      return;
    }
    YamlNode& parent = stack_.back();
    const bool is_key = parent.kind == YamlNode::Kind::map && parent.keys.size() == parent.items.size();
    if (is_key && node.kind != YamlNode::Kind::scalar) {
      problem(node.mark, "a key must be plain text, found " + describe(node));
      node = {.mark = node.mark};
    }
    (is_key ? parent.keys : parent.items).push_back(std::move(node));
  }

  void check_keys(const YamlNode& map) {
    const auto& keys = map.keys;
    std::vector<std::size_t> order(keys.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return keys[a].text < keys[b].text; });
    std::size_t first = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
      const YamlNode& key = keys[order[i]];
      if (key.text == "<<" && !key.quoted) problem(key.mark, "merge keys (<<) are not supported: write the values out");
      if (i == 0 || key.text != keys[order[first]].text) {
        first = i;
      } else {
        problem(key.mark, "duplicate key '" + excerpt(key.text) + "', first on line " +
                              std::to_string(keys[order[first]].mark.line));
      }
    }
  }

  const std::string& text_;
  const std::string& file_;
  YamlDocument& document_;
  std::vector<YamlNode> stack_;
};

}  // namespace

const YamlNode* YamlNode::find(std::string_view key) const {
  for (std::size_t i = 0; i < keys.size() && i < items.size(); ++i)
    if (keys[i].text == key) return &items[i];
  return nullptr;
}

std::string describe(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::null:
      return "nothing";
    case YamlNode::Kind::sequence:
      return "a list";
    case YamlNode::Kind::map:
      return "a map";
    case YamlNode::Kind::scalar:
      break;
  }
  return "'" + excerpt(node.text) + "'";
}

std::string excerpt(std::string_view text) {
  std::size_t length = 0;
  while (length < text.size() && length < 60) length += std::max<std::size_t>(utf8_length(text.substr(length, 4)), 1);
  std::string out(text.substr(0, length));
  std::replace_if(
      out.begin(), out.end(), [](char c) { return c >= 0 && c < ' '; }, ' ');
  return length < text.size() ? out + "..." : out;
}

YamlDocument read_yaml(const std::string& text, const std::string& file) {
  YamlDocument document;
  TreeBuilder builder(text, file, document);
  if (const auto fault = find_text_fault(text)) {
    builder.problem({.line = fault->line, .column = fault->column}, fault->what);
    return document;
  }
  try {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    parser.HandleNextDocument(builder);
    YamlNode root = std::move(document.root);
    const std::size_t known = document.problems.size();
    if (parser.HandleNextDocument(builder)) {
      document.problems.resize(known);
      builder.problem(document.root.mark, "a second document: one file holds one");
    }
    document.root = std::move(root);
  } catch (const YAML::Exception& error) {
    const bool end = error.msg.compare(0, 6, "end of") == 0;
    builder.problem(place(error.mark),
                    "not YAML: " + error.msg + (end ? "; check indentation and brackets above" : ""));
  } catch (const std::exception& error) {
    builder.problem({}, std::string("not YAML: ") + error.what());
  }
  return document;
}

}  // namespace fabricgate
