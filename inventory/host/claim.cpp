#include "inventory/host/claim.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cmath>

#include "inventory/host/process.hpp"
#include "results/clock.hpp"
#include "results/deadline.hpp"
#include "results/file.hpp"

namespace fabricgate {
namespace {

using nlohmann::json;

/// For others that only look, each of which holds the lock for a moment.
constexpr double patience_s = 2;
constexpr useconds_t pause_us = 20000;

/// What the file says: who, and whether the lease counts.
struct Entry {
  Occupant occupant;
  bool leased = false;
  double until_unix_s = 0;
};

Error failed(const char* call, const std::string& path) {
  return error_from_errno(std::string(call) + " " + path, errno);
}

/// Nullopt: nobody's. A line cut short was written by a process that is gone.
std::optional<Entry> read_entry(int fd) {
  std::array<char, 4096> text{};
  const ssize_t length = ::pread(fd, text.data(), text.size(), 0);
  struct stat status {};
  if (length <= 0 || ::fstat(fd, &status) != 0) return std::nullopt;
  const json value = json::parse(text.data(), text.data() + length, nullptr, false);
  const auto occupant = occupant_from_json(value);
  if (!occupant) return std::nullopt;
  const double written =
      static_cast<double>(status.st_mtim.tv_sec) + 1e-9 * static_cast<double>(status.st_mtim.tv_nsec);
  const bool this_boot = value.value("boot_id", "") == own_boot_id();
  // a time ahead of the clock was set before the clock was: it counts no longer than any other
  const bool leased = this_boot && std::abs(unix_now_s() - written) < occupant->lease_s;
  return Entry{*occupant, leased, written + occupant->lease_s};
}

Status write_entry(int fd, const Occupant& occupant, const std::string& path) {
  json value = to_json_value(occupant);
  value["boot_id"] = own_boot_id();
  const std::string line = value.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
  if (::ftruncate(fd, 0) != 0) return failed("truncate", path);
  const ssize_t written = ::pwrite(fd, line.data(), line.size(), 0);
  if (written < 0) return failed("write", path);
  return written == static_cast<ssize_t>(line.size()) ? Status() : error_from_errno("write " + path, ENOSPC);
}

Status make_folder(const std::string& folder) {
  for (std::size_t at = folder.find('/', 1);; at = folder.find('/', at + 1)) {
    const std::string part = folder.substr(0, at);
    if (::mkdir(part.c_str(), 0755) != 0 && errno != EEXIST) return failed("mkdir", part);
    if (at == std::string::npos) return {};
  }
}

Holder holder_of(const Entry& entry, bool working) {
  return {entry.occupant, working, entry.occupant.lease_s > 0 ? entry.until_unix_s : 0};
}

class Attempt {
 public:
  Attempt(int fd, std::string path, const Occupant& occupant, const std::string& ended)
      : fd_(fd), path_(std::move(path)), occupant_(occupant), ended_(ended) {}

  /// True once it is known; then `status` and `other` say what.
  bool decided(bool last) {
    if (::flock(fd_, LOCK_EX | LOCK_NB) == 0) return alone();
    if (errno != EWOULDBLOCK && errno != EINTR) return status = failed("lock", path_), true;
    if (::flock(fd_, LOCK_SH | LOCK_NB) == 0) return beside(last);
    if (last) status = Error{ErrorKind::timeout, "lock " + path_ + ": held by another process", 0};
    return last;
  }

  Status status;
  std::optional<Holder> other;

 private:
  bool counts(const Entry& entry) const { return entry.leased && (ended_.empty() || entry.occupant.run != ended_); }

  /// No process works here.
  bool alone() {
    const auto entry = read_entry(fd_);
    const bool mine = entry && entry->occupant.run == occupant_.run;
    if (entry && !mine && counts(*entry)) return other = holder_of(*entry, false), true;
    Occupant next = mine ? entry->occupant : occupant_;
    next.lease_s = occupant_.lease_s;
    status = write_entry(fd_, next, path_);
    if (!status) return true;
    // the kernel gives up the one lock before it takes the other: somebody may have come between
    if (::flock(fd_, LOCK_SH) != 0) return status = failed("lock", path_), true;
    const auto now = read_entry(fd_);
    return now && now->occupant.run == occupant_.run;
  }

  bool beside(bool last) {
    const auto entry = read_entry(fd_);
    if (entry && entry->occupant.run == occupant_.run) return true;
    ::flock(fd_, LOCK_UN);
    if (entry && (counts(*entry) || last)) return other = holder_of(*entry, true), true;
    if (last) status = Error{ErrorKind::timeout, "lock " + path_ + ": held by a process that does not say its run", 0};
    return last;
  }

  int fd_;
  std::string path_;
  const Occupant& occupant_;
  const std::string& ended_;
};

}  // namespace

json to_json_value(const Occupant& occupant) {
  return {{"run", occupant.run},
          {"head", occupant.head},
          {"head_process", occupant.head_process},
          {"since_unix_s", occupant.since_unix_s},
          {"lease_s", occupant.lease_s}};
}

Result<Occupant> occupant_from_json(const json& value) {
  try {
    Occupant occupant{value.at("run").get<std::string>(), value.at("head").get<std::string>(),
                      value.at("head_process").get<std::string>(), value.at("since_unix_s").get<double>(),
                      value.at("lease_s").get<double>()};
    if (occupant.lease_s >= 0 && occupant.lease_s <= 86400) return occupant;
    return Error{ErrorKind::parse, "occupant: lease_s: expected 0 to 86400", 0};
  } catch (const json::exception& e) {
    return Error{ErrorKind::parse, std::string("occupant: ") + e.what(), e.id};
  }
}

json to_json_value(const Holder& holder) {
  return {
      {"occupant", to_json_value(holder.occupant)}, {"working", holder.working}, {"until_unix_s", holder.until_unix_s}};
}

Result<Holder> holder_from_json(const json& value) {
  try {
    const auto occupant = occupant_from_json(value.at("occupant"));
    if (!occupant) return occupant.error();
    return Holder{*occupant, value.at("working").get<bool>(), value.at("until_unix_s").get<double>()};
  } catch (const json::exception& e) {
    return Error{ErrorKind::parse, std::string("holder: ") + e.what(), e.id};
  }
}

std::string to_string(const Holder& holder) {
  const Occupant& occupant = holder.occupant;
  const std::string who =
      "fabricgate run " + occupant.run + ", led from " + occupant.head + " since " + utc_text(occupant.since_unix_s);
  if (holder.working) return who + ", works on it until that run ends";
  return who + ", has it between two of its jobs; free at " + utc_text(holder.until_unix_s) + " at the latest";
}

Claim::~Claim() {
  ::close(fd_);
}

void Claim::renew() const {
  (void)::futimens(fd_, nullptr);
}

std::string claim_path(const std::string& spool_dir) {
  return spool_dir + "/in-use";
}

Result<Claimed> claim_node(const std::string& spool_dir, const Occupant& occupant, const std::string& ended) {
  const std::string path = claim_path(spool_dir);
  if (auto made = make_folder(spool_dir); !made) return made.error();
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (fd < 0) return failed("open", path);
  auto claim = std::make_unique<Claim>(fd);
  (void)::fchmod(fd, 0666);  // whoever made it: runs of several accounts meet here; the occupant alone may do this
  Attempt attempt(fd, path, occupant, ended);
  for (const Deadline deadline = Deadline::in_seconds(patience_s);;) {
    if (attempt.decided(deadline.passed())) break;
    ::flock(fd, LOCK_UN);
    ::usleep(pause_us);
  }
  if (!attempt.status) return attempt.status.error();
  if (attempt.other) return Claimed{nullptr, attempt.other};
  claim->renew();
  return Claimed{std::move(claim), std::nullopt};
}

}  // namespace fabricgate
