// Run under mpirun at several rank counts: every rank checks what it sees, and rank 0's verdict is the exit code.
#include "launch/mpi/mpi_rendezvous.hpp"

#include <cstdio>
#include <thread>

#include "launch/mpi/environment.hpp"
#include "launch/mpi/session.hpp"

namespace fabricgate::launch {
namespace {

int failures = 0;

void expect(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "expected: %s\n", what);
  ++failures;
}

Deadline soon() { return Deadline::in_seconds(30); }

void gather_brings_every_text_to_rank_0(fabric::Rendezvous& meet) {
  auto all = meet.gather("from " + std::to_string(meet.rank()), soon());
  expect(static_cast<bool>(all), "gather succeeds");
  if (!all || meet.rank() != 0) return;
  for (int i = 0; i < meet.size(); ++i) expect((*all)[static_cast<std::size_t>(i)] == "from " + std::to_string(i), "text of each rank");
}

void broadcast_of_a_large_text_arrives_whole(fabric::Rendezvous& meet) {
  const std::string large(1 << 20, 'x');
  auto text = meet.broadcast(meet.rank() == 0 ? large : "", soon());
  expect(text && *text == large, "a megabyte from rank 0");
}

void neighbours_swap_texts(fabric::Rendezvous& meet) {
  const int peer = meet.rank() ^ 1;
  if (peer >= meet.size()) return;
  for (int tag : {3, 0}) {
    auto text = meet.exchange(peer, tag, std::to_string(meet.rank() * 10 + tag), soon());
    expect(text && *text == std::to_string(peer * 10 + tag), "the peer's text of this tag");
  }
}

/// The last rank is late: it is reported missing, and its late text is not taken for the next one.
void a_late_rank_is_missing_and_its_text_is_dropped(fabric::Rendezvous& meet) {
  if (meet.size() < 2) return;
  const bool late = meet.rank() == meet.size() - 1;
  if (late) std::this_thread::sleep_for(std::chrono::milliseconds(600));
  auto first = meet.gather("old", Deadline::in_seconds(meet.rank() == 0 ? 0.1 : 30));
  expect(static_cast<bool>(first), "gather succeeds although a rank is missing");
  if (first && meet.rank() == 0) expect(!first->back(), "the late rank is missing");
  auto go = meet.broadcast("go", soon());
  expect(static_cast<bool>(go), "broadcast after a missing rank");
  auto second = meet.gather("new", soon());
  if (second && meet.rank() == 0) expect(second->back() == "new", "the second text of the late rank");
}

void silence_ends_at_the_deadline(fabric::Rendezvous& meet) {
  if (meet.size() < 2 || meet.rank() != 1) return;
  auto text = meet.broadcast("", Deadline::in_seconds(0.2));
  expect(!text && text.error().kind == ErrorKind::timeout, "timeout when rank 0 does not speak");
}

void ranks_left_out_of_a_list_take_no_part(MpiSession& session) {
  if (session.size() < 4 || session.rank() == 1) return;
  auto some = session.rendezvous({0, 2, 3});
  expect(some->rank() == (session.rank() == 0 ? 0 : session.rank() - 1), "position in the list");
  gather_brings_every_text_to_rank_0(*some);
}

int run() {
  set_mpi_environment(std::nullopt);
  auto session = MpiSession::open();
  if (!session) return 70;
  int total = 0;
  {
    auto meet = (*session)->rendezvous();
    gather_brings_every_text_to_rank_0(*meet);
    broadcast_of_a_large_text_arrives_whole(*meet);
    neighbours_swap_texts(*meet);
    a_late_rank_is_missing_and_its_text_is_dropped(*meet);
    auto counts = meet->gather(std::to_string(failures), soon());
    if (counts)
      for (const auto& count : *counts) total += count ? std::stoi(*count) : 1;
    silence_ends_at_the_deadline(*meet);
  }
  ranks_left_out_of_a_list_take_no_part(**session);
  return total + failures > 0 ? 1 : 0;
}

}  // namespace
}  // namespace fabricgate::launch

int main() { return fabricgate::launch::run(); }
