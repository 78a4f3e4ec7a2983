// Staging the node this rank is on: the agent is run here, no SSH and no key is needed.
#include "bootstrap/stage/here.hpp"
#include "launch/accept/parts.hpp"
#include "launch/accept/share.hpp"
#include "launch/interrupt.hpp"
#include "launch/programs.hpp"
#include "results/clock.hpp"
#include "results/file.hpp"

namespace fabricgate::launch {
namespace {

using bootstrap::StageReport;

/// The node as it is when staging cannot even begin.
StageReport not_begun(const Work& work, const std::string& expected, const Error& error) {
  StageReport report;
  bootstrap::NodeReport& node = report.nodes.emplace_back();
  node.node = work.node;
  node.name = work.name();
  node.started_unix_s = unix_now_s();
  node.reason = "stage.agent_failed: " + error.what;
  node.findings = {make_finding("stage.agent_failed", {.host = work.name()}, expected, error.what)};
  return report;
}

StageReport stage(const Work& work, Deadline deadline) {
  const std::string& install_dir = work.setup.inventory.launcher.install_dir;
  const auto agent = node_program("fabricgate-agent", install_dir);
  if (!agent)
    return not_begun(work, "fabricgate-agent beside this program or in " + install_dir + "/bin", agent.error());
  const auto rank = local_program("fabricgate-rank");  // where it is not, the deployed one stays as it is
  const bootstrap::StageOptions options{.agent_path = *agent,
                                        .rank_path = rank ? *rank : "",
                                        .run = work.setup.job.identity.run,
                                        .head = work.setup.job.head,
                                        .run_folder = work.setup.spool(),
                                        .allow_busy = work.setup.job.options.allow_busy,
                                        .node_timeout_s = std::max(1.0, deadline.left_s() - 15),
                                        .stop = interrupted};
  auto report = bootstrap::stage_here(work.setup.inventory, work.node, options, work.host, deadline);
  return report ? std::move(*report) : not_begun(work, "programs to stage with", report.error());
}

}  // namespace

PartResult stage_own_node(Work& work, const nlohmann::json& body, Deadline deadline) {
  PartResult out;
  const auto hosts = body.at("hosts").get<std::vector<std::string>>();
  if (std::find(hosts.begin(), hosts.end(), work.name()) == hosts.end()) return out;
  const StageReport report = stage(work, deadline);
  const auto journal = read_file(work.setup.spool() + "/journal/" + work.name() + ".jsonl");
  out.data = {{"share", to_text(report.nodes)},
              {"agent_sha256", report.agent_sha256},
              {"rank_sha256", report.rank_sha256},
              {"journal", journal ? *journal : ""}};
  return out;
}

}  // namespace fabricgate::launch
