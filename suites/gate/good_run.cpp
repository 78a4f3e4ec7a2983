#include "suites/gate/good_run.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "bootstrap/steps/step.hpp"
#include "fabric/collective/collective_sample.hpp"
#include "fabric/link/link_sample.hpp"
#include "fabric/link/rdma_sample.hpp"
#include "fabric/pairs/pair_sample.hpp"
#include "fabric/pairs/schedule.hpp"
#include "inventory/desired/desired.hpp"
#include "inventory/observe/facts.hpp"
#include "results/file.hpp"
#include "suites/check.hpp"
#include "suites/fleet.hpp"

namespace fabricgate::suites {
namespace {

constexpr double start_unix_s = 1.75e9;
constexpr std::int64_t most_bytes = 20'000'000'000;  // more than a good run moves

std::string inventory_yaml(const GoodRunShape& shape) {
  std::string out = fmt::format(
      "schema: 1\ncluster:\n  name: test\n  management_cidr: 10.20.0.0/16\nclasses:\n  box:\n    emulated: {}\n    gpus: 0\n    rails:\n",
      shape.emulated);
  for (int i = 0; i < shape.rails; ++i)
    out += fmt::format("      - {{ netdev: fab{0}, rate_gbps: 1, mtu: 1500, cidr: 172.{1}.0.0/16{2}{3} }}\n", i, 16 + i,
                       shape.rdma ? fmt::format(", device: mlx5_{}, vfs: 2", i) : "", shape.leaves ? ", leaf: leaf-a" : "");
  if (shape.rdma) out += "    sriov: { owner: host }\n";
  out += fmt::format("    memlock: unlimited\nnodes:\n  - {{ hosts: \"n[{:04}-{:04}]\", class: box, address: 10.20.0.1 }}\n", 1, shape.nodes);
  return out + shape.extra_yaml;
}

std::string mac(std::size_t node, const std::string& rail) {
  return fmt::format("02:00:00:{:02x}:{:02x}:{:02x}", node >> 8, node & 255, std::hash<std::string>{}(rail) & 255);
}

std::string guid(std::size_t node, const std::string& rail, int vf) {
  return fmt::format("0200:5e00:{:04x}:{:02x}{:02x}", node & 0xffff, std::hash<std::string>{}(rail) & 255, vf);
}

std::string function(const std::string& rail) { return fmt::format("0000:{:02x}:00.0", std::hash<std::string>{}(rail) & 255); }

/// "0000:0000:0000:0000:0000:ffff:ac10:0001"
std::string mapped_gid(std::uint32_t address) {
  return fmt::format("0000:0000:0000:0000:0000:ffff:{:04x}:{:04x}", address >> 16, address & 0xffff);
}

struct Maker {
  const GoodRun& run;
  const NodeIndex& index;
  const std::function<void(Record)>& take;
  double now = start_unix_s;
  nlohmann::json fleet = fleet_sample({});

  void add(const char* check, std::vector<std::string> hosts, const std::string& rail, nlohmann::json sample) {
    Record record{.identity = run.identity, .check = check, .hosts = std::move(hosts), .rail = rail};
    record.sample = std::move(sample);
    record.started_unix_s = now += 0.001;
    record.elapsed_s = 0.5;
    record = judged({run.inventory, run.limits, &index}, std::move(record));
    if (record.check == "host.facts") fleet["hosts"].update(fleet_sample({&record})["hosts"]);
    take(std::move(record));
  }
};

void add_nodes(Maker& make, std::vector<std::string>& names) {
  const Inventory& inventory = make.run.inventory;
  for (std::size_t i = 0; i < inventory.nodes.size(); ++i) {
    names.push_back(inventory.nodes[i].name);
    make.add("stage.node", {names[i]}, "", good_stage());
    make.add("host.facts", {names[i]}, "", good_facts(inventory, i));
    for (const Rail& rail : inventory.nodes[i].spec->rails) {
      make.add("link.rail", {names[i]}, rail.name, good_link(inventory, i, rail, false));
      if (!rail.device.empty()) make.add("link.rdma", {names[i]}, rail.name, good_rdma(inventory, i, rail, false));
      if (!rail.leaf.empty()) make.add("link.cabling", {names[i]}, rail.name, good_cabling(inventory, i, rail));
    }
  }
  make.add("host.fleet", names, "", std::move(make.fleet));
}

void add_pair_rail(Maker& make, std::size_t a, std::size_t b, const Rail& rail) {
  const Inventory& inventory = make.run.inventory;
  const std::vector<std::string> hosts{inventory.nodes[a].name, inventory.nodes[b].name};
  make.add("pair.rail", hosts, rail.name, good_pair(hosts[0], hosts[1], &rail));
  if (!rail.device.empty()) make.add("pair.rdma", hosts, rail.name, good_pair_rdma(inventory, a, b, rail));
}

void add_pairs(Maker& make, const std::vector<std::string>& names, int rounds) {
  const Inventory& inventory = make.run.inventory;
  const int nodes = static_cast<int>(names.size());
  const fabric::Schedule schedule = rounds > 0 ? fabric::limited_schedule(nodes, rounds) : fabric::full_schedule(nodes);
  for (const fabric::PairRound& round : schedule.rounds)
    for (const fabric::NodePair& pair : round) {
      const auto a = static_cast<std::size_t>(pair.a), b = static_cast<std::size_t>(pair.b);
      make.add("pair.reach", {names[a], names[b]}, "", good_reach(inventory, a, b));
      make.add("pair.overlay", {names[a], names[b]}, "", good_pair(names[a], names[b], nullptr));
      for (const Rail& rail : inventory.nodes[a].spec->rails)
        add_pair_rail(make, a, b, rail);
    }
}

}  // namespace

nlohmann::json good_stage() {
  nlohmann::json steps = nlohmann::json::array();
  for (const bootstrap::Step& step : bootstrap::steps()) steps.push_back({{"id", step.id}, {"state", "unchanged"}});
  steps.push_back({{"id", "deploy"}, {"state", "unchanged"}});
  return {{"state", "ready"}, {"changed", false}, {"lost_at_reboot", false}, {"steps", steps}, {"clock_offset_s", 0.002}, {"clock_error_s", 0.01},
          {"agent_sha256", sha256_hex("agent")}, {"rank_sha256", sha256_hex("rank")}};
}

nlohmann::json good_facts(const Inventory& inventory, std::size_t node) {
  const Desired want = desired(inventory, node);
  Facts facts;
  facts.hostname = want.node;
  facts.machine_id = fmt::format("{:032x}", node + 1);
  facts.boot_id = fmt::format("00000000-0000-4000-8000-{:012x}", node + 1);
  facts.os_id = "debian";
  facts.os_version = "12";
  facts.kernel = "6.1.0";
  facts.architecture = "x86_64";
  facts.cpu_model = "a processor";
  facts.cpus = 64;
  facts.numa_nodes = 2;
  facts.memory_bytes = std::int64_t{1} << 40;
  facts.memlock_soft_bytes = facts.memlock_hard_bytes = UINT64_MAX;
  facts.netdevs.push_back({.name = "mgmt0", .driver = "veth", .addresses = {want.management_address + "/16"}});
  facts.netdevs.push_back({.name = "docker0", .driver = "bridge", .addresses = {"192.168.77.1/24"}});
  for (const DesiredRail& rail : want.rails) {
    const std::string address = format_ipv4(rail.address) + "/" + std::to_string(rail.prefix);
    facts.netdevs.push_back({.name = rail.netdev, .driver = inventory.emulated() ? "veth" : "mlx5_core", .admin_up = true, .carrier = true,
                             .mtu = rail.mtu, .addresses = {address}});
  }
  for (const DesiredRail& rail : want.rails)
    if (!rail.device.empty()) facts.rdma_ports.push_back({.device = rail.device, .netdev = rail.netdev, .node_guid = guid(node, rail.name, 0), .pci = function(rail.name), .port = 1});
  facts.sysctl = want.sysctl;
  facts.versions = {{"openmpi", "4.1.4"}, {"ucx", "1.13.1"}, {"fabricgate", "0.1.0"}, {"libc", "2.36"}};
  facts.clock_unix_s = start_unix_s;
  facts.free_bytes = {{want.spool_dir, std::int64_t{1} << 38}, {want.install_dir, std::int64_t{1} << 38}};
  nlohmann::json sample = to_json_value(facts);
  sample["clock_offset_s"] = 0.002;
  return sample;
}

nlohmann::json good_link(const Inventory& inventory, std::size_t node, const Rail& rail, bool end) {
  fabric::LinkState state{.present = true, .admin_up = true, .carrier = true, .speed_mbps = 10000, .mtu = rail.mtu};
  for (const DesiredRail& want : desired(inventory, node).rails)
    if (want.name == rail.name) state.addresses = {format_ipv4(want.address) + "/16"};
  state.mac = mac(node, rail.name);
  state.carrier_changes = 2;
  state.index = 7;
  state.counters = {{"rx_errors", 0}, {"tx_errors", 0}, {"rx_crc_errors", 0}, {"rx_dropped", 3}, {"rx_bytes", 5000}, {"tx_bytes", 4000}};
  state.read_unix_s = start_unix_s;
  fabric::LinkSample sample{.host = inventory.nodes[node].name, .rail = rail.name, .netdev = rail.netdev, .now = state};
  if (end) {
    sample.before = state;
    sample.now.read_unix_s = start_unix_s + 100;
    for (const char* name : {"rx_bytes", "tx_bytes"}) sample.now.counters[name] += most_bytes;
  }
  return to_json_value(sample);
}

nlohmann::json good_rdma(const Inventory& inventory, std::size_t node, const Rail& rail, bool end) {
  RdmaState state{.present = true, .devices = {rail.device}, .node_type = "CA", .netdevs = {rail.netdev}};
  state.port = {.device = rail.device, .netdev = rail.netdev, .state = "ACTIVE", .phys_state = "LinkUp", .rate = "1 Gb/sec (1X SDR)",
                .link_layer = "Ethernet", .node_guid = guid(node, rail.name, 0), .pci = function(rail.name), .port = 1};
  state.port.counters = {{"symbol_error", 3}, {"link_downed", 1}, {"port_rcv_errors", 0}, {"local_ack_timeout_err", 0}};
  state.gids = {{0, "fe80:0000:0000:0000:0000:5eff:fe00:5301", "RoCE v2", rail.netdev}};
  for (const DesiredRail& want : desired(inventory, node).rails)
    if (want.name == rail.name) state.gids.push_back({5, mapped_gid(want.address), "RoCE v2", rail.netdev});
  state.netdev_up = state.netdev_carrier = state.function_present = true;
  state.netdev_mtu = rail.mtu;
  state.function = function(rail.name);
  state.function_driver = "mlx5_core";
  state.vfs_total = 16;
  state.vfs = rail.vfs;
  for (int i = 1; i <= rail.vfs; ++i)
    state.virtual_functions.push_back({.pci = fmt::format("{}:{}", state.function, i), .driver = "mlx5_core", .netdev = fmt::format("{}v{}", rail.netdev, i),
                                       .mac = "02:00:5e:00:53:01", .mtu = rail.mtu, .device = fmt::format("{}v{}", rail.device, i), .node_guid = guid(node, rail.name, i)});
  state.read_unix_s = start_unix_s;
  fabric::RdmaSample sample{.host = inventory.nodes[node].name, .rail = rail.name, .device = rail.device, .now = state};
  if (end) {
    sample.before = state;
    sample.now.read_unix_s = start_unix_s + 100;
  }
  return to_json_value(sample);
}

nlohmann::json good_cabling(const Inventory& inventory, std::size_t node, const Rail& rail) {
  return to_json_value(fabric::CablingSample{.host = inventory.nodes[node].name, .rail = rail.name, .netdev = rail.netdev,
                                             .neighbours = {{rail.netdev, rail.leaf + ".example", "02:00:5e:00:53:a0", "Ethernet1"}}});
}

nlohmann::json good_reach(const Inventory& inventory, std::size_t a, std::size_t b) {
  fabric::ReachSample sample{.a = inventory.nodes[a].name, .b = inventory.nodes[b].name};
  for (const auto& [from, to] : {std::pair{a, b}, std::pair{b, a}})
    for (const Rail& own : inventory.nodes[from].spec->rails)
      for (const Rail& other : inventory.nodes[to].spec->rails) {
        fabric::ReachAnswer answer{.from = inventory.nodes[from].name, .from_rail = own.name, .to = inventory.nodes[to].name, .to_rail = other.name};
        if (own.name == other.name) {
          answer.macs = {mac(to, other.name)};
          answer.echo = answer.full_mtu = true;
          answer.next_hop = {.netdev = own.netdev, .gateway = "", .mac = mac(to, other.name), .error = ""};
          answer.frames.sent = answer.frames.received = 256;
        }
        sample.answers.push_back(answer);
      }
  return to_json_value(sample);
}

nlohmann::json good_collective(const std::vector<std::string>& hosts, double node_rate, int rails) {
  fabric::CollectiveSample sample{.hosts = hosts, .ranks = static_cast<int>(hosts.size()), .engine = "ucx-tcp"};
  const double factor = 2.0 * (sample.ranks - 1) / sample.ranks;
  for (const std::uint64_t bytes : {std::uint64_t{64 << 10}, std::uint64_t{16 << 20}}) {
    const double busbw = node_rate * 0.9;
    const double elapsed = static_cast<double>(bytes) / busbw * factor;
    const char* algorithm = sample.points.empty() ? "recursive_doubling" : "ring";
    sample.points.push_back({.bytes = bytes, .algorithm = algorithm, .iterations = 5, .elapsed_s = elapsed, .busbw_bytes_per_s = busbw});
    sample.elements_checked += hosts.size() * bytes / sizeof(float) * 7;  // 5 and 2 to warm up
  }
  for (const std::string& host : hosts)
    for (int rail = 0; rail < rails; ++rail)
      sample.moved.push_back({.host = host, .rail = fmt::format("rail{}", rail), .sent_bytes = 200'000'000, .received_bytes = 200'000'000});
  sample.rank_elapsed_s.assign(hosts.size(), sample.points.back().elapsed_s);
  return to_json_value(sample);
}

GoodRun good_run(const GoodRunShape& shape) {
  std::vector<Record> records;
  GoodRun run = good_run(shape, [&](Record record) { records.push_back(std::move(record)); });
  run.records = std::move(records);
  return run;
}

GoodRun good_run(const GoodRunShape& shape, const std::function<void(Record)>& take) {
  GoodRun run;
  auto loaded = parse_inventory(inventory_yaml(shape), "good_run.yaml");
  if (!loaded.inventory) {
    for (const InventoryProblem& problem : loaded.problems) std::fputs((to_string(problem) + "\n").c_str(), stderr);
    return run;  // a test on an empty run fails
  }
  run.inventory = std::move(*loaded.inventory);
  if (auto limits = parse_limits(default_limits_text(), "default.yaml", platform_of(run.inventory))) run.limits = std::move(*limits);
  if (auto suite = parse_suite(default_suite_text(), "default.yaml")) run.suite = std::move(*suite);
  run.identity = {"run-1", run.inventory.checksum, "0.1.0+test", run.suite.name};
  const NodeIndex index = node_index(run.inventory);
  Maker make{run, index, take};
  std::vector<std::string> names;
  add_nodes(make, names);
  add_pairs(make, names, shape.rounds);
  make.add("collective.allreduce", names, "", good_collective(names, shape.rails * 1e9 / 8, shape.rails));
  for (std::size_t i = 0; i < names.size(); ++i)
    for (const Rail& rail : run.inventory.nodes[i].spec->rails) {
      make.add("link.counters", {names[i]}, rail.name, good_link(run.inventory, i, rail, true));
      if (!rail.device.empty()) make.add("link.rdma_counters", {names[i]}, rail.name, good_rdma(run.inventory, i, rail, true));
    }
  return run;
}

std::vector<std::string> GoodRun::lines() const {
  std::vector<std::string> out;
  for (const Record& record : records) out.push_back(to_line(record));
  return out;
}

std::string GoodRun::text() const {
  std::string out;
  for (const Record& record : records) out += to_line(record) + "\n";
  return out;
}

}  // namespace fabricgate::suites
