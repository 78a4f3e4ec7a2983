#include <algorithm>

#include "inventory/draft.hpp"

namespace fabricgate {
namespace {

/// Priorities of a port, ascending.
void read_priorities(YamlReader& r, const YamlNode& node, const char* key, std::optional<std::vector<int>>& out) {
  out.emplace();
  r.list(node, key, [&](const YamlNode& item) {
    int priority = 0;
    if (!r.integer(item, key, std::pair(0, 7), priority)) return;
    if (std::find(out->begin(), out->end(), priority) != out->end())
      return r.problem(item.mark, std::string(key) + ": " + std::to_string(priority) + " is given twice");
    out->push_back(priority);
  });
  std::sort(out->begin(), out->end());
}

}  // namespace

void read_roce(YamlReader& r, const YamlNode& node, RoceSpec& roce) {
  r.map(node, "roce",
        {{"trust",
          [&](const YamlNode& n) {
            if (r.word(n, "trust", {"dscp", "pcp"}) >= 0) roce.trust = n.text;
          }},
         {"pfc", [&](const YamlNode& n) { read_priorities(r, n, "pfc", roce.pfc); }},
         {"ecn", [&](const YamlNode& n) { read_priorities(r, n, "ecn", roce.ecn); }},
         {"traffic_class", [&](const YamlNode& n) {
            int value = 0;
            if (r.integer(n, "traffic_class", std::pair(0, 255), value)) roce.traffic_class = value;
          }}});
}

}  // namespace fabricgate
