#pragma once
/// `accept`: all ranks of one job, from the start of the process to its exit code.
#include <functional>
#include <memory>
#include <string>

#include "inventory/host/claim.hpp"
#include "launch/accept/coordinator.hpp"
#include "launch/mpi/session.hpp"

namespace fabricgate::launch {

/// The meeting of all ranks of this program, MPI where a launcher started us, else alone.
struct Meeting {
  std::unique_ptr<MpiSession> session;            ///< null when alone
  std::unique_ptr<fabric::Rendezvous> rendezvous;
  int local_rank = 0;

  bool leads() const { return rendezvous->rank() == 0; }
};

/// Sets MPI's environment for `management` (else the network SSH came in by) and opens MPI.
Result<Meeting> open_meeting(const std::optional<Cidr>& management);

/// Text every rank gets: read from `path` by the lowest rank that can. Error on all ranks when none can.
Result<std::string> shared_text(Meeting& meeting, const std::string& path);

/// One job on an open meeting. On rank 0 the status of the job, elsewhere what `serve` says.
struct JobEnd {
  bool leads = false;
  JobStatus status;  ///< rank 0
  Status served;     ///< other ranks
};
/// This process on its node: what it acts for, taken for the run, noted in the spool, with a pulse. Made before MPI where the job is
/// known before, so that a rank that never gets through MPI_Init can be told.
struct Presence {
  std::optional<std::size_t> node;  ///< nullopt: idle, or on no node of the inventory
  Claimed claimed = {};             ///< of the node; outlives the pulse, which renews it
  std::unique_ptr<Pulse> pulse;
  InventoryCopy copy = {};          ///< of the one that the run goes by, where a person started it
};
Presence appear(const Setup& setup);
JobEnd run_job(Meeting& meeting, const Setup& setup, Presence& presence, Progress& progress);

/// Leaves MPI: in order when every rank is known to come, else by ending all of them.
void close_meeting(Meeting& meeting, bool everyone_comes, int code);

}  // namespace fabricgate::launch
