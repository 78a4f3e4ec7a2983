#include "bootstrap/ssh/pool.hpp"

namespace fabricgate::bootstrap {

Result<std::vector<Outcome>> run_on_nodes(const Inventory& inventory, std::vector<Job> jobs, Deadline deadline,
                                          const std::function<void(const Outcome&)>& done) {
  std::vector<Outcome> outcomes(jobs.size());
  std::vector<NodeJob> talks;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    auto job = std::make_shared<Job>(std::move(jobs[i]));
    outcomes[i].node = job->node;
    talks.push_back({job->node, [job, &out = outcomes[i]](const CommandResult* previous) -> std::optional<Command> {
                       if (previous != nullptr) {
                         out.result = *previous;
                         return std::nullopt;
                       }
                       return Command{.argv = job->argv,
                                      .input = std::make_shared<const std::string>(std::move(job->stdin_data)),
                                      .timeout_s = job->timeout_s,
                                      .max_output = job->max_output,
                                      .doing = job->doing};
                     }});
  }
  const auto finish = [&](Outcome& out, const SessionOutcome& ended) {
    if (!ended.status) out.result = ended.status.error();
    out.finding = ended.finding;
    out.connect_s = ended.connect_s;
    out.total_s = ended.total_s;
  };
  Watch watch;
  if (done)
    watch.done = [&](const SessionOutcome& ended) {
      Outcome copy;
      for (const Outcome& out : outcomes)
        if (out.node == ended.node) copy = out;
      finish(copy, ended);
      done(copy);
    };
  const auto sessions = converse(inventory, std::move(talks), deadline, watch);
  if (!sessions) return sessions.error();
  for (std::size_t i = 0; i < outcomes.size(); ++i) finish(outcomes[i], (*sessions)[i]);
  return outcomes;
}

}  // namespace fabricgate::bootstrap
