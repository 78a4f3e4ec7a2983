#pragma once
/// One rank's share of a job: takes an order, does the part that concerns its node, writes what it measured to the spool of
/// its node before it says anything about it.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "fabric/rendezvous.hpp"
#include "inventory/desired/desired.hpp"
#include "inventory/host/host.hpp"
#include "launch/accept/order.hpp"
#include "launch/accept/place.hpp"
#include "launch/accept/pulse.hpp"
#include "launch/accept/setup.hpp"

namespace fabricgate::launch {

/// What a part may use. `node` and `want` are those of this rank.
struct Work {
  const Setup& setup;
  Host& host;
  fabric::Rendezvous& meet;
  std::size_t node = 0;
  const Desired& want;
  const std::vector<std::string>& host_of_rank;

  const std::string& name() const { return setup.inventory.nodes[node].name; }
  /// Rank that acts for a host, -1 when none does.
  int rank_of(const std::string& host) const;
};

struct PartResult {
  std::vector<Measured> measured;
  std::vector<Record> stored;  ///< measured by an earlier job of this run, already in the spool
  nlohmann::json data;
};

/// One kind of order. Registered by one line in parts.cpp.
struct Part {
  const char* kind;
  PartResult (*run)(Work& work, const nlohmann::json& body, Deadline deadline);
  bool everyone = false;  ///< also ranks that act for no node: it meets inside
};
const std::vector<Part>& parts();

class Worker {
 public:
  /// `pulse` may be null: nobody watches.
  Worker(const Setup& setup, std::optional<std::size_t> node, Host& host, fabric::Rendezvous& meet, Pulse* pulse = nullptr);

  /// Another run has the node: said on arrival, and rank 0 then asks nothing of it.
  void node_in_use(const std::string& by) { in_use_ = by; }
  void holds_copy(InventoryCopy copy) { copy_ = std::move(copy); }
  Arrival arrival(int local_rank) const;
  /// Never fails: what went wrong is in Reply::error. An idle rank answers with nothing.
  Reply execute(const Order& order);
  const std::vector<std::string>& host_of_rank() const { return host_of_rank_; }

 private:
  Reply act(const Order& order, const Part& part);

  const Setup& setup_;
  std::optional<std::size_t> node_;
  Host& host_;
  fabric::Rendezvous& meet_;
  Pulse* pulse_;
  Desired want_;
  std::string in_use_;
  InventoryCopy copy_;
  std::vector<std::string> host_of_rank_;
};

/// Serves orders of rank 0 until "done". Error when this process was interrupted, at `deadline`, and earlier when rank 0 falls
/// silent: it gives the next order when the last one's time and a margin are over, or it gives none any more.
Status serve(Worker& worker, fabric::Rendezvous& meet, const Arrival& arrival, Deadline deadline);

/// Folder of the run on this node, made when absent.
Status make_spool(const std::string& folder);
/// Notes this process, and the launcher's daemon that started it, in the spool, so that exactly they can be found and ended
/// later.
Status note_process(const Setup& setup, const std::string& host);

}  // namespace fabricgate::launch
