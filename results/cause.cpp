#include "results/cause.hpp"

#include <map>
#include <sstream>

#include "causes_tsv.inc"  // generated: constexpr const char* causes_tsv_parts[]

namespace fabricgate {
namespace {

std::vector<std::string> split_tabs(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream in(line);
  for (std::string field; std::getline(in, field, '\t');) fields.push_back(field);
  return fields;
}

std::vector<Cause> load() {
  std::vector<Cause> rows;
  for (const char* text : causes_tsv_rows) {
    const auto fields = split_tabs(text);
    if (fields.size() != 6) continue;  // the catalogue's own test rejects such a row
    rows.push_back({fields[0], parse_verdict(fields[1]).value_or(Verdict::inconclusive), fields[2], fields[3], fields[4],
                    fields[5]});
  }
  return rows;
}

}  // namespace

const std::vector<Cause>& causes() {
  static const std::vector<Cause> rows = load();
  return rows;
}

const Cause* find_cause(std::string_view id) {
  static const std::map<std::string_view, const Cause*> index = [] {
    std::map<std::string_view, const Cause*> map;
    for (const Cause& cause : causes()) map.emplace(cause.id, &cause);
    return map;
  }();
  const auto found = index.find(id);
  return found == index.end() ? nullptr : found->second;
}

}  // namespace fabricgate
