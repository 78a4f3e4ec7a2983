#pragma once
/// What one end of a set of queue pairs must know of the other. Travels over the Rendezvous, never over the fabric.
#include <cstdint>
#include <string>
#include <vector>

#include "fabric/verbs/verbs_sample.hpp"

namespace fabricgate::fabric {

struct EndInfo {
  VerbsEnd end;
  int lid = 0;
  int rd_atomic = 0;  ///< reads from us that may be under way at once
  std::uint64_t address = 0;
  std::uint32_t rkey = 0;
  std::vector<std::uint32_t> qp_numbers;
  std::uint32_t first_psn = 0;
  VerbsFailure failure;  ///< why this end could not be opened; then nothing else is set
};
/// JSON.
std::string to_text(const EndInfo& info);
/// Refuses what no queue pair could be connected with. Errors: parse.
Result<EndInfo> end_info_from_text(const std::string& text);

/// MTU of the path: the smaller of both ends' active MTUs, in bytes.
std::uint64_t path_mtu(const EndInfo& one, const EndInfo& other);

}  // namespace fabricgate::fabric
