#include "launch/accept/coordinator.hpp"

#include <algorithm>

#include "launch/build_id.hpp"
#include "launch/interrupt.hpp"
#include "results/file.hpp"
#include "results/host_range.hpp"
#include "results/log.hpp"

namespace fabricgate::launch {
namespace {

using nlohmann::json;

/// Beyond the seconds a part may take: sending the order and the answers.
constexpr double answer_slack_s = 5;
/// From the first process of a job to the last one.
constexpr double arrival_s = 30;

}  // namespace

std::string to_text(const JobStatus& status) {
  json findings = json::array();
  for (const Finding& finding : status.findings) findings.push_back(to_json_value(finding));
  return json{{"job", status.job}, {"state", status.state}, {"missing", status.missing}, {"during", status.during}, {"tier", to_string(status.tier)}, {"findings", findings}}
      .dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<JobStatus> job_status_from_text(const std::string& text) {
  try {
    const json in = json::parse(text);
    JobStatus status{.job = in.at("job").get<std::string>(),
                     .state = in.at("state").get<std::string>(),
                     .missing = in.at("missing").get<std::vector<std::string>>(),
                     .during = in.at("during").get<std::string>()};
    auto tier = parse_tier(in.at("tier").get<std::string>());
    if (!tier) return tier.error();
    status.tier = *tier;
    for (const json& value : in.at("findings")) {
      auto finding = finding_from_json(value);
      if (!finding) return finding.error();
      status.findings.push_back(*finding);
    }
    return status;
  } catch (const json::exception& e) {
    return Error{ErrorKind::parse, std::string("job status: ") + e.what(), e.id};
  }
}

std::string status_path(const std::string& spool_dir, const std::string& run, const std::string& job) {
  return run_spool(spool_dir, run) + "/status-" + job + ".json";
}

Coordinator::Coordinator(const Setup& setup, Worker& own, fabric::Rendezvous& meet, Progress& progress)
    : setup_(setup),
      own_(own),
      meet_(meet),
      progress_(progress),
      deadline_(Deadline::in_seconds(job_deadline_s(setup.inventory, setup.job))),
      finished_(setup.job.finished.begin(), setup.job.finished.end()) {
  status_.job = setup.job.name;
  if (!setup.job.tiers.empty()) status_.tier = setup.job.tiers.front();
}

bool Coordinator::over() const { return interrupted() || deadline_.passed() || !status_.missing.empty(); }

int Coordinator::rank_of(const std::string& host) const {
  const auto found = std::find(host_of_rank_.begin(), host_of_rank_.end(), host);
  return found == host_of_rank_.end() ? -1 : static_cast<int>(found - host_of_rank_.begin());
}

void Coordinator::keep(Record record) {
  const std::string path =
      records_spool(setup_.inventory.launcher.spool_dir, setup_.job.identity.run, setup_.job.name);
  if (auto written = append_line(path, to_line(record), true); !written) log::error(written.error().with("records").what);
  records_.push_back(std::move(record));
}

void Coordinator::add(Measured measured) { keep(judged(setup_, std::move(measured))); }

void Coordinator::take_lines(const Reply& reply) {
  for (const std::string& line : reply.lines) {
    auto record = record_from_line(line);
    if (record)
      keep(std::move(*record));
    else
      log::error(record.error().with("reply of a rank").what);
  }
}

void Coordinator::note_missing(std::size_t rank, const std::string& during) {
  const std::string host = rank < host_of_rank_.size() ? host_of_rank_[rank] : "";
  log::error("rank " + std::to_string(rank) + (host.empty() ? "" : " (" + host + ")") + " did not answer '" + during + "'");
  if (host.empty()) return;
  status_.missing.push_back(host);
  status_.during = during;
  status_.findings.push_back(make_finding("launch.rank_silent", {.host = host, .rank = static_cast<int>(rank)}, "an answer to '" + during + "'",
                                          "none before the deadline"));
  leave(host);
}

void Coordinator::leave(const std::string& host) { hosts_.erase(std::remove(hosts_.begin(), hosts_.end(), host), hosts_.end()); }

std::vector<std::optional<Reply>> Coordinator::ask(const std::string& kind, json body, double seconds) {
  const Order order{.kind = kind, .body = std::move(body), .seconds = std::min(seconds, std::max(1.0, left_s()))};
  const Deadline deadline = Deadline::in_seconds(order.seconds + answer_slack_s);
  std::vector<std::optional<Reply>> out(static_cast<std::size_t>(meet_.size()));
  if (auto sent = meet_.broadcast(to_text(order), deadline); !sent) {
    log::error(sent.error().with("order '" + kind + "'").what);
    return out;
  }
  const Reply mine = own_.execute(order);
  auto texts = meet_.gather(to_text(mine), deadline);
  if (!texts) {
    log::error(texts.error().with("answers to '" + kind + "'").what);
    return out;
  }
  for (std::size_t rank = 0; rank < texts->size(); ++rank) {
    if (!(*texts)[rank]) {
      if (!interrupted()) note_missing(rank, kind);
      continue;
    }
    auto reply = reply_from_text(*(*texts)[rank]);
    if (!reply) {
      log::error(reply.error().with("rank " + std::to_string(rank)).what);
      continue;
    }
    if (!reply->error.empty()) log::error("rank " + std::to_string(rank) + ": " + reply->error);
    take_lines(*reply);
    out[rank] = std::move(*reply);
  }
  return out;
}

/// Who is there: the job goes on with the hosts that came, unless one that was expected did not.
bool Coordinator::call_the_roll(int local_rank) {
  auto texts = meet_.gather(to_text(own_.arrival(local_rank)), deadline_.at_most(arrival_s));
  if (!texts) {
    log::error(texts.error().with("arrival").what);
    return false;
  }
  std::vector<std::optional<Arrival>> arrivals;
  for (const auto& text : *texts) {
    auto arrival = text ? arrival_from_text(*text) : Result<Arrival>(Error{});
    arrivals.push_back(arrival ? std::optional<Arrival>(*arrival) : std::nullopt);
  }
  const Roster roster = make_roster(setup_.job.hosts, arrivals, setup_.job.identity);
  host_of_rank_ = roster.host_of_rank;
  for (const std::string& host : setup_.job.hosts)
    if (rank_of(host) >= 0) hosts_.push_back(host);
  const auto find = [&](const char* cause, const std::string& host, const std::string& expected, const std::string& found) {
    status_.findings.push_back(make_finding(cause, {.host = host}, expected, found));
  };
  for (const std::string& host : roster.doubled) find("launch.ranks_uneven", host, "one process acts for a node", "two processes do");
  for (const std::string& stranger : roster.strangers)
    find("launch.placement", "", "ranks on nodes of the inventory only", stranger + " has no management address of it");
  for (const std::string& host : roster.other_build) find("launch.program_differs", host, setup_.job.identity.build, "another program");
  if (!roster.other_copy.empty())
    status_.findings.push_back(make_finding("launch.inventory_differs", {.file = roster.other_copy_path},
                                            "that of this run, sha256 " + setup_.job.identity.inventory.substr(0, 12),
                                            "another on " + fold_hosts(roster.other_copy)));
  // Nobody starts this job again, so nodes without a process are left out; they stay not_run. A process that is silent
  // would hold up every order.
  const bool go_on = setup_.job.headless && roster.silent.empty();
  if (!go_on) status_.missing = roster.absent;
  status_.during = "arrive";
  if (go_on && !roster.absent.empty()) log::warn("no process for " + fold_hosts(roster.absent) + ", the others go on");
  for (const std::string& host : status_.missing) find("launch.rank_silent", host, "a process on this node", "none arrived");
  for (const auto& [host, by] : roster.in_use) refuse_busy(*this, status_.tier, host, by);
  for (const Finding& finding : status_.findings) log::error(finding.cause + " " + finding.subject.host + ": " + finding.found);
  tell_roster();
  return status_.missing.empty() && !hosts_.empty();
}

/// Ranks act as long as their host is in.
void Coordinator::tell_roster() {
  std::vector<std::string> acting = host_of_rank_;
  for (std::string& host : acting)
    if (std::find(hosts_.begin(), hosts_.end(), host) == hosts_.end()) host.clear();
  ask("roster", {{"hosts", acting}}, 10);
}

std::string Coordinator::record_lines() const {
  std::string lines;
  for (const Record& record : records_) lines += to_line(record) + "\n";
  return lines;
}

/// Hosts that this tier keeps out leave, so that they cannot spoil what comes.
void Coordinator::drop_failed(Tier tier) {
  const GateResult result = gate_through(setup_, record_lines(), tier);
  for (const NodeResult& node : result.nodes)
    if (node.left_in) leave(node.name);
}

void Coordinator::run_tier(Tier tier) {
  status_.tier = tier;
  const auto before = hosts_.size();
  if (tier == Tier::stage) run_stage_tier(*this);
  if (tier == Tier::host) run_host_tier(*this);
  if (tier == Tier::link) run_link_tier(*this);
  if (tier == Tier::pair) run_pair_tier(*this);
  if (tier == Tier::collective) run_collective_tier(*this);
  progress_.finish();
  if (setup_.job.tiers.size() < 2 || over()) return;
  drop_failed(tier);
  if (hosts_.size() < before) tell_roster();
}

/// The last order: nobody does anything for it, everybody confirms.
void Coordinator::end_all_ranks() {
  const Deadline deadline = Deadline::in_seconds(answer_slack_s);
  auto sent = meet_.broadcast(to_text(Order{.kind = "done", .seconds = 1}), deadline);
  if (sent) {
    auto confirmed = meet_.gather(to_text(Reply{}), deadline);
    if (confirmed) return;
    sent = confirmed.error();
  }
  log::warn(sent.error().with("order 'done'").what);
}

JobStatus Coordinator::run(int local_rank) {
  if (call_the_roll(local_rank)) {
    for (Tier tier : setup_.job.tiers)
      if (!over() && !hosts_.empty()) run_tier(tier);
    const bool last = !setup_.job.tiers.empty() && setup_.job.tiers.back() == Tier::collective;
    if (last && !over() && !hosts_.empty()) run_counters(*this);
  }
  if (interrupted())
    status_.state = "interrupted";
  else if (!status_.missing.empty())
    status_.state = "rank_missing";
  else
    status_.state = deadline_.passed() ? "no_time" : "complete";
  const std::string path = status_path(setup_.inventory.launcher.spool_dir, setup_.job.identity.run, setup_.job.name);
  if (auto written = write_file_atomic(path, to_text(status_)); !written) log::error(written.error().what);
  if (status_.state == "complete") end_all_ranks();
  progress_.end_job(status_.state);
  return status_;
}

}  // namespace fabricgate::launch
