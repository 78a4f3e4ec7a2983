#include "fabric/verbs/run.hpp"

#include "fabric/verbs/session.hpp"

namespace fabricgate::fabric {
namespace {

constexpr std::uint64_t one_packet = 256;  // bytes that fit every RDMA MTU

/// Which of both: nothing gets through any more, or nothing large does?
Failed explain(Session& session, const VerbsStep& step, VerbsFailure failure) {
  if (failure.cause != "rdma.not_acknowledged" || step.bytes <= one_packet || session.contact()) return failure;
  failure.cause = "pair.mtu_path";
  failure.what += "; small messages pass before and after it";
  return failure;
}

Failed measure(Session& session, const VerbsPlan& plan, VerbsSample& sample) {
  if (auto failed = session.open(sample)) return failed;
  if (auto failed = session.contact()) return failed;
  for (const auto& step : plan.steps) {
    Failed failed = step.latency ? session.latency(step, sample) : session.rate(step, sample);
    if (!failed) continue;
    failed->step = step_text(plan, step);
    return explain(session, step, *failed);
  }
  return std::nullopt;
}

}  // namespace

VerbsSample run_verbs(Rendezvous& rendezvous, const VerbsPath& path, const VerbsPlan& plan, Deadline deadline) {
  VerbsSample sample{.a = path.a, .b = path.b, .rail = path.rail};
  Session session(rendezvous, path, plan, deadline);
  if (auto failed = measure(session, plan, sample)) sample.failure = *failed;
  return sample;
}

}  // namespace fabricgate::fabric
