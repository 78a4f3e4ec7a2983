#pragma once
/// The conversation with one node: look, upload the agent where it is missing, ask or tell it, deploy, tidy up.
/// Who carries it is not its business: SSH (stage.hpp) or a process on the node itself (here.hpp).
#include <memory>
#include <string>

#include "bootstrap/command/upload.hpp"
#include "bootstrap/stage/look.hpp"
#include "bootstrap/stage/report.hpp"
#include "bootstrap/stage/stage_plan.hpp"

namespace fabricgate::bootstrap {

/// How the conversation with a node ended.
struct Ended {
  Status status = {};                   ///< why it did not run to its end
  std::optional<Finding> finding = {};  ///< set when the node could not be reached, logged into, or was lost
  bool interrupted = false;             ///< StageOptions::stop ended it, or it was not begun for that reason
};

class NodeStage {
 public:
  NodeStage(const StagePlan& plan, NodeReport& report);

  std::optional<Command> next(const CommandResult* previous);
  /// After the session: the report gets its state and reason.
  void conclude(const Ended& session);

 private:
  enum class Phase { look, upload_agent, upload_rank, link, facts_again, clean, done };

  std::optional<Command> after(const CommandResult& previous);
  std::optional<Command> ask(AgentOp op);
  AgentOp task() const;
  /// The agent goes where nothing of it stays.
  bool leaves_nothing() const { return plan_.dry_run || plan_.options.undo; }
  std::optional<Command> after_look(const CommandResult& result);
  std::optional<Command> take_answer(const CommandResult& result);
  std::optional<Command> deploy();
  std::optional<Command> finish();
  std::optional<Command> upload(const std::shared_ptr<const std::string>& content, const std::string& sha256,
                                const std::string& path);
  void plan_deploy();
  Occupant occupant() const;
  std::optional<Command> refuse_foreign(const Holder& holder);
  bool refuse_busy();
  bool stopping() const { return plan_.options.stop && plan_.options.stop(); }
  void explain(const Ended& session);
  NodeState state_after(const Ended& session) const;
  void add(Finding finding);
  bool fault(Finding finding);
  void fail_agent(const std::string& found);
  void journal(const nlohmann::json& entry) const;

  bool has(StepState state) const;

  const StagePlan& plan_;
  NodeReport& report_;
  std::string nonce_;
  Places places_;
  Phase phase_ = Phase::look;
  std::string output_, ended_run_;
  double asked_unix_s_ = 0, heard_unix_s_ = 0;
  Look look_;
  bool uploaded_agent_ = false, spare_ = false, stopped_ = false, interrupted_ = false, begun_ = false;
  StepReport deploy_;
};

}  // namespace fabricgate::bootstrap
