#include "launch/mpi/session.hpp"

#include <mpi.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <numeric>
#include <thread>

#include "launch/mpi/environment.hpp"
#include "launch/mpi/mpi_rendezvous.hpp"
#include "results/gate_result.hpp"
#include "results/log.hpp"

namespace fabricgate::launch {

namespace {

/// Ends the process when it is still there after `seconds`.
class InitLimit {
 public:
  explicit InitLimit(double seconds) {
    thread_ = std::thread([this, seconds] {
      std::unique_lock lock(mutex_);
      if (over_.wait_for(lock, std::chrono::duration<double>(seconds), [this] { return is_over_; })) return;
      char host[256] = "";
      gethostname(host, sizeof host - 1);
      log::error("rank " + std::to_string(launch_place().rank) + " on " + host + " waited " + std::to_string(static_cast<int>(seconds)) +
                 " s in MPI_Init: look at the hosts that do not say this");
      std::_Exit(static_cast<int>(ExitCode::inconclusive));
    });
  }
  ~InitLimit() {
    {
      const std::lock_guard lock(mutex_);
      is_over_ = true;
    }
    over_.notify_one();
    thread_.join();
  }

 private:
  std::mutex mutex_;
  std::condition_variable over_;
  bool is_over_ = false;
  std::thread thread_;
};

}  // namespace

Result<std::unique_ptr<MpiSession>> MpiSession::open() {
  int provided = 0;
  InitLimit limit(90 + 0.05 * launch_place().size);
  const int code = MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  if (code != MPI_SUCCESS) return Error{ErrorKind::native, "MPI_Init_thread failed", code};
  std::unique_ptr<MpiSession> session(new MpiSession);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &session->rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &session->size_);
  return session;
}

MpiSession::~MpiSession() { MPI_Finalize(); }

std::unique_ptr<fabric::Rendezvous> MpiSession::rendezvous() const {
  std::vector<int> all(static_cast<std::size_t>(size_));
  std::iota(all.begin(), all.end(), 0);
  return rendezvous(all);
}

std::unique_ptr<fabric::Rendezvous> MpiSession::rendezvous(const std::vector<int>& ranks) const {
  return std::make_unique<MpiRendezvous>(ranks);
}

void MpiSession::end_all(int code) {
  MPI_Abort(MPI_COMM_WORLD, code);
  std::_Exit(code);
}

}  // namespace fabricgate::launch
