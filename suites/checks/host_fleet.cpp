/// Judged over the facts of all nodes: equal versions, no name and no address twice. Majority decides what is right; in a
/// tie nobody knows, so every node is named.
#include <algorithm>
#include <map>
#include <set>

#include "inventory/desired/desired.hpp"
#include "inventory/observe/identity.hpp"
#include "inventory/observe/rdma_text.hpp"
#include "results/json_text.hpp"
#include "suites/checks/judging.hpp"
#include "suites/fleet.hpp"

namespace fabricgate::suites {
namespace {

using nlohmann::json;

/// Versions two nodes of one job must share whatever their class; the others are compared within a class.
const std::set<std::string> fleet_wide{"openmpi", "ucx", "nccl", "fabricgate"};

struct HostDigest {
  const Node* node = nullptr;
  std::size_t index = 0;
  std::string hostname;
  std::map<std::string, std::string> versions;  ///< with "kernel"
  std::vector<std::pair<std::string, std::string>> addresses;  ///< netdev, address without prefix
  struct Guid {
    std::string device, pci, guid;
  };
  std::vector<Guid> guids;  ///< of RDMA devices
};

using Digests = std::vector<HostDigest>;

HostDigest read_digest(const json& value) {
  HostDigest digest;
  digest.hostname = value.at("hostname").get<std::string>();
  for (const auto& [key, version] : value.at("versions").items()) digest.versions[key] = version.get<std::string>();
  digest.versions["kernel"] = value.at("kernel").get<std::string>();
  for (const json& entry : value.at("addresses"))
    digest.addresses.emplace_back(entry.at("netdev").get<std::string>(), entry.at("address").get<std::string>());
  for (const json& entry : value.at("guids"))
    digest.guids.push_back({entry.at("device").get<std::string>(), entry.at("pci").get<std::string>(), entry.at("guid").get<std::string>()});
  return digest;
}

Subject host_subject(const Node& node) {
  Subject subject;
  subject.host = node.name;
  return subject;
}

/// Nodes of one comparison group, as version → nodes.
void judge_group(const std::string& key, const std::map<std::string, std::vector<const Node*>>& groups, std::vector<Finding>& findings) {
  if (groups.size() < 2) return;
  std::size_t most = 0;
  for (const auto& [version, nodes] : groups) most = std::max(most, nodes.size());
  const auto leads = [&](const auto& group) { return group.second.size() == most; };
  const bool tie = std::count_if(groups.begin(), groups.end(), leads) > 1;
  const std::string right = tie ? "the same everywhere" : std::find_if(groups.begin(), groups.end(), leads)->first;
  for (const auto& [version, nodes] : groups) {
    if (!tie && nodes.size() == most) continue;
    for (const Node* node : nodes)
      findings.push_back(make_finding("host.versions_differ", host_subject(*node), key + " " + right,
                                      version.empty() ? "absent" : version));
  }
}

void judge_versions(const Digests& digests, std::vector<Finding>& findings) {
  std::set<std::string> keys;
  for (const HostDigest& digest : digests)
    for (const auto& [key, version] : digest.versions) keys.insert(key);
  for (const std::string& key : keys) {
    std::map<std::string, std::map<std::string, std::vector<const Node*>>> by_class;
    for (const HostDigest& digest : digests) {
      const auto found = digest.versions.find(key);
      const std::string group = fleet_wide.count(key) != 0 || !digest.node->spec ? "" : digest.node->spec->name;
      by_class[group][found == digest.versions.end() ? "" : found->second].push_back(digest.node);
    }
    for (const auto& [group, versions] : by_class) judge_group(key, versions, findings);
  }
}

/// Collisions alone: that a node has another name than declared is said of the node itself, by host.facts.
void judge_collisions(const Digests& digests, std::vector<Finding>& findings) {
  std::vector<Answerer> answerers;
  for (const HostDigest& digest : digests) answerers.push_back({digest.node->name, digest.hostname, ""});
  for (Finding& finding : judge_names(answerers))
    if (finding.cause == "launch.hostname_collision") findings.push_back(std::move(finding));
}

/// Node GUIDs, VFs included. Soft RDMA takes the GUID from the interface below, so that several on one interface share it.
void judge_guids(const Digests& digests, std::vector<Finding>& findings) {
  struct Owner {
    const HostDigest* host;
    const HostDigest::Guid* device;
  };
  std::map<std::string, std::vector<Owner>> owners;
  for (const HostDigest& digest : digests)
    for (const HostDigest::Guid& device : digest.guids) {
      if (device.guid.empty() || is_zero_guid(device.guid)) continue;  // a zero one is told of the rail or the VF
      auto& list = owners[device.guid];
      const auto same = [&](const Owner& other) { return other.host == &digest && (device.pci.empty() || other.device->pci == device.pci); };
      if (std::none_of(list.begin(), list.end(), same)) list.push_back({&digest, &device});
    }
  for (const auto& [guid, list] : owners) {
    if (list.size() < 2) continue;
    for (const Owner& owner : list) {
      const Owner& other = list[0].device == owner.device ? list[1] : list[0];
      Subject subject = host_subject(*owner.host->node);
      subject.device = owner.device->device;
      subject.pci = owner.device->pci;
      if (other.host != owner.host) subject.peer = other.host->node->name;
      findings.push_back(make_finding("vf.guid_duplicate", subject, "a node GUID no other function has",
                                      guid + ", as " + other.device->device + " of " + other.host->node->name));
    }
  }
}

struct Holder {
  const Node* node;
  std::string netdev;
  bool rightful;
};

bool matters(const Inventory& inventory, std::uint32_t ip, const Node& node) {
  if (inventory.management.contains(ip)) return true;
  if (!node.spec) return false;
  return std::any_of(node.spec->rails.begin(), node.spec->rails.end(), [&](const Rail& rail) { return rail.cidr.contains(ip); });
}

void judge_addresses(const Inventory& inventory, const Digests& digests, std::vector<Finding>& findings) {
  std::map<std::uint32_t, std::vector<Holder>> holders;
  for (const HostDigest& digest : digests) {
    std::set<std::uint32_t> own;
    const Desired want = desired(inventory, digest.index);
    if (const auto address = parse_ipv4(want.management_address)) own.insert(*address);
    for (const DesiredRail& rail : want.rails) own.insert(rail.address);
    for (const auto& [netdev, text] : digest.addresses) {
      const auto ip = parse_ipv4(text);
      if (!ip || !matters(inventory, *ip, *digest.node)) continue;  // docker0 and the like are the same on many nodes
      auto& list = holders[*ip];
      if (list.empty() || list.back().node != digest.node) list.push_back({digest.node, netdev, own.count(*ip) != 0});
    }
  }
  for (const auto& [ip, list] : holders) {
    if (list.size() < 2) continue;
    const bool any_rightful = std::any_of(list.begin(), list.end(), [](const Holder& holder) { return holder.rightful; });
    for (const Holder& holder : list) {
      if (holder.rightful && any_rightful) continue;
      Subject subject = host_subject(*holder.node);
      subject.netdev = holder.netdev;
      subject.peer = (list[0].node == holder.node ? list[1] : list[0]).node->name;
      findings.push_back(make_finding("launch.duplicate_address", subject, "an address no other node has", format_ipv4(ip)));
    }
  }
}

}  // namespace

json fleet_sample(const std::vector<const Record*>& facts_records) {
  json hosts = json::object();
  for (const Record* record : facts_records) {
    if (record->hosts.empty() || !record->sample.is_object()) continue;
    try {
      const json& facts = record->sample;
      json digest{{"hostname", facts.at("hostname")}, {"kernel", facts.at("kernel")}, {"versions", facts.at("versions")}};
      json& addresses = digest["addresses"] = json::array();
      for (const json& netdev : facts.at("netdevs"))
        for (const json& address : netdev.at("addresses")) {
          const std::string text = address.get<std::string>();
          if (text.compare(0, 4, "127.") != 0)
            addresses.push_back({{"netdev", netdev.at("name")}, {"address", text.substr(0, text.find('/'))}});
        }
      json& guids = digest["guids"] = json::array();
      for (const json& port : facts.at("rdma_ports"))
        guids.push_back({{"device", port.at("device")}, {"pci", port.at("pci")}, {"guid", port.at("node_guid")}});
      hosts[record->hosts[0]] = std::move(digest);
    } catch (const json::exception&) {
      // stays missing: judge_host_fleet names the host
    }
  }
  return {{"hosts", std::move(hosts)}};
}

Judgement judge_host_fleet(const JudgeContext& context, const Record& record) {
  if (record.hosts.empty()) return unusable(record, "the record names no host");
  Digests digests;
  try {
    const json& hosts = record.sample.at("hosts");
    for (const std::string& name : record.hosts) {
      const auto index = context.find(name);
      if (!index) return unusable(record, name + " is not in the inventory");
      const auto value = hosts.find(name);
      if (value == hosts.end()) return unusable(record, "no facts of " + name);
      HostDigest digest = read_digest(*value);
      digest.node = &context.inventory.nodes[*index];
      digest.index = *index;
      if (digest.hostname.empty()) return unusable(record, "no host name of " + name);
      digests.push_back(std::move(digest));
    }
  } catch (const json::exception& e) {
    return unusable(record, "sample: " + plain_text(e));
  }
  std::vector<Finding> findings;
  judge_versions(digests, findings);
  judge_collisions(digests, findings);
  judge_addresses(context.inventory, digests, findings);
  judge_guids(digests, findings);
  return decide(std::move(findings));
}

}  // namespace fabricgate::suites
