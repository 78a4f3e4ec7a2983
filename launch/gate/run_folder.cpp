#include "launch/gate/run_folder.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <unordered_set>

#include "launch/accept/worker.hpp"
#include "results/file.hpp"
#include "results/json_text.hpp"

namespace fabricgate::launch {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

Status write_copies(const RunFolder& folder, const Setup& setup) {
  const std::string& limits = setup.job.limits_text.empty() ? suites::default_limits_text() : setup.job.limits_text;
  const std::string& suite = setup.job.suite_text.empty() ? suites::default_suite_text() : setup.job.suite_text;
  const json identity{{"run", setup.job.identity.run},
                      {"inventory", setup.job.identity.inventory},
                      {"build", setup.job.identity.build},
                      {"suite", setup.job.identity.suite},
                      {"budget_s", setup.job.options.budget_s},
                      {"suite_sha256", sha256_hex(suite)},
                      {"limits_sha256", sha256_hex(limits)}};
  const std::string identity_text = identity.dump(1) + "\n";
  for (const auto& [name, text] : {std::pair<const char*, const std::string&>{"inventory.yaml", setup.inventory.text},
                                   {"limits.yaml", limits},
                                   {"suite.yaml", suite},
                                   {"identity.json", identity_text}})
    if (auto written = write_file_atomic(folder.file(name), text); !written) return written;
  return {};
}

Error identity_problem(const RunFolder& folder, const std::string& what) {
  return {ErrorKind::parse, folder.file("identity.json") + ": " + what + "; the run wrote one, so the file was changed or cut: take it from a copy of the run folder", 0};
}

/// Error that tells a folder that is none of a run from a run that lacks a file.
Status check_is_run(const RunFolder& folder) {
  std::error_code error;
  if (!fs::is_directory(folder.path(), error)) return Error{ErrorKind::parse, folder.path() + " is no folder; the folder of a run is needed", 0};
  if (fs::exists(folder.file("inventory.yaml"), error) || fs::exists(folder.file("identity.json"), error)) return {};
  const std::string latest = folder.file("latest");
  const std::string advice = fs::exists(latest + "/identity.json", error) ? "; did you mean " + latest + "?" : "";
  return Error{ErrorKind::parse,
               folder.path() + " is no run folder: neither " + folder.file("inventory.yaml") + " nor " + folder.file("identity.json") + " is there" + advice, 0};
}

bool is_record_file(const std::string& name) {
  return name.ends_with(".jsonl") && (name.starts_with("rank-") || name.starts_with("records-"));
}

}  // namespace

void for_each_line(std::string_view text, const std::function<void(std::string_view)>& each) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (!line.empty()) each(line);
  }
}

Result<RunFolder> RunFolder::create(const std::string& runs_dir, const Setup& setup) {
  RunFolder folder(fs::absolute(runs_dir).lexically_normal().string() + "/" + setup.job.identity.run);
  std::error_code error;
  if (fs::exists(folder.path(), error)) return Error{ErrorKind::io, "run folder " + folder.path() + " exists already", 0};
  for (const char* sub : {"/spools", "/jobs"})
    if (auto made = make_spool(folder.path() + sub); !made) return made.error().with("run folder");
  if (auto written = write_copies(folder, setup); !written) return written.error().with("run folder");
  return folder;
}

Result<Setup> RunFolder::load(const std::string& path) {
  const RunFolder folder(path);
  std::error_code error;
  if (fs::exists(folder.file("stage-0.jsonl"), error) && !fs::exists(folder.file("identity.json"), error))
    return Error{ErrorKind::parse, path + " is the folder of a stage, which measures nothing that could be judged; give that of a gate or accept", 0};
  if (auto is_one = check_is_run(folder); !is_one) return is_one.error();
  Job job{.name = "judge"};
  for (auto& [name, text] : {std::pair<const char*, std::string*>{"inventory.yaml", &job.inventory_text},
                             {"limits.yaml", &job.limits_text},
                             {"suite.yaml", &job.suite_text}}) {
    auto read = read_file(folder.file(name));
    if (!read) return read.error().with("run folder");
    *text = std::move(*read);
  }
  auto identity = read_file(folder.file("identity.json"));
  if (!identity) return identity.error().with("run folder");
  std::string suite_sum, limits_sum;
  RunIdentity& own = job.identity;
  const json in = json::parse(*identity, nullptr, false);
  if (in.is_discarded()) return identity_problem(folder, "no JSON");
  for (const auto& [key, text] : {std::pair<const char*, std::string*>{"run", &own.run}, {"inventory", &own.inventory}, {"build", &own.build},
                                  {"suite", &own.suite}, {"suite_sha256", &suite_sum}, {"limits_sha256", &limits_sum}}) {
    const std::string found = text_under(in, key);
    if (found.empty()) return identity_problem(folder, std::string("no text under '") + key + "'");
    *text = found;
  }
  const auto budget = in.find("budget_s");  // absent in folders of older builds
  if (budget != in.end() && !budget->is_number()) return identity_problem(folder, "no number under 'budget_s'");
  if (budget != in.end()) job.options.budget_s = budget->get<double>();
  if (sha256_hex(job.inventory_text) != job.identity.inventory)
    return Error{ErrorKind::parse, folder.file("inventory.yaml") + " is not the inventory of this run (its checksum differs)", 0};
  if (sha256_hex(job.suite_text) != suite_sum)
    return Error{ErrorKind::parse, folder.file("suite.yaml") + " is not the suite of this run (its checksum differs); give another one with --suite", 0};
  if (sha256_hex(job.limits_text) != limits_sum)
    return Error{ErrorKind::parse, folder.file("limits.yaml") + " is not the limits of this run (its checksum differs); give others with --limits", 0};
  return make_setup(std::move(job));
}

std::string RunFolder::first_line(const std::string& name, const char* otherwise) const {
  const auto text = read_file(file(name));
  if (!text) return "";
  const std::string line = text->substr(0, text->find('\n'));
  return line.empty() ? otherwise : line;
}

Status RunFolder::add(const Record& record) const { return append_line(file("head.jsonl"), to_line(record), true); }

Status RunFolder::add(const Finding& finding) const {
  return append_line(file("findings.jsonl"), to_json_value(finding).dump(-1, ' ', false, json::error_handler_t::replace), true);
}

std::vector<Finding> RunFolder::findings() const {
  std::vector<Finding> out;
  std::error_code error;
  if (!fs::exists(file("findings.jsonl"), error)) return out;
  const auto spoilt = [&](const std::string& why) { out.push_back(make_finding("gate.record_unreadable", {.file = "findings.jsonl"}, "findings of the run", why)); };
  const auto text = read_file(file("findings.jsonl"));
  if (!text) spoilt(text.error().what);
  for_each_line(text ? *text : "", [&](std::string_view line) {
    auto finding = finding_from_json(json::parse(line, nullptr, false));
    finding ? out.push_back(std::move(*finding)) : spoilt(finding.error().what);
  });
  return out;
}

std::vector<suites::RecordFile> RunFolder::record_files() const {
  std::vector<std::string> paths;
  std::error_code error;
  if (fs::exists(file("head.jsonl"), error)) paths.push_back(file("head.jsonl"));
  for (fs::recursive_directory_iterator i(file("spools"), error), end; !error && i != end; i.increment(error))
    if (i->is_regular_file(error) && is_record_file(i->path().filename().string())) paths.push_back(i->path().string());
  std::error_code ignored;
  const bool listed = !error || !fs::exists(fs::symlink_status(file("spools"), ignored));
  std::sort(paths.begin(), paths.end());
  std::vector<suites::RecordFile> out;
  if (!listed) out.push_back({"spools", "this folder could not be read: " + error.message() + "\n"});
  for (const std::string& path : paths) {
    auto text = read_file(path);
    out.push_back({path.substr(path_.size() + 1), text ? std::move(*text) : "this file could not be read: " + text.error().what + "\n"});
  }
  return out;
}

Status point_latest(const std::string& runs, const std::string& run) {
  const std::string link = runs + "/latest", fresh = link + "." + std::to_string(::getpid());
  std::error_code error, ignored;
  if (fs::is_directory(fs::symlink_status(link, error)))
    return Error{ErrorKind::io, link + " is a folder and stays as it is, so that it does not name this run, " + run + "; move it away", 0};
  fs::create_symlink(run, fresh, error);
  if (!error) fs::rename(fresh, link, error);
  if (!error) return {};
  fs::remove(fresh, ignored);
  return error_from_errno("link " + link + " to " + run, error.value());
}

Status RunFolder::write_records() const {
  const auto files = record_files();
  std::unordered_set<std::string_view> seen;
  std::string out;
  for (const suites::RecordFile& record_file : files) {
    for_each_line(record_file.text, [&](std::string_view line) {
      if (seen.insert(line).second) out.append(line).push_back('\n');
    });
  }
  return write_file_atomic(file("records.jsonl"), out);
}

}  // namespace fabricgate::launch
