#include <algorithm>
#include <set>
#include <unordered_map>

#include "inventory/desired/desired.hpp"
#include "inventory/draft.hpp"

namespace fabricgate {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return out;
}

std::string on_line(Mark mark) {
  return " on line " + std::to_string(mark.line);
}

/// Neither the network's own address nor its broadcast address.
bool usable(const Cidr& pool, std::uint32_t ip) {
  return pool.contains(ip) && ip != (pool.address & pool.mask()) && ip != (pool.address | ~pool.mask());
}

void check_names(YamlReader& r, const InventoryDraft& d) {
  std::unordered_map<std::string, std::size_t> by_short;
  for (std::size_t i = 0; i < d.nodes.size(); ++i) {
    const std::string name = lower(d.inventory.nodes[i].name);
    const auto [entry, fresh] = by_short.emplace(name.substr(0, name.find('.')), i);
    if (fresh) continue;
    const std::string& other = d.inventory.nodes[entry->second].name;
    const std::string where = on_line(d.nodes[entry->second].hosts);
    if (lower(other) == name) {
      r.problem(d.nodes[i].hosts, "node '" + d.inventory.nodes[i].name + "' is already named" + where);
    } else {
      r.problem(d.nodes[i].hosts, "node '" + d.inventory.nodes[i].name + "' has the short name of '" + other + "'" +
                                      where + "; a launcher takes them for one (launch.hostname_collision)");
    }
  }
}

void check_management(YamlReader& r, const InventoryDraft& d) {
  std::unordered_map<std::string, std::size_t> by_address;
  Mark reported{};  // a range outside the network is one problem, at its first host
  for (std::size_t i = 0; i < d.nodes.size(); ++i) {
    const Node& node = d.inventory.nodes[i];
    const auto ip = parse_ipv4(node.address);
    if (ip && d.management_known && !usable(d.inventory.management, *ip) && reported != d.nodes[i].address) {
      reported = d.nodes[i].address;
      r.problem(d.nodes[i].address, "address " + node.address + " of " + node.name +
                                        " is not a host address of the management network " +
                                        format_cidr(d.inventory.management));
    }
    if (!ip && node.address == node.name) continue;  // names are checked already
    const auto [entry, fresh] = by_address.emplace(lower(node.address), i);
    if (fresh) continue;
    r.problem(d.nodes[i].address, "address " + node.address + " of " + node.name + " is already that of " +
                                      d.inventory.nodes[entry->second].name + on_line(d.nodes[entry->second].hosts));
  }
}

/// Every rail address of the fleet: inside its pool and given once.
class RailAddresses {
 public:
  RailAddresses(YamlReader& reader, const InventoryDraft& draft) : reader_(reader), draft_(draft) {}

  void check() {
    for (std::size_t i = 0; i < draft_.nodes.size(); ++i)
      for (std::size_t r = 0; r < draft_.nodes[i].from->spec.rails.size(); ++r) check_one(i, r);
  }

 private:
  struct Place {
    std::size_t node, rail;
  };

  const Rail& rail(Place place) const { return draft_.nodes[place.node].from->spec.rails[place.rail]; }
  Mark mark(Place place) const {
    const RailMarks& marks = draft_.nodes[place.node].from->rails[place.rail];
    return rail(place).address ? marks.address : draft_.nodes[place.node].hosts;
  }
  std::string name(Place place) const {
    return "rail " + rail(place).name + " of " + draft_.inventory.nodes[place.node].name;
  }

  void check_one(std::size_t node, std::size_t index) {
    const Place here{node, index};
    const Rail& one = rail(here);
    if (one.cidr.prefix > 30) return;
    const std::uint32_t ip = rail_address(one, node);
    if (!usable(one.cidr, ip)) return outside(here, ip);
    const auto [entry, fresh] = seen_.emplace(ip, here);
    if (fresh) return;
    const Place other = entry->second;
    const Place at = one.address ? here : other;  // the one given by hand is the one to change
    reader_.problem(rail(at).address ? mark(at) : mark(here),
                    "address " + format_ipv4(ip) + " of " + name(here) + " is already that of " + name(other) +
                        (rail(other).address ? "" : ", counted by its position"));
  }

  void outside(Place here, std::uint32_t ip) {
    const Rail& one = rail(here);
    const Mark pool = draft_.nodes[here.node].from->rails[here.rail].cidr;
    if (one.address) {
      reader_.problem(mark(here), "address " + format_ipv4(ip) + " of " + name(here) +
                                      " is not a host address of its pool " + format_cidr(one.cidr));
    } else if (full_.emplace(one.cidr.address, one.cidr.prefix).second) {
      reader_.problem(pool, "cidr " + format_cidr(one.cidr) + " of rail " + one.name + " holds " +
                                std::to_string(~one.cidr.mask() - 1) + " addresses; " +
                                draft_.inventory.nodes[here.node].name + " is node number " +
                                std::to_string(here.node + 1));
    }
  }

  YamlReader& reader_;
  const InventoryDraft& draft_;
  std::unordered_map<std::uint32_t, Place> seen_;
  std::set<std::pair<std::uint32_t, int>> full_;  ///< pools already reported as too small
};

struct Pool {
  Cidr cidr;
  std::string rail;
  Mark mark;
};

/// Rails of one name share one pool over all classes; pools of other names are apart. Networks nest or are disjoint, so
/// in order of address, wider first, only the last wider one can overlap.
void check_pools(YamlReader& r, const InventoryDraft& d) {
  std::vector<Pool> pools;
  const ClassDraft* last = nullptr;
  for (const NodeDraft& node : d.nodes) {
    if (node.from.get() == last) continue;
    last = node.from.get();
    for (std::size_t i = 0; i < last->rails.size(); ++i) {
      const Rail& rail = last->spec.rails[i];
      if (rail.cidr.prefix <= 30)
        pools.push_back({rail.cidr, rail.name, std::max(last->rails[i].cidr, last->rails[i].name)});
    }
  }
  const auto key = [](const Pool& p) { return std::tuple(p.cidr.address, p.cidr.prefix, p.mark); };
  std::stable_sort(pools.begin(), pools.end(), [&](const Pool& a, const Pool& b) { return key(a) < key(b); });
  const Pool* wide = nullptr;
  for (const Pool& pool : pools) {
    if (wide == nullptr || !wide->cidr.contains(pool.cidr.address)) {
      wide = &pool;
    } else if (pool.rail != wide->rail || pool.cidr != wide->cidr) {
      r.problem(pool.mark, "cidr " + format_cidr(pool.cidr) + " of rail " + pool.rail + " overlaps " +
                               format_cidr(wide->cidr) + " of rail " + wide->rail + on_line(wide->mark));
    }
  }
}

void check_owners(YamlReader& r, const InventoryDraft& d) {
  if (d.inventory.kubernetes) return;
  const ClassDraft* last = nullptr;
  for (const NodeDraft& node : d.nodes) {
    if (node.from.get() == last) continue;
    last = node.from.get();
    if (last->spec.driver.owner == Owner::operator_)
      r.problem(last->driver, "driver: owner operator needs a kubernetes section");
    if (last->spec.sriov_owner == Owner::operator_)
      r.problem(last->sriov, "sriov: owner operator needs a kubernetes section");
  }
}

}  // namespace

void check_fleet(YamlReader& reader, const InventoryDraft& draft) {
  check_names(reader, draft);
  check_management(reader, draft);
  RailAddresses(reader, draft).check();
  check_pools(reader, draft);
  check_owners(reader, draft);
}

}  // namespace fabricgate
