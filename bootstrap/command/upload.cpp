#include "bootstrap/command/upload.hpp"

#include <fmt/format.h>

#include "results/file.hpp"

namespace fabricgate::bootstrap {
namespace {

constexpr int exit_disk_full = 90, exit_truncated = 91, exit_no_folder = 92, exit_rename = 93;

/// $1 path $2 size $3 sha256 $4 mode. POSIX sh; sync FILE is GNU's fsync, plain sync serves where it is not.
constexpr const char* script = R"sh(set -u; export LC_ALL=C; umask 022
path=$1 size=$2 sum=$3 mode=$4; dir=${path%/*}; part=$path.part.$$
free_bytes() { k=$(df -Pk "$dir" | sed -n '$s/.* \([0-9][0-9]*\)  *[0-9][0-9]*% .*/\1/p'); echo $(( ${k:-0} * 1024 )); }
mkdir -p "$dir" || { echo "fabricgate: no folder" >&2; exit 92; }
free=$(free_bytes)
[ "$free" -ge "$size" ] || { echo "fabricgate: $free bytes free in $dir" >&2; exit 90; }
trap 'rm -f "$part"' EXIT; trap 'exit 91' HUP INT TERM PIPE
umask 077
cat > "$part" || { [ "$(free_bytes)" -ge 65536 ] || { echo "fabricgate: $dir filled up" >&2; exit 90; }; }
got=$(wc -c < "$part"); got=$((got))
[ "$got" -eq "$size" ] || { echo "fabricgate: $got bytes arrived" >&2; exit 91; }
found=$(sha256sum < "$part"); found=${found%% *}
[ "$found" = "$sum" ] || { echo "fabricgate: sha256 $found" >&2; exit 91; }
chmod "$mode" "$part" && { sync "$part" 2>/dev/null || sync; } && mv -f "$part" "$path" || exit 93
)sh";

/// The last "fabricgate: …" line, else the last line of standard error.
std::string said(const std::string& err) {
  std::string text = err;
  while (!text.empty() && text.back() == '\n') text.pop_back();
  if (const auto at = text.rfind("fabricgate: "); at != std::string::npos) text = text.substr(at + 12);
  return text.substr(text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n') + 1);
}

/// What mkdir, chmod or mv said of it.
std::string first_line(const std::string& err) { return err.substr(0, err.find('\n')); }

}  // namespace

Upload make_upload(std::shared_ptr<const std::string> content, std::string path, unsigned mode) {
  std::string sum = sha256_hex(*content);
  return {std::move(content), std::move(sum), std::move(path), mode};
}

Result<Upload> upload_of_file(const std::string& local, std::string path, unsigned mode) {
  auto content = read_file(local);
  if (!content) return content.error();
  return make_upload(std::make_shared<const std::string>(std::move(*content)), std::move(path), mode);
}

Command upload_command(const Upload& upload, double timeout_s) {
  return Command{.argv = {"/bin/sh", "-c", script, "upload", upload.path, std::to_string(upload.content->size()),
                          upload.sha256, fmt::format("{:04o}", upload.mode)},
                 .input = upload.content,
                 .timeout_s = timeout_s,
                 .max_output = 65536,
                 .doing = "uploading " + upload.path};
}

std::optional<Finding> judge_upload(const CommandResult& result, const Upload& upload, const std::string& host) {
  if (result.exit_code == 0) return std::nullopt;
  const std::string expected = fmt::format("{} bytes, sha256 {}", upload.content->size(), upload.sha256);
  const Subject subject{.host = host, .file = upload.path};
  switch (result.exit_code) {
    case exit_disk_full:
      return make_finding("stage.disk_full", subject, fmt::format("{} bytes free", upload.content->size()),
                          said(result.err));
    case exit_truncated:
      return make_finding("stage.upload_truncated", subject, expected, said(result.err));
    case exit_no_folder:
      return make_finding("stage.upload_failed", subject, expected, "its folder cannot be made: " + first_line(result.err));
    case exit_rename:
      return make_finding("stage.upload_failed", subject, expected, "it cannot be put in place: " + first_line(result.err));
    default:
      return make_finding("stage.upload_failed", subject, expected,
                          fmt::format("exit code {}: {}", result.exit_code,
                                      result.err.empty() ? "and nothing was said, as by a login shell that runs no commands" : said(result.err)));
  }
}

}  // namespace fabricgate::bootstrap
