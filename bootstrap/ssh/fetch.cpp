#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "bootstrap/ssh/transfer.hpp"

namespace fabricgate::bootstrap {
namespace {

namespace fs = std::filesystem;

/// $1 folder $2 nonce. Sizes are taken first, so that a file that grows meanwhile is cut, not torn. Names with a line
/// end are left out: nothing of ours has one.
constexpr const char* script = R"sh(export LC_ALL=C
cd "$1" 2>/dev/null || { [ -e "$1" ] && exit 96; printf '\n%s none\n' "$2"; exit 0; }
printf '\n%s begin\n' "$2"
find . -type f ! -name '*
*' ! -name '*.part.*' -exec sh -c 'n=$1; shift; for f do s=$(wc -c < "$f") || continue
  printf "%s file %d %s\n" "$n" "$s" "$f"; head -c "$s" "$f"; printf "\n"; done' fetch "$2" {} +
printf '%s end\n' "$2"
)sh";

constexpr std::size_t longest_line = 8192;

Error wrong(const std::string& what) {
  return {ErrorKind::parse, "fetch: " + what, 0};
}

/// Relative, and without a component that leads out of the folder.
bool safe(const fs::path& path) {
  return !path.empty() && path.is_relative() &&
         std::none_of(path.begin(), path.end(), [](const fs::path& part) { return part == ".."; });
}

/// Puts the finished folder in place of the old one.
Status replace_folder(const std::string& made, const std::string& target) {
  std::error_code code;
  const std::string old = target + ".old-" + std::to_string(::getpid());
  if (fs::exists(target, code)) fs::rename(target, old, code);
  if (!code) fs::rename(made, target, code);
  if (code) return error_from_errno("rename " + made + " to " + target, code.value());
  fs::remove_all(old, code);
  return {};
}

struct Fetching {
  FetchJob job;
  std::string nonce = make_nonce();
  std::string part;
  std::unique_ptr<FetchReader> reader;
  CommandResult result;
};

std::shared_ptr<Fetching> prepare(FetchJob job) {
  auto fetching = std::make_shared<Fetching>();
  fetching->job = std::move(job);
  fetching->part = fetching->job.local_folder + ".part-" + std::to_string(::getpid());
  std::error_code code;
  fs::remove_all(fetching->part, code);
  fetching->reader = std::make_unique<FetchReader>(fetching->nonce, fetching->part, fetching->job.max_bytes);
  return fetching;
}

Status conclude(Fetching& fetching) {
  const std::string where = "fetch " + fetching.job.remote_folder + ": ";
  if (fetching.result.exit_code != 0)
    return Error{ErrorKind::io,
                 where + "exit code " + std::to_string(fetching.result.exit_code) + ": " + fetching.result.err, 0};
  if (!fetching.reader->complete()) return wrong(fetching.job.remote_folder + ": the answer ends early");
  if (!fetching.reader->present()) return {};
  std::error_code code;
  fs::create_directories(fetching.part, code);
  if (code) return error_from_errno("create " + fetching.part, code.value());
  return replace_folder(fetching.part, fetching.job.local_folder);
}

}  // namespace

Command fetch_command(const std::string& remote_folder, const std::string& nonce, double timeout_s) {
  return Command{.argv = {"/bin/sh", "-c", script, "fetch", remote_folder, nonce},
                 .timeout_s = timeout_s,
                 .max_output = 65536,
                 .doing = "fetching " + remote_folder};
}

FetchReader::FetchReader(std::string nonce, std::string folder, std::uint64_t max_bytes)
    : nonce_(std::move(nonce)), folder_(std::move(folder)), max_bytes_(max_bytes) {}

Status FetchReader::feed(std::string_view chunk) {
  while (!chunk.empty()) {
    if (phase_ == Phase::content) {
      if (auto status = take_content(chunk); !status) return status;
      continue;
    }
    const auto end = chunk.find('\n');
    line_.append(chunk.substr(0, end));
    if (line_.size() > longest_line) {
      if (phase_ != Phase::noise) return wrong("a frame of more than " + std::to_string(longest_line) + " bytes");
      line_.erase(0, line_.size() - nonce_.size());
    }
    if (end == std::string_view::npos) return {};
    chunk.remove_prefix(end + 1);
    const std::string line = std::exchange(line_, {});
    if (auto status = take_line(line); !status) return status;
  }
  return {};
}

Status FetchReader::take_line(std::string_view line) {
  const bool framed = line.substr(0, nonce_.size()) == nonce_ && line.size() > nonce_.size();
  const std::string_view word = framed ? line.substr(nonce_.size() + 1) : std::string_view();
  switch (phase_) {
    case Phase::noise:
      if (word == "begin" || word == "none") {
        present_ = word == "begin";
        phase_ = present_ ? Phase::frame : Phase::ended;
      }
      return {};
    case Phase::frame:
      if (word == "end") {
        phase_ = Phase::ended;
        return {};
      }
      if (word.substr(0, 5) == "file ") return open_file(word.substr(5));
      return wrong("expected a frame, found '" + std::string(line.substr(0, 80)) +
                   "': a file changed while it was read");
    case Phase::gap:
      if (!line.empty()) return wrong("file " + files_.back() + " changed while it was read");
      phase_ = Phase::frame;
      return {};
    case Phase::content:
    case Phase::ended:
      return {};
  }
  return {};
}

Status FetchReader::open_file(std::string_view header) {
  const auto [stop, code] = std::from_chars(header.data(), header.data() + header.size(), left_);
  const auto size_length = static_cast<std::size_t>(stop - header.data());
  if (code != std::errc{} || size_length + 1 >= header.size())
    return wrong("malformed frame '" + std::string(header) + "'");
  const fs::path name = fs::path(std::string(header.substr(size_length + 1))).lexically_normal();
  if (!safe(name)) return wrong("the node names a file outside the folder: '" + name.string() + "'");
  if (left_ > max_bytes_ - bytes_)
    return wrong("more than " + std::to_string(max_bytes_) + " bytes, at file " + name.string());
  const fs::path target = fs::path(folder_) / name;
  std::error_code made;
  fs::create_directories(target.parent_path(), made);
  out_ = std::ofstream(target, std::ios::binary | std::ios::trunc);
  if (!out_) return error_from_errno("open " + target.string(), errno);
  files_.push_back(name.string());
  phase_ = left_ > 0 ? Phase::content : Phase::gap;
  return {};
}

Status FetchReader::take_content(std::string_view& chunk) {
  const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(left_, chunk.size()));
  out_.write(chunk.data(), static_cast<std::streamsize>(size));
  chunk.remove_prefix(size);
  left_ -= size;
  bytes_ += size;
  if (left_ == 0) {
    out_.close();
    phase_ = Phase::gap;
  }
  if (!out_) return error_from_errno("write " + folder_ + "/" + files_.back(), errno);
  return {};
}

Result<std::vector<TransferOutcome>> fetch_from_nodes(const Inventory& inventory, std::vector<FetchJob> jobs,
                                                      Deadline deadline) {
  std::vector<std::shared_ptr<Fetching>> fetches;
  std::vector<NodeJob> talks;
  for (FetchJob& job : jobs) {
    const auto fetching = prepare(std::move(job));
    fetches.push_back(fetching);
    talks.push_back(
        {fetching->job.node, [=](const CommandResult* previous) -> std::optional<Command> {
           if (previous != nullptr) {
             fetching->result = *previous;
             return std::nullopt;
           }
           Command command =
               fetch_command(fetching->job.remote_folder, fetching->nonce, std::max(1.0, deadline.left_s()));
           command.sink = [reader = fetching->reader.get()](std::string_view chunk) { return reader->feed(chunk); };
           return command;
         }});
  }
  const auto sessions = converse(inventory, std::move(talks), deadline);
  if (!sessions) return sessions.error();
  std::vector<TransferOutcome> outcomes(fetches.size());
  for (std::size_t i = 0; i < fetches.size(); ++i) {
    const SessionOutcome& session = (*sessions)[i];
    outcomes[i] = {session.node,   session.status, session.finding, fetches[i]->reader->present(), {}, 0,
                   session.total_s};
    if (session.status) outcomes[i].status = conclude(*fetches[i]);
    if (outcomes[i].status) {
      outcomes[i].files = fetches[i]->reader->files();
      std::sort(outcomes[i].files.begin(), outcomes[i].files.end());
      outcomes[i].bytes = fetches[i]->reader->bytes();
    }
    std::error_code code;
    fs::remove_all(fetches[i]->part, code);
  }
  return outcomes;
}

}  // namespace fabricgate::bootstrap
