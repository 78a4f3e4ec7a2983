#include "bootstrap/steps/removal.hpp"

#include "bootstrap/steps/all.hpp"

namespace fabricgate::bootstrap {

using nlohmann::json;

json observe_own_files(Host& host, const std::vector<std::string>& paths, const std::vector<CommandLine>& then,
                       const std::string& note) {
  json files = json::array();
  for (const std::string& path : paths)
    if (auto content = host.read(path); content && content->rfind(file_header, 0) == 0) files.push_back(path);
  return {{"files", files}, {"then", then}, {"note", note}};
}

StepPlan plan_removal(const Desired&, const json& observed) {
  StepPlan plan;
  if (observed.at("files").empty()) return plan;
  for (const json& path : observed.at("files")) plan.actions.push_back({shell_line({"rm", path.get<std::string>()})});
  for (const json& command : observed.at("then")) plan.actions.push_back({shell_line(command.get<CommandLine>())});
  if (const std::string note = text_under(observed, "note"); !note.empty()) plan.actions.push_back({"# " + note});
  return plan;
}

Status apply_removal(StepContext& context, const json& observed) {
  if (observed.at("files").empty()) return {};
  for (const json& path : observed.at("files"))
    if (auto status = context.host.remove(path.get<std::string>()); !status) return status;
  for (const json& command : observed.at("then"))
    if (auto status = run_checked(context, command.get<CommandLine>()); !status) return status;
  return {};
}

}  // namespace fabricgate::bootstrap
