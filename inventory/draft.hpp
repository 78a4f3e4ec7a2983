#pragma once
/// What the reader keeps of an inventory beside the values: where each was written, for the checks that need more than
/// one.
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "inventory/yaml_reader.hpp"

namespace fabricgate {

struct RailMarks {
  Mark rail, name, netdev, device, cidr, address, gpu, link_layer, vf, roce;
};

struct ClassDraft {
  NodeClass spec;
  Mark mark, gpus, slots, driver, sriov, eswitch, kernel_cmdline;
  bool slots_given = false;
  std::vector<RailMarks> rails;  ///< as spec.rails
};

struct NodeDraft {
  Mark hosts, address;
  std::shared_ptr<const ClassDraft> from;
};

struct InventoryDraft {
  bool classes_needed = true;
  Inventory inventory;
  std::map<std::string, std::shared_ptr<const ClassDraft>> classes;
  std::vector<NodeDraft> nodes;  ///< as inventory.nodes
  Mark classes_mark, nodes_mark;
  bool management_known = false;
};

/// cluster, ssh, launcher, kubernetes, hooks.
std::vector<Field> section_fields(YamlReader& reader, InventoryDraft& draft);

/// Reads the keys of a class onto `draft`. With `overrides` nothing is required and rails are given by index.
void read_class(YamlReader& reader, const YamlNode& node, ClassDraft& draft, bool overrides);
void read_classes(YamlReader& reader, const YamlNode& node, InventoryDraft& draft);
void read_nodes(YamlReader& reader, const YamlNode& node, InventoryDraft& draft);

/// Parts of a class.
void read_driver(YamlReader& reader, const YamlNode& node, DriverSpec& driver, bool overrides);
void read_roce(YamlReader& reader, const YamlNode& node, RoceSpec& roce);
void read_owner(YamlReader& reader, const YamlNode& node, const char* key, Owner& out);
/// A list of texts of one form, each once.
void read_texts(YamlReader& reader, const YamlNode& node, const char* key, const Form& form,
                std::vector<std::string>& out);

/// A network in canonical form (no host bits), prefix 1 to 30.
bool read_network(YamlReader& reader, const YamlNode& node, std::string_view key, Cidr& out);

/// What can be said of one class alone.
void check_class(YamlReader& reader, const InventoryDraft& draft, const ClassDraft& one);
/// What must hold over the whole fleet: names, management and rail addresses, pools, owners.
void check_fleet(YamlReader& reader, const InventoryDraft& draft);

}  // namespace fabricgate
