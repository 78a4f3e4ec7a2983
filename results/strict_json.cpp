#include "results/strict_json.hpp"

#include <string>
#include <utility>
#include <vector>

#include "results/json_text.hpp"

namespace fabricgate {
namespace {

using nlohmann::json;

Error refused(const std::string& what, int native = 0) {
  return {ErrorKind::parse, what, native};
}

/// Hears of each part from the library's parser, in the order of the text; false ends the parse.
class Builder {
 public:
  explicit Builder(std::size_t deepest) : deepest_(deepest) {}

  bool null() { return put(nullptr); }
  bool boolean(bool value) { return put(value); }
  bool number_integer(json::number_integer_t value) { return put(value); }
  bool number_unsigned(json::number_unsigned_t value) { return put(value); }
  bool number_float(json::number_float_t value, const std::string&) { return put(value); }
  bool string(std::string& value) { return put(std::move(value)); }
  bool binary(json::binary_t&) { return false; }  // text has none
  bool start_object(std::size_t) { return open(json::value_t::object); }
  bool start_array(std::size_t) { return open(json::value_t::array); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }

  bool key(std::string& name) {
    auto& members = open_.back()->get_ref<json::object_t&>();
    const std::size_t before = members.size();
    const auto member =
        members.emplace_hint(members.end(), std::move(name), nullptr);  // our own lines have their keys in order
    if (members.size() == before)
      return refuse("key '" + member->first + "' is twice in one object, so its value is unknown");
    place_ = &member->second;
    return true;
  }

  bool parse_error(std::size_t, const std::string&, const json::exception& problem) {
    error_ = refused(plain_text(problem), problem.id);
    return false;
  }

  json root;
  const Error& error() const { return error_; }

 private:
  bool put(json value) {
    place(std::move(value));
    return true;
  }

  bool open(json::value_t kind) {
    if (open_.size() == deepest_) return refuse("nested deeper than " + std::to_string(deepest_));
    open_.push_back(&place(kind));
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  bool refuse(const std::string& what) {
    error_ = refused(what);
    return false;
  }

  json& place(json value) {
    if (!open_.empty() && open_.back()->is_array())
      return open_.back()->get_ref<json::array_t&>().emplace_back(std::move(value));
    json& target = open_.empty() ? root : *place_;
    return target = std::move(value);
  }

  std::size_t deepest_;
  std::vector<json*> open_;  // lists and objects not ended yet; one grows only while none inside it is open
  json* place_ = nullptr;    // value of the last key
  Error error_{ErrorKind::parse, "", 0};
};

}  // namespace

Result<json> parse_strict(std::string_view text, std::size_t deepest) {
  if (text.find('\0') != std::string_view::npos) return refused("a NUL byte, which the parser takes for the end");
  Builder builder(deepest);
  if (!json::sax_parse(text, &builder)) return builder.error();
  return std::move(builder.root);
}

}  // namespace fabricgate
