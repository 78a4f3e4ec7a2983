#include <algorithm>

#include "bootstrap/ssh/transfer.hpp"

namespace fabricgate::bootstrap {

Result<std::vector<TransferOutcome>> upload_to_nodes(const Inventory& inventory, std::vector<UploadJob> jobs,
                                                     Deadline deadline) {
  std::vector<TransferOutcome> outcomes(jobs.size());
  std::vector<NodeJob> talks;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const std::string host = inventory.nodes[jobs[i].node].name;
    auto job = std::make_shared<UploadJob>(std::move(jobs[i]));
    outcomes[i].node = job->node;
    auto at = std::make_shared<std::size_t>(0);
    talks.push_back({job->node, [=, &out = outcomes[i]](const CommandResult* previous) -> std::optional<Command> {
                       if (previous != nullptr) {
                         const Upload& sent = job->files[(*at)++];
                         out.finding = judge_upload(*previous, sent, host);
                         if (out.finding) {
                           out.status = Error{ErrorKind::io, "upload " + sent.path + ": " + out.finding->found, 0};
                           return std::nullopt;
                         }
                         out.bytes += sent.content->size();
                       }
                       if (*at == job->files.size()) return std::nullopt;
                       return upload_command(job->files[*at], std::max(1.0, deadline.left_s()));
                     }});
  }
  const auto sessions = converse(inventory, std::move(talks), deadline);
  if (!sessions) return sessions.error();
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    outcomes[i].total_s = (*sessions)[i].total_s;
    if ((*sessions)[i].status) continue;
    outcomes[i].status = (*sessions)[i].status;
    outcomes[i].finding = (*sessions)[i].finding;
  }
  return outcomes;
}

}  // namespace fabricgate::bootstrap
