#pragma once
/// MPI from MPI_Init to MPI_Finalize. Only a process that a launcher started may open one.
#include <memory>

#include "fabric/rendezvous.hpp"
#include "results/result.hpp"

namespace fabricgate::launch {

class MpiSession {
 public:
  /// Initialises MPI (single-threaded calls) with errors returned, not fatal. MPI_Init waits for all ranks without end when one
  /// of them is stopped: after a time that grows with their number this process says so and exits with 2, which ends the job.
  static Result<std::unique_ptr<MpiSession>> open();
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  /// Meets all ranks.
  std::unique_ptr<fabric::Rendezvous> rendezvous() const;
  /// Meets the ranks given (world numbers, ascending; everyone gives the same list and is in it).
  std::unique_ptr<fabric::Rendezvous> rendezvous(const std::vector<int>& ranks) const;
  /// Ends all ranks with `code`; for main alone, when some rank is known not to come to MPI_Finalize.
  [[noreturn]] void end_all(int code);

 private:
  MpiSession() = default;
  int rank_ = 0, size_ = 1;
};

}  // namespace fabricgate::launch
