#include "inventory/inventory.hpp"

#include <algorithm>

#include "inventory/draft.hpp"
#include "results/file.hpp"

namespace fabricgate {
namespace {

void read_root(YamlReader& reader, const YamlNode& root, InventoryDraft& draft) {
  std::vector<Field> fields{{"schema",
                             [&](const YamlNode& n) {
                               int schema = 0;
                               reader.integer(n, "schema", std::pair(1, 1), schema);
                             },
                             true}};
  for (Field& field : section_fields(reader, draft)) fields.push_back(std::move(field));
  fields.push_back({"classes", [&](const YamlNode& n) { read_classes(reader, n, draft); }, draft.classes_needed});
  fields.push_back({"nodes", [&](const YamlNode& n) { read_nodes(reader, n, draft); }, true});
  reader.map(root, "inventory", fields);
  check_fleet(reader, draft);
}

std::string beside(const std::string& file, const std::string& path) {
  if (path.empty() || path[0] == '/') return path;
  const std::size_t slash = file.rfind('/');
  return slash == std::string::npos ? path : file.substr(0, slash + 1) + path;
}

}  // namespace

std::optional<std::size_t> Inventory::find(std::string_view name) const {
  const auto found = std::find_if(nodes.begin(), nodes.end(), [&](const Node& node) { return node.name == name; });
  if (found == nodes.end()) return std::nullopt;
  return static_cast<std::size_t>(found - nodes.begin());
}

bool Inventory::emulated() const {
  return std::any_of(nodes.begin(), nodes.end(), [](const Node& node) { return node.spec && node.spec->emulated; });
}

std::string to_string(const InventoryProblem& problem) {
  return problem.file + ':' + std::to_string(problem.line) + ':' + std::to_string(problem.column) + ": " + problem.what;
}

LoadedInventory parse_inventory(const std::string& text, const std::string& name, Classes classes) {
  YamlDocument document = read_yaml(text, name);
  YamlReader reader(name);
  const bool readable = document.problems.empty() || document.root.kind != YamlNode::Kind::null;
  reader.add(std::move(document.problems));
  InventoryDraft draft{.classes_needed = classes == Classes::needed};
  if (readable) read_root(reader, document.root, draft);
  if (!reader.clean()) return {.problems = reader.take_problems()};
  draft.inventory.text = text;
  draft.inventory.checksum = sha256_hex(text);
  return {.inventory = std::move(draft.inventory)};
}

Result<Inventory> load_inventory(const std::string& path, Classes classes) {
  auto text = read_file(path, written_by_hand_bytes);
  if (!text) return text.error();
  LoadedInventory loaded = parse_inventory(*text, path, classes);
  if (!loaded.inventory) {
    std::string all;
    for (const InventoryProblem& problem : loaded.problems) all += (all.empty() ? "" : "\n") + to_string(problem);
    return Error{ErrorKind::parse, all, 0};
  }
  Ssh& ssh = loaded.inventory->ssh;
  ssh.key = beside(path, ssh.key);
  ssh.known_hosts = beside(path, ssh.known_hosts);
  return std::move(*loaded.inventory);
}

}  // namespace fabricgate
