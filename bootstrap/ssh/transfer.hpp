#pragma once
/// Files to and from nodes through exec channels (libssh's SFTP cannot be non-blocking). An upload is whole or absent
/// at its final name; a fetched folder is whole or absent here.
#include <cstdint>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bootstrap/command/upload.hpp"
#include "bootstrap/ssh/pool.hpp"

namespace fabricgate::bootstrap {

struct UploadJob {
  std::size_t node = 0;
  std::vector<Upload> files;
};

struct TransferOutcome {
  std::size_t node = 0;
  Status status;
  std::optional<Finding> finding;
  bool present = false;            ///< fetch: the remote folder exists
  std::vector<std::string> files;  ///< fetch: paths relative to the folder, sorted
  std::uint64_t bytes = 0;
  double total_s = 0;
};

/// All files of a job in one session, in order; a failed file ends the job.
Result<std::vector<TransferOutcome>> upload_to_nodes(const Inventory& inventory, std::vector<UploadJob> jobs,
                                                     Deadline deadline);

struct FetchJob {
  std::size_t node = 0;
  std::string remote_folder;                         ///< absolute
  std::string local_folder;                          ///< replaced as a whole when the fetch succeeds
  std::uint64_t max_bytes = std::uint64_t{1} << 30;  ///< of all files; more is an error
};

/// Regular files of the remote folder and its subfolders, streamed to disk. A missing remote folder is no error:
/// `present` is false and nothing local is touched.
Result<std::vector<TransferOutcome>> fetch_from_nodes(const Inventory& inventory, std::vector<FetchJob> jobs,
                                                      Deadline deadline);

/// Reads the framed stream of the fetch command; text before its first frame (login banners) is dropped.
class FetchReader {
 public:
  FetchReader(std::string nonce, std::string folder, std::uint64_t max_bytes);
  Status feed(std::string_view chunk);
  /// True after the end frame.
  bool complete() const { return phase_ == Phase::ended; }
  bool present() const { return present_; }
  const std::vector<std::string>& files() const { return files_; }
  std::uint64_t bytes() const { return bytes_; }

 private:
  enum class Phase { noise, frame, content, gap, ended };

  Status take_line(std::string_view line);
  Status open_file(std::string_view header);
  Status take_content(std::string_view& chunk);

  std::string nonce_, folder_, line_;
  std::uint64_t max_bytes_, bytes_ = 0, left_ = 0;
  Phase phase_ = Phase::noise;
  bool present_ = false;
  std::vector<std::string> files_;
  std::ofstream out_;
};

/// The fetch command for a folder.
Command fetch_command(const std::string& remote_folder, const std::string& nonce, double timeout_s);

}  // namespace fabricgate::bootstrap
