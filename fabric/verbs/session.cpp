#include "fabric/verbs/session.hpp"

#include <fmt/format.h>

#include "fabric/round/pattern.hpp"
#include "fabric/verbs/latency.hpp"
#include "fabric/verbs/payload.hpp"
#include "results/json_text.hpp"

namespace fabricgate::fabric {
namespace {

constexpr VerbsStep contact_step{.bytes = 64, .both = true, .messages = 8};

/// Rate and times from the end that posted, payload from the end where it arrived.
VerbsFlow joined(const VerbsFlow& posted, const VerbsFlow& arrived) {
  VerbsFlow flow = posted;
  flow.payload_checked = arrived.payload_checked;
  flow.payload_errors = arrived.payload_errors;
  flow.first_wrong = arrived.first_wrong;
  return flow;
}

}  // namespace

Failed Session::silent(const Error& error) const {
  return VerbsFailure{.host = path_.peer(), .cause = "launch.rank_silent", .what = error.what, .native = error.native};
}

Failed Session::open(VerbsSample& sample) {
  Failed failed = path_.no_port ? path_.no_port : endpoint_.open(path_.port, plan_);
  EndInfo mine = failed ? EndInfo{.failure = *failed} : endpoint_.info();
  if (failed) mine.failure.host = path_.self();
  auto answer = rendezvous_.exchange(path_.peer_rank, path_.tag, to_text(mine), deadline_);
  auto theirs = answer ? end_info_from_text(*answer) : Result<EndInfo>(answer.error());
  if (!theirs) return silent(theirs.error());
  peer_ = *theirs;
  (path_.is_a ? sample.a_end : sample.b_end) = mine.end;
  (path_.is_a ? sample.b_end : sample.a_end) = peer_.end;
  const auto& of_a = path_.is_a ? mine.failure : peer_.failure;
  const auto& of_b = path_.is_a ? peer_.failure : mine.failure;
  if (const auto& first = first_of(of_a, of_b); !first.cause.empty()) return first;
  sample.path_mtu_bytes = path_mtu(mine, peer_);
  if (path_.on_peer) path_.on_peer(peer_);
  return std::nullopt;
}

Failed Session::agree(Told& mine, Told& theirs) {
  if (mine.failure) mine.failure->host = path_.self();
  const nlohmann::json text = {{"failure", to_json_value(mine.failure.value_or(VerbsFailure{}))},
                               {"flow", to_json_value(mine.flow)},
                               {"latency", to_json_value(mine.latency)},
                               {"slots", mine.slots}};
  const std::string own_text = text.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  auto answer = rendezvous_.exchange(path_.peer_rank, path_.tag, own_text, deadline_);
  if (!answer) return silent(answer.error());
  const auto value = nlohmann::json::parse(*answer, nullptr, false);
  VerbsFailure failure;
  try {
    failure = verbs_failure_from(value.at("failure"));
    theirs.flow = verbs_flow_from(value.at("flow"));
    theirs.latency = verbs_latency_from(value.at("latency"));
    theirs.slots = count_from(value, "slots");
  } catch (const nlohmann::json::exception& problem) {
    return silent({ErrorKind::parse, fmt::format("{} said something else: {}", path_.peer(), plain_text(problem))});
  }
  const VerbsFailure own = mine.failure.value_or(VerbsFailure{});
  const auto& first = path_.is_a ? first_of(own, failure) : first_of(failure, own);
  return first.cause.empty() ? std::nullopt : Failed(first);
}

Failed Session::agree(Failed mine) {
  Told own{.failure = std::move(mine)}, theirs;
  return agree(own, theirs);
}

std::uint64_t Session::seed(bool of_a) const {
  return mix(runs_ * 2 + (of_a ? 1 : 0));
}

/// A read is posted where its data goes to.
bool Session::posts(const VerbsStep& step, Ways ways) const {
  return step.operation == Operation::read ? (path_.is_a ? ways.b_to_a : ways.a_to_b)
                                           : (path_.is_a ? ways.a_to_b : ways.b_to_a);
}

bool Session::takes(const VerbsStep& step, Ways ways) const {
  return (step.operation == Operation::send || step.operation == Operation::write_imm) &&
         (path_.is_a ? ways.b_to_a : ways.a_to_b);
}

/// Fills and connects; both ends are ready when it returns nothing.
Failed Session::get_ready(const VerbsStep& step, const std::function<Failed()>& fill) {
  ++runs_;
  prepare_payload(endpoint_, layout_of(plan_, step), seed(path_.is_a));
  Failed failed = endpoint_.reset();
  if (!failed) failed = fill();
  if (!failed) failed = endpoint_.connect(peer_);
  return agree(std::move(failed));
}

Failed Session::run(const VerbsStep& step, Ways ways, Told& mine, Told& theirs) {
  std::optional<Receiver> receiver;
  const auto fill = [&] { return takes(step, ways) ? receiver.emplace(endpoint_, step).fill() : std::nullopt; };
  if (auto failed = get_ready(step, fill)) return failed;
  std::optional<Sender> sender;
  if (posts(step, ways)) sender.emplace(endpoint_, peer_, step);
  Patrol patrol(plan_.stall_s, deadline_, step_text(plan_, step));
  mine.failure = drive(sender ? &*sender : nullptr, receiver ? &*receiver : nullptr, patrol);
  if (sender) {
    sender->report(mine.flow);
    mine.slots = sender->slots_used();
  }
  return agree(mine, theirs);
}

Failed Session::measure(const VerbsStep& step, Ways ways, VerbsRate& rate) {
  Told posted, peer_posted;
  if (auto failed = run(step, ways, posted, peer_posted)) return failed;
  Told arrived, peer_arrived;
  const bool reads = step.operation == Operation::read;
  if (path_.is_a ? ways.b_to_a : ways.a_to_b)
    check_payload({endpoint_, layout_of(plan_, step), seed(!path_.is_a)}, reads ? posted.slots : peer_posted.slots,
                  arrived.flow);
  if (auto failed = agree(arrived, peer_arrived)) return failed;
  const Told &of_a = path_.is_a ? posted : peer_posted, &of_b = path_.is_a ? peer_posted : posted;
  const Told &at_a = path_.is_a ? arrived : peer_arrived, &at_b = path_.is_a ? peer_arrived : arrived;
  if (ways.a_to_b) rate.a_to_b = joined((reads ? of_b : of_a).flow, at_b.flow);
  if (ways.b_to_a) rate.b_to_a = joined((reads ? of_a : of_b).flow, at_a.flow);
  return std::nullopt;
}

Failed Session::contact() {
  VerbsRate ignored;
  return measure(contact_step, {}, ignored);
}

Failed Session::rate(const VerbsStep& step, VerbsSample& sample) {
  VerbsRate rate{.operation = step.operation, .bytes = step.bytes, .qps = plan_.qps, .both = step.both};
  Failed failed;
  if (step.both) failed = measure(step, {}, rate);
  if (!step.both && step.a_to_b) failed = measure(step, {.b_to_a = false}, rate);
  if (!step.both && step.b_to_a && !failed) failed = measure(step, {.a_to_b = false}, rate);
  if (!failed) sample.rates.push_back(rate);
  return failed;
}

Failed Session::latency(const VerbsStep& step, VerbsSample& sample) {
  PingPong ping_pong(endpoint_, peer_, step, path_.is_a);
  if (auto failed = get_ready(step, [&] { return ping_pong.fill(); })) return failed;
  const bool polls_byte = step.operation == Operation::write;
  Patrol patrol(plan_.stall_s, deadline_, step_text(plan_, step),
                polls_byte ? Patrol::byte_turns : Patrol::queue_turns);
  Told mine{.failure = ping_pong.run(patrol)}, theirs;
  if (path_.is_a) mine.latency = latency_of(ping_pong.stamps_s(), step);
  if (auto failed = agree(mine, theirs)) return failed;
  sample.latencies.push_back(path_.is_a ? mine.latency : theirs.latency);
  return std::nullopt;
}

}  // namespace fabricgate::fabric
