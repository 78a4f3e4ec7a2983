#include "inventory/draft.hpp"
#include "inventory/forms.hpp"
#include "results/host_range.hpp"

namespace fabricgate {
namespace {

constexpr std::size_t max_nodes = 65536;

/// One item of the list `nodes` before its range is expanded.
struct Entry {
  Mark mark, hosts, address_mark;
  std::vector<std::string> names;
  std::shared_ptr<const ClassDraft> from;
  std::string address, rack;
  bool required = true;
  const YamlNode* overrides = nullptr;
};

void read_hosts(YamlReader& r, const YamlNode& node, Entry& entry) {
  entry.hosts = node.mark;
  std::string text;
  if (!r.text(node, "hosts", forms::hosts, text)) return;
  auto names = expand_hosts(text);
  if (!names) return r.problem(node.mark, "hosts: " + names.error().what);
  for (const std::string& name : *names) {
    if (forms::node_name.matches(name)) continue;
    return r.problem(node.mark,
                     std::string("hosts: expected ") + forms::node_name.expected + ", found '" + excerpt(name) + "'");
  }
  entry.names = std::move(*names);
}

void read_class_name(YamlReader& r, const YamlNode& node, const InventoryDraft& draft, Entry& entry) {
  std::string name;
  if (!r.text(node, "class", forms::label, name)) return;
  if (!draft.classes_needed && draft.classes.empty()) return;  // the class is still to be learnt
  const auto found = draft.classes.find(name);
  if (found != draft.classes.end()) {
    entry.from = found->second;
    return;
  }
  if (draft.classes.empty())
    return r.problem(node.mark, "unknown class '" + excerpt(name) +
                                    "', the inventory has none yet: run `fabricgate inventory learn` first");
  std::vector<std::string_view> known;
  for (const auto& one : draft.classes) known.push_back(one.first);
  r.problem(node.mark, unknown("class", name, "", known));
}

Entry read_entry(YamlReader& r, const YamlNode& node, const InventoryDraft& draft) {
  Entry entry{.mark = node.mark, .hosts = node.mark, .address_mark = node.mark};
  r.map(node, "node",
        {{"hosts", [&](const YamlNode& n) { read_hosts(r, n, entry); }, true},
         {"class", [&](const YamlNode& n) { read_class_name(r, n, draft, entry); },
          draft.classes_needed || !draft.classes.empty()},
         {"address",
          [&](const YamlNode& n) {
            entry.address_mark = n.mark;
            r.text(n, "address", forms::host_name, entry.address);
          }},
         {"rack", [&](const YamlNode& n) { r.text(n, "rack", forms::rack, entry.rack); }},
         {"required", [&](const YamlNode& n) { r.boolean(n, "required", entry.required); }},
         {"overrides", [&](const YamlNode& n) { entry.overrides = &n; }}});
  return entry;
}

void apply_overrides(YamlReader& r, const InventoryDraft& draft, Entry& entry) {
  if (entry.overrides == nullptr || entry.from == nullptr) return;
  auto own = std::make_shared<ClassDraft>(*entry.from);
  own->mark = entry.overrides->mark;
  read_class(r, *entry.overrides, *own, true);
  check_class(r, draft, *own);
  for (std::size_t i = 0; i < own->spec.rails.size(); ++i) {
    if (!own->spec.rails[i].address || entry.names.size() <= 1) continue;
    r.problem(own->rails[i].address, "address: one rail address for " + std::to_string(entry.names.size()) +
                                         " nodes; give each node its own entry");
    own->spec.rails[i].address.reset();
  }
  entry.from = std::move(own);
}

std::string counted_address(const Entry& entry, std::size_t index) {
  if (entry.address.empty()) return entry.names[index];
  const auto first = parse_ipv4(entry.address);
  return first ? format_ipv4(*first + static_cast<std::uint32_t>(index)) : entry.address;
}

void add_nodes(YamlReader& r, const Entry& entry, InventoryDraft& draft) {
  if (entry.names.size() > 1 && !entry.address.empty() && !parse_ipv4(entry.address))
    return r.problem(entry.address_mark,
                     "address: a range of hosts needs an IPv4 address to count up from, found '" + entry.address + "'");
  const auto spec = std::shared_ptr<const NodeClass>(entry.from, &entry.from->spec);
  for (std::size_t i = 0; i < entry.names.size(); ++i) {
    draft.inventory.nodes.push_back({.name = entry.names[i],
                                     .spec = spec,
                                     .address = counted_address(entry, i),
                                     .rack = entry.rack,
                                     .required = entry.required,
                                     .line = entry.hosts.line});
    draft.nodes.push_back({.hosts = entry.hosts, .address = entry.address_mark, .from = entry.from});
  }
}

}  // namespace

void read_nodes(YamlReader& reader, const YamlNode& node, InventoryDraft& draft) {
  draft.nodes_mark = node.mark;
  if (node.kind == YamlNode::Kind::sequence && node.items.empty())
    return reader.problem(node.mark, "nodes: the list is empty");
  reader.list(node, "nodes", [&](const YamlNode& item) {
    Entry entry = read_entry(reader, item, draft);
    apply_overrides(reader, draft, entry);
    if (draft.nodes.size() + entry.names.size() > max_nodes) {
      if (draft.nodes.size() <= max_nodes) reader.problem(entry.hosts, "nodes: more than 65536 nodes");
      return;
    }
    if (entry.from == nullptr)
      entry.from = std::make_shared<const ClassDraft>();  // already a problem, or still to be learnt; names are checked
    add_nodes(reader, entry, draft);
  });
}

}  // namespace fabricgate
