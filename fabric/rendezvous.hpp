#pragma once
/// How the ranks of one job meet. Fabric code never sees <mpi.h>: launch/mpi_rendezvous implements it on MPI (polling
/// politely, so that waiting ranks do not disturb a measurement), fabric/thread_rendezvous with threads for tests.
/// Every call has a deadline; a rank that does not arrive is named, never waited for for ever.
#include <optional>
#include <string>
#include <vector>

#include "results/deadline.hpp"
#include "results/result.hpp"

namespace fabricgate::fabric {

class Rendezvous {
 public:
  virtual ~Rendezvous() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// At rank 0: one entry per rank, nullopt for a rank that did not arrive in time. Elsewhere: empty on success.
  virtual Result<std::vector<std::optional<std::string>>> gather(const std::string& mine, Deadline deadline) = 0;
  /// From rank 0 to all; returns rank 0's text everywhere. Kind timeout when rank 0 did not speak.
  virtual Result<std::string> broadcast(const std::string& text, Deadline deadline) = 0;
  /// Swaps texts with one peer; both sides must call it. `tag` tells concurrent exchanges of one pair apart.
  virtual Result<std::string> exchange(int peer, int tag, const std::string& mine, Deadline deadline) = 0;
};

/// gather, then broadcast of the whole: every rank gets every text; kind timeout naming the ranks that are missing.
Result<std::vector<std::string>> all_gather(Rendezvous& rendezvous, const std::string& mine, Deadline deadline);

}  // namespace fabricgate::fabric
