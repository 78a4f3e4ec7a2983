#include "launch/job.hpp"

#include "results/json_text.hpp"

namespace fabricgate::launch {
namespace {

using nlohmann::json;
constexpr int job_schema = 1;

Result<Job> from_json(const json& in) {
  if (whole_from<int>(in, "schema") != job_schema)
    return Error{ErrorKind::parse,
                 "job: schema " + std::to_string(whole_from<int>(in, "schema")) + ", this program reads " +
                     std::to_string(job_schema) + "; stage the nodes again",
                 0};
  Job job;
  job.identity = {.run = in.at("run").get<std::string>(),
                  .inventory = in.at("inventory").get<std::string>(),
                  .build = in.at("build").get<std::string>(),
                  .suite = in.at("suite").get<std::string>()};
  job.name = in.at("name").get<std::string>();
  job.inventory_text = in.at("inventory_text").get<std::string>();
  job.limits_text = in.at("limits_text").get<std::string>();
  job.suite_text = in.at("suite_text").get<std::string>();
  for (const json& value : in.at("tiers")) {
    const auto tier = parse_tier(value.get<std::string>());
    if (!tier) return tier.error().with("job");
    job.tiers.push_back(*tier);
  }
  job.hosts = in.at("hosts").get<std::vector<std::string>>();
  job.finished = in.at("finished").get<std::vector<std::string>>();
  job.options = {.budget_s = in.at("budget_s").get<double>(),
                 .allow_busy = in.at("allow_busy").get<bool>(),
                 .seed = count_from(in, "seed")};
  job.head = in.at("head").get<std::string>();
  job.headless = in.at("headless").get<bool>();
  job.deadline_s = in.at("deadline_s").get<double>();
  return job;
}

}  // namespace

std::string to_text(const Job& job) {
  json tiers = json::array();
  for (Tier tier : job.tiers) tiers.push_back(to_string(tier));
  const json out{{"schema", job_schema},
                 {"run", job.identity.run},
                 {"inventory", job.identity.inventory},
                 {"build", job.identity.build},
                 {"suite", job.identity.suite},
                 {"name", job.name},
                 {"inventory_text", job.inventory_text},
                 {"limits_text", job.limits_text},
                 {"suite_text", job.suite_text},
                 {"tiers", tiers},
                 {"hosts", job.hosts},
                 {"finished", job.finished},
                 {"budget_s", job.options.budget_s},
                 {"allow_busy", job.options.allow_busy},
                 {"seed", job.options.seed},
                 {"head", job.head},
                 {"headless", job.headless},
                 {"deadline_s", job.deadline_s}};
  return out.dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<Job> job_from_text(const std::string& text) {
  try {
    return from_json(json::parse(text));
  } catch (const json::exception& e) {
    return Error{ErrorKind::parse, std::string("job: ") + e.what(), e.id};
  }
}

std::string run_spool(const std::string& spool_dir, const std::string& run) { return spool_dir + "/" + run; }

std::string job_path(const std::string& spool_dir, const std::string& run, const std::string& job) {
  return run_spool(spool_dir, run) + "/job-" + job + ".json";
}

std::string rank_spool(const std::string& spool_dir, const std::string& run, const std::string& host) {
  return run_spool(spool_dir, run) + "/rank-" + host + ".jsonl";
}

std::string records_spool(const std::string& spool_dir, const std::string& run, const std::string& job) {
  return run_spool(spool_dir, run) + "/records-" + job + ".jsonl";
}

std::string process_spool(const std::string& spool_dir, const std::string& run) {
  return run_spool(spool_dir, run) + "/processes.jsonl";
}

}  // namespace fabricgate::launch
