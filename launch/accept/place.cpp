#include "launch/accept/place.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "results/json_text.hpp"

namespace fabricgate::launch {
namespace {

constexpr Cidr loopback{.address = 0x7f000000, .prefix = 8};

std::uint32_t ip_of(const sockaddr* address) {
  return ntohl(reinterpret_cast<const sockaddr_in*>(address)->sin_addr.s_addr);
}

std::vector<std::uint32_t> addresses_of(const std::string& name) {
  if (const auto ip = parse_ipv4(name)) return {*ip};
  addrinfo hints{};
  hints.ai_family = AF_INET;
  addrinfo* list = nullptr;
  std::vector<std::uint32_t> out;
  if (getaddrinfo(name.c_str(), nullptr, &hints, &list) != 0) return out;
  for (const addrinfo* i = list; i; i = i->ai_next) out.push_back(ip_of(i->ai_addr));
  freeaddrinfo(list);
  return out;
}

bool is_local(std::uint32_t ip, const std::vector<Cidr>& local) {
  return std::any_of(local.begin(), local.end(), [&](const Cidr& own) {
    return own.address == ip || (loopback.contains(own.address) && loopback.contains(ip));
  });
}

void note_copy(const Arrival& arrival, const std::string& inventory, Roster& roster) {
  if (arrival.copy.checksum.empty() || arrival.copy.checksum == inventory) return;
  if (roster.other_copy.empty()) roster.other_copy_path = arrival.copy.path;
  roster.other_copy.push_back(arrival.node.empty() ? arrival.hostname : arrival.node);
}

}  // namespace

std::vector<Cidr> local_addresses() {
  std::vector<Cidr> out;
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return out;
  for (const ifaddrs* i = list; i; i = i->ifa_next) {
    if (!i->ifa_addr || !i->ifa_netmask || i->ifa_addr->sa_family != AF_INET) continue;
    int prefix = 0;
    for (std::uint32_t mask = ip_of(i->ifa_netmask); mask & 0x80000000U; mask <<= 1) ++prefix;
    out.push_back({.address = ip_of(i->ifa_addr), .prefix = prefix});
  }
  freeifaddrs(list);
  return out;
}

std::vector<std::size_t> nodes_here(const Inventory& inventory, const std::vector<Cidr>& local) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < inventory.nodes.size(); ++i) {
    const auto addresses = addresses_of(inventory.nodes[i].address);
    if (std::any_of(addresses.begin(), addresses.end(), [&](std::uint32_t ip) { return is_local(ip, local); })) out.push_back(i);
  }
  return out;
}

std::optional<std::size_t> node_of_process(const std::vector<std::size_t>& here, int local_rank) {
  if (local_rank < 0 || static_cast<std::size_t>(local_rank) >= here.size()) return std::nullopt;
  return here[static_cast<std::size_t>(local_rank)];
}

std::string to_text(const Arrival& arrival) {
  return nlohmann::json{{"node", arrival.node},   {"hostname", arrival.hostname},     {"addresses", arrival.addresses},
                        {"build", arrival.build}, {"local_rank", arrival.local_rank}, {"pid", arrival.pid},
                        {"in_use", arrival.in_use}, {"copy", {arrival.copy.path, arrival.copy.checksum}}}
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Result<Arrival> arrival_from_text(const std::string& text) {
  try {
    const auto in = nlohmann::json::parse(text);
    return Arrival{.node = in.at("node").get<std::string>(),
                   .hostname = in.at("hostname").get<std::string>(),
                   .addresses = in.at("addresses").get<std::vector<std::string>>(),
                   .build = in.at("build").get<std::string>(),
                   .local_rank = whole_from<int>(in, "local_rank"),
                   .pid = whole_from<int>(in, "pid"),
                   .in_use = in.at("in_use").get<std::string>(),
                   .copy = {in.at("copy").at(0).get<std::string>(), in.at("copy").at(1).get<std::string>()}};
  } catch (const nlohmann::json::exception& e) {
    return Error{ErrorKind::parse, std::string("arrival: ") + e.what(), e.id};
  }
}

Roster make_roster(const std::vector<std::string>& expected, const std::vector<std::optional<Arrival>>& arrivals,
                   const RunIdentity& run) {
  Roster roster;
  std::set<std::string> seen;
  const std::set<std::string> wanted(expected.begin(), expected.end());
  for (std::size_t rank = 0; rank < arrivals.size(); ++rank) {
    std::string& host = roster.host_of_rank.emplace_back();
    if (!arrivals[rank]) {
      roster.silent.push_back(static_cast<int>(rank));
      continue;
    }
    const Arrival& arrival = *arrivals[rank];
    if (arrival.node.empty() && arrival.local_rank > 0) continue;  // one of several ranks of its node, idle by design
    note_copy(arrival, run.inventory, roster);
    if (arrival.node.empty()) {
      std::string text = arrival.hostname + " (";
      for (const std::string& address : arrival.addresses) text += (text.back() == '(' ? "" : " ") + address;
      roster.strangers.push_back(text + ")");
    } else if (arrival.build != run.build) {
      roster.other_build.push_back(arrival.node);
    } else if (!seen.insert(arrival.node).second) {
      roster.doubled.push_back(arrival.node);
    } else if (!arrival.in_use.empty()) {
      roster.in_use[arrival.node] = arrival.in_use;
    } else if (wanted.count(arrival.node)) {
      host = arrival.node;
    }
  }
  for (const std::string& name : expected)
    if (!seen.count(name)) roster.absent.push_back(name);
  return roster;
}

}  // namespace fabricgate::launch
