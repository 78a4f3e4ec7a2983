#pragma once
/// A complete run in which everything is good, made by code from an inventory: for tests and benchmarks only.
#include <functional>
#include <string>
#include <vector>

#include "inventory/inventory.hpp"
#include "results/record.hpp"
#include "suites/limits.hpp"
#include "suites/suite.hpp"

namespace fabricgate::suites {

struct GoodRun {
  Inventory inventory;
  Limits limits;
  Suite suite;
  RunIdentity identity;
  std::vector<Record> records;  ///< judged

  std::vector<std::string> lines() const;
  std::string text() const;  ///< JSON Lines
};

struct GoodRunShape {
  int nodes = 4;
  int rails = 2;
  int rounds = 0;  ///< of the pair tier; 0 = every pair
  bool emulated = true;
  bool rdma = false;   ///< rails declare a device and two VFs
  bool leaves = false; ///< rails declare a leaf switch, one for all
  std::string extra_yaml;  ///< appended to the inventory, e.g. a kubernetes section
};

/// Nodes n001…, rails rail0… of 1 Gb/s.
GoodRun good_run(const GoodRunShape& shape = {});
/// The same with each record given to `take` and not kept: those of thousands of nodes are many times their text.
GoodRun good_run(const GoodRunShape& shape, const std::function<void(Record)>& take);

/// Samples a record of the run could have; `rail_rate` in bytes/s.
nlohmann::json good_stage();
nlohmann::json good_facts(const Inventory& inventory, std::size_t node);
nlohmann::json good_link(const Inventory& inventory, std::size_t node, const Rail& rail, bool end);
nlohmann::json good_rdma(const Inventory& inventory, std::size_t node, const Rail& rail, bool end);
nlohmann::json good_cabling(const Inventory& inventory, std::size_t node, const Rail& rail);
nlohmann::json good_pair(const std::string& a, const std::string& b, const Rail* rail);
nlohmann::json good_pair_rdma(const Inventory& inventory, std::size_t a, std::size_t b, const Rail& rail);
nlohmann::json good_reach(const Inventory& inventory, std::size_t a, std::size_t b);
nlohmann::json good_collective(const std::vector<std::string>& hosts, double node_rate, int rails = 2);

}  // namespace fabricgate::suites
