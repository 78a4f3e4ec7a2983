// What a node says of itself: facts, links, counters.
#include <sstream>

#include "bootstrap/agent/busy.hpp"
#include "fabric/link/link_probe.hpp"
#include "inventory/observe/facts.hpp"
#include "launch/accept/parts.hpp"
#include "results/clock.hpp"
#include "results/file.hpp"

namespace fabricgate::launch {
namespace {

using nlohmann::json;

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

Measured rail_measured(const Work& work, const char* check, const DesiredRail& rail, const fabric::LinkSample& sample, double started) {
  return {.check = check,
          .hosts = {work.name()},
          .rail = rail.name,
          .sample = to_json_value(sample),
          .started_unix_s = started,
          .elapsed_s = unix_now_s() - started};
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
    out.measured.push_back(rail_measured(work, "link.rail", rail, read_rail(work, rail, deadline), started));
  }
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
    out.measured.push_back(rail_measured(work, "link.counters", rail, sample, started));
  }
  return out;
}

}  // namespace fabricgate::launch
