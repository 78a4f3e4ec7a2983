#pragma once
/// One thing that is not as it should be, said so that a person knows which part to touch.
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "results/result.hpp"
#include "results/verdict.hpp"

namespace fabricgate {

/// What a finding is about. Empty string or -1 means "does not apply"; only the keys that apply are written.
struct Subject {
  std::string host;       ///< node name as the inventory writes it
  int rank = -1;          ///< MPI or NCCL rank
  std::string device;     ///< RDMA device without the port
  int port = -1;          ///< port of the device
  std::string netdev;     ///< network interface
  std::string pci;        ///< PCI address
  std::string module;     ///< kernel module
  std::string rail;       ///< rail name of the inventory
  std::string peer;       ///< the other node, when a pair is meant
  std::string direction;  ///< "tx" or "rx" seen from host, when one direction only is meant
  std::string file;       ///< path
  int line = -1;          ///< line in file
  int pid = -1;           ///< process

  friend bool operator==(const Subject&, const Subject&) = default;
};

/// "gpu017 rail1 (ens3f1) tx ↔ gpu020": for tables and messages.
std::string to_string(const Subject& subject);

struct Evidence {
  int line = -1;     ///< line number from 1, or -1
  std::string text;  ///< the line, or what was read

  friend bool operator==(const Evidence&, const Evidence&) = default;
};

struct Finding {
  std::string cause;  ///< id of the catalogue
  Verdict verdict = Verdict::inconclusive;
  bool primary = false;  ///< the root cause; others are further faults or consequences
  Subject subject;
  std::string expected;
  std::string found;
  std::string limit;  ///< the limit that was not kept and where it is from; empty where no limits file has a say
  std::vector<Evidence> evidence;

  friend bool operator==(const Finding&, const Finding&) = default;
};

/// A finding with the catalogue's verdict for `cause`; primary. An id outside the catalogue gives Verdict::inconclusive.
Finding make_finding(std::string_view cause, Subject subject, std::string expected, std::string found);

/// The worst verdict of all; pass when there is none.
Verdict worst(const std::vector<Finding>& findings);

nlohmann::json to_json_value(const Finding& finding);
Result<Finding> finding_from_json(const nlohmann::json& value);

}  // namespace fabricgate
