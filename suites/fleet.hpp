#pragma once
/// What the nodes' facts say when laid side by side: sample of host.fleet.
///
///   {"hosts": {"gpu001": {"hostname": …, "kernel": …, "versions": {"ucx": …}, "addresses": [{"netdev", "address"}, …],
///   "guids": [{"device", "pci", "guid"}, …]}, …}}
#include <nlohmann/json.hpp>
#include <vector>

#include "results/record.hpp"

namespace fabricgate::suites {

/// Digest of host.facts records (their first host, their sample). A record without a usable sample is left out, so that
/// its host is missing from the digest and host.fleet is inconclusive.
nlohmann::json fleet_sample(const std::vector<const Record*>& facts_records);

}  // namespace fabricgate::suites
