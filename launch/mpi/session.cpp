#include "launch/mpi/session.hpp"

#include <mpi.h>

#include <cstdlib>
#include <numeric>

#include "launch/mpi/mpi_rendezvous.hpp"

namespace fabricgate::launch {

Result<std::unique_ptr<MpiSession>> MpiSession::open() {
  int provided = 0;
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
