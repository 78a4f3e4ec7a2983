#pragma once
/// A file as one command with standard input, on whatever machine that command runs. It is whole or absent at its final
/// name.
#include <memory>
#include <optional>
#include <string>

#include "bootstrap/command/command.hpp"
#include "results/finding.hpp"

namespace fabricgate::bootstrap {

struct Upload {
  std::shared_ptr<const std::string> content;
  std::string sha256;  ///< of content; see make_upload
  std::string path;    ///< absolute
  unsigned mode = 0644;
};

Upload make_upload(std::shared_ptr<const std::string> content, std::string path, unsigned mode);
/// Reads a local file.
Result<Upload> upload_of_file(const std::string& local, std::string path, unsigned mode);

/// The command that takes the content on standard input: looks at free space, writes path.part.*, checks size and
/// checksum, syncs, renames; makes missing folders (0755). The part file is removed whatever happens short of SIGKILL.
Command upload_command(const Upload& upload, double timeout_s);

/// Nothing for success; else stage.disk_full, stage.upload_truncated, or stage.upload_failed.
std::optional<Finding> judge_upload(const CommandResult& result, const Upload& upload, const std::string& host);

}  // namespace fabricgate::bootstrap
