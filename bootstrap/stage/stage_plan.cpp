#include "bootstrap/stage/stage_plan.hpp"

#include <filesystem>

#include "results/file.hpp"

namespace fabricgate::bootstrap {
namespace {

Status load(const std::string& path, const char* what, std::shared_ptr<const std::string>& content,
            std::string& sha256) {
  auto read = read_file(path);
  if (!read) return read.error().with(std::string("local ") + what);
  if (read->empty())
    return Error{ErrorKind::parse, std::string("local ") + what + " " + path + ": the file is empty", 0};
  sha256 = sha256_hex(*read);
  content = std::make_shared<const std::string>(std::move(*read));
  return {};
}

}  // namespace

Result<StagePlan> make_stage_plan(const Inventory& inventory, const StageOptions& options, bool dry_run) {
  StagePlan plan{inventory, options, dry_run, nullptr, nullptr, "", "", false};
  if (auto status = load(options.agent_path, "fabricgate-agent", plan.agent, plan.agent_sha256); !status)
    return status.error();
  if (!options.rank_path.empty())
    if (auto status = load(options.rank_path, "fabricgate-rank", plan.rank, plan.rank_sha256); !status)
      return status.error();
  if (options.run_folder.empty()) return plan;
  std::error_code code;
  std::filesystem::create_directories(options.run_folder + "/journal", code);
  if (code) return error_from_errno("create " + options.run_folder + "/journal", code.value());
  return plan;
}

}  // namespace fabricgate::bootstrap
