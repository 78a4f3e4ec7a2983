// What a node says of itself: facts, links, counters.
#include <sstream>

#include "bootstrap/agent/busy.hpp"
#include "fabric/link/link_probe.hpp"
#include "fabric/link/rdma_sample.hpp"
#include "inventory/observe/facts.hpp"
#include "launch/accept/parts.hpp"
#include "results/clock.hpp"
#include "results/file.hpp"

namespace fabricgate::launch {
namespace {

using nlohmann::json;

constexpr double lldp_s = 5;

/// A job that is started again must not measure twice what the first one has: the line in the spool stands.
bool measured_before(const Work& work, const std::string& check, const std::string& rail, PartResult& out) {
  for (Record& record : records_in_spool(work, check)) {
    if (record.rail != rail) continue;
    out.stored.push_back(std::move(record));
    return true;
  }
  return false;
}

fabric::LinkSample read_rail(Work& work, const DesiredRail& rail, Deadline deadline) {
  return {.host = work.name(), .rail = rail.name, .netdev = rail.netdev, .now = fabric::read_link(work.host, rail.netdev, deadline)};
}

fabric::RdmaSample read_device(Work& work, const DesiredRail& rail) {
  return {.host = work.name(), .rail = rail.name, .device = rail.device,
          .now = read_rdma(work.host, {.device = rail.device, .netdev = rail.netdev, .pci = rail.pci})};
}

Measured rail_measured(const Work& work, const char* check, const std::string& rail, json sample, double started) {
  return {.check = check,
          .hosts = {work.name()},
          .rail = rail,
          .sample = std::move(sample),
          .started_unix_s = started,
          .elapsed_s = unix_now_s() - started};
}

/// The daemon is asked once for all rails.
void measure_cabling(Work& work, Deadline deadline, PartResult& out) {
  std::optional<Result<std::vector<LldpNeighbour>>> neighbours;
  for (const Rail& rail : work.setup.inventory.nodes[work.node].spec->rails) {
    if (rail.leaf.empty() || measured_before(work, "link.cabling", rail.name, out)) continue;
    const double started = unix_now_s();
    fabric::CablingSample sample{.host = work.name(), .rail = rail.name, .netdev = rail.netdev};
    if (rail.link_layer == LinkLayer::infiniband) {
      sample.unreadable = "InfiniBand has no LLDP";
    } else {
      if (!neighbours) neighbours = read_lldp(work.host, deadline.at_most(lldp_s));
      if (!*neighbours) sample.unreadable = "the switch cannot be asked: " + neighbours->error().what;
      if (*neighbours)
        for (const LldpNeighbour& neighbour : **neighbours)
          if (neighbour.netdev == rail.netdev) sample.neighbours.push_back(neighbour);
    }
    out.measured.push_back(rail_measured(work, "link.cabling", rail.name, to_json_value(sample), started));
  }
}

void measure_device_counters(Work& work, PartResult& out) {
  const std::vector<Record> starts = records_in_spool(work, "link.rdma");
  for (const DesiredRail& rail : work.want.rails) {
    if (rail.device.empty()) continue;
    const double started = unix_now_s();
    fabric::RdmaSample sample = read_device(work, rail);
    for (const Record& start : starts) {
      if (start.rail != rail.name) continue;
      auto before = fabric::rdma_sample_from_json(start.sample);
      if (before) sample.before = std::move(before->now);
    }
    out.measured.push_back(rail_measured(work, "link.rdma_counters", rail.name, to_json_value(sample), started));
  }
}

json busy_data(const Work& work, const Facts& facts) { return {{"busy", bootstrap::busy_reasons(work.want, facts)}}; }

}  // namespace

std::vector<Record> records_in_spool(const Work& work, const std::string& check) {
  std::vector<Record> out;
  auto text = read_file(rank_spool(work.setup.inventory.launcher.spool_dir, work.setup.job.identity.run, work.name()));
  if (!text) return out;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    auto record = record_from_line(line);
    if (record && record->check == check && record->identity == work.setup.job.identity) out.push_back(std::move(*record));
  }
  return out;
}

PartResult measure_facts(Work& work, const json& body, Deadline deadline) {
  PartResult out;
  if (measured_before(work, "host.facts", "", out)) {
    auto facts = facts_from_json(out.stored.front().sample);
    if (facts) out.data = busy_data(work, *facts);
    return out;
  }
  const double started = unix_now_s();
  const double offset = started - body.at("clock_unix_s").get<double>();
  FactsRequest request{.free_space_paths = {work.want.spool_dir, work.want.install_dir}, .version_prefixes = {work.want.mpi_prefix}};
  for (const auto& [key, value] : work.want.sysctl) request.sysctl_keys.push_back(key);
  const Facts facts = observe(work.host, request, deadline);
  out.data = busy_data(work, facts);
  json sample = to_json_value(facts);
  sample["clock_offset_s"] = offset;
  out.measured.push_back({.check = "host.facts",
                          .hosts = {work.name()},
                          .sample = std::move(sample),
                          .started_unix_s = started,
                          .elapsed_s = unix_now_s() - started});
  return out;
}

PartResult measure_link(Work& work, const json&, Deadline deadline) {
  PartResult out;
  for (const DesiredRail& rail : work.want.rails) {
    if (measured_before(work, "link.rail", rail.name, out)) continue;
    const double started = unix_now_s();
    out.measured.push_back(rail_measured(work, "link.rail", rail.name, to_json_value(read_rail(work, rail, deadline)), started));
  }
  for (const DesiredRail& rail : work.want.rails) {
    if (rail.device.empty() || measured_before(work, "link.rdma", rail.name, out)) continue;
    const double started = unix_now_s();
    out.measured.push_back(rail_measured(work, "link.rdma", rail.name, to_json_value(read_device(work, rail)), started));
  }
  measure_cabling(work, deadline, out);
  return out;
}

PartResult measure_counters(Work& work, const json&, Deadline deadline) {
  PartResult out;
  const std::vector<Record> starts = records_in_spool(work, "link.rail");
  for (const DesiredRail& rail : work.want.rails) {
    const double started = unix_now_s();
    fabric::LinkSample sample = read_rail(work, rail, deadline);
    for (const Record& start : starts) {
      if (start.rail != rail.name) continue;
      auto before = fabric::link_sample_from_json(start.sample);
      if (before) sample.before = before->now;
    }
    out.measured.push_back(rail_measured(work, "link.counters", rail.name, to_json_value(sample), started));
  }
  measure_device_counters(work, out);
  return out;
}

}  // namespace fabricgate::launch
