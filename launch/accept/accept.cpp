#include "launch/accept/accept.hpp"

#include <fmt/format.h>

#include "inventory/host/real_host.hpp"
#include "launch/accept/solo_rendezvous.hpp"
#include "launch/build_id.hpp"
#include "launch/interrupt.hpp"
#include "launch/mpi/environment.hpp"
#include "results/clock.hpp"
#include "results/file.hpp"
#include "results/log.hpp"

namespace fabricgate::launch {
namespace {

constexpr double meet_s = 60;

/// A job of a head is one of several, a headless one is the whole run.
Claimed claim(const Setup& setup) {
  const Job& job = setup.job;
  auto taken = claim_node(setup.inventory.launcher.spool_dir,
                          {job.identity.run, job.head, "", unix_now_s(), job.headless ? 0 : between_jobs_s});
  if (taken) return std::move(*taken);
  log::error(taken.error().with("this node cannot be kept from other runs").what);
  return {};
}

}  // namespace

Result<Meeting> open_meeting(const std::optional<Cidr>& management) {
  Meeting meeting;
  const auto launched = started_by_mpirun();
  if (!launched) return launched.error();
  if (!*launched) {
    meeting.rendezvous = std::make_unique<SoloRendezvous>();
    return meeting;
  }
  set_mpi_environment(management ? management : management_from_ssh());
  auto session = MpiSession::open();
  if (!session) return session.error();
  meeting.session = std::move(*session);
  catch_interrupts();  // again: MPI_Init installs handlers of its own
  meeting.rendezvous = meeting.session->rendezvous();
  meeting.local_rank = launch_place().local_rank;
  return meeting;
}

Result<std::string> shared_text(Meeting& meeting, const std::string& path) {
  fabric::Rendezvous& meet = *meeting.rendezvous;
  const auto mine = read_file(path, written_by_hand_bytes);
  auto flags = meet.gather(mine ? "can" : mine.error().what, Deadline::in_seconds(meet_s));
  if (!flags) return flags.error().with("who can read " + path);
  std::string reader = "-1";
  for (std::size_t i = flags->size(); i-- > 0;)
    if ((*flags)[i] == "can") reader = std::to_string(i);
  auto chosen = meet.broadcast(reader, Deadline::in_seconds(meet_s));
  if (!chosen) return chosen.error();
  const int rank = std::atoi(chosen->c_str());
  if (rank < 0 && flags->size() > 1 && !mine)
    return Error{mine.error().kind, fmt::format("on none of the {} nodes of the ranks: {}", flags->size(), mine.error().what), 0};
  if (rank < 0) return mine ? Error{ErrorKind::bug, "no rank can read " + path, 0} : mine.error();
  std::string text = rank == meet.rank() ? *mine : "";
  if (rank != 0 && (meet.rank() == 0 || meet.rank() == rank)) {
    auto got = meet.exchange(meet.rank() == 0 ? rank : 0, 0, text, Deadline::in_seconds(meet_s));
    if (!got) return got.error().with(path);
    if (meet.rank() == 0) text = *got;
  }
  return meet.broadcast(text, Deadline::in_seconds(meet_s));
}

Presence appear(const Setup& setup) {
  Presence out{.node = node_of_process(nodes_here(setup.inventory, local_addresses()), launch_place().local_rank), .pulse = nullptr};
  const std::string name = out.node ? setup.inventory.nodes[*out.node].name : "";
  if (out.node) log::set_prefix(name);
  if (auto made = make_spool(setup.spool()); !made) log::error(made.error().with("spool").what);
  if (auto noted = note_process(setup, name); !noted) log::warn(noted.error().with("spool").what);
  if (!out.node) return out;
  out.claimed = claim(setup);
  auto pulse = Pulse::start(pulse_path(setup.inventory.launcher.spool_dir, setup.job.identity, setup.job.name, name),
                            [claim = out.claimed.claim.get()] { if (claim) claim->renew(); });
  if (pulse)
    out.pulse = std::move(*pulse);
  else
    log::warn(pulse.error().with("pulse").what);
  return out;
}

JobEnd run_job(Meeting& meeting, const Setup& setup, Presence& presence, Progress& progress) {
  RealHost host;
  JobEnd end{.leads = meeting.leads()};
  Worker worker(setup, presence.node, host, *meeting.rendezvous, presence.pulse.get());
  if (presence.claimed.other) worker.node_in_use(to_string(*presence.claimed.other));
  worker.holds_copy(presence.copy);
  if (end.leads) {
    end.status = Coordinator(setup, worker, *meeting.rendezvous, progress).run(meeting.local_rank);
    return end;
  }
  const double seconds = job_deadline_s(setup.inventory, setup.job);
  end.served = serve(worker, *meeting.rendezvous, worker.arrival(meeting.local_rank), Deadline::in_seconds(seconds + 30));
  return end;
}

void close_meeting(Meeting& meeting, bool everyone_comes, int code) {
  if (!meeting.session) return;
  if (!everyone_comes) meeting.session->end_all(code);
  meeting.rendezvous.reset();
  meeting.session.reset();
}

}  // namespace fabricgate::launch
