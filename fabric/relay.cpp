#include "fabric/relay.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "results/json_text.hpp"

namespace fabricgate::fabric {
namespace {

/// So long an end waits for its own threads before it asks what the peer's have said.
constexpr auto listen = std::chrono::milliseconds(5);

}  // namespace

/// [[lane, text]…] and the lanes that are closed.
std::string Relay::pack() {
  nlohmann::json texts = nlohmann::json::array();
  for (const auto& [lane, said] : out_)
    for (const auto& text : said) texts.push_back({lane, text});
  out_.clear();
  const nlohmann::json bundle = {{"texts", texts}, {"closed", closed_}};
  return bundle.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Status Relay::unpack(const std::string& text) {
  try {
    const auto bundle = nlohmann::json::parse(text);
    for (const auto& said : bundle.at("texts")) in_[said.at(0).get<int>()].push_back(said.at(1).get<std::string>());
    closed_by_peer_ = bundle.at("closed").get<std::set<int>>();
    return {};
  } catch (const nlohmann::json::exception& problem) {
    return Error{ErrorKind::parse, fmt::format("relay: rank {} said something else: {}", peer_, plain_text(problem))};
  }
}

/// `over`: every lane is closed at both ends, which both see in the same swap.
Status Relay::swap(double silence_s, Deadline deadline, bool& over) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, listen, [&] { return !out_.empty() || all_closed(); });
  const bool own_over = all_closed();
  const std::string mine = pack();
  lock.unlock();
  auto theirs = below_.exchange(peer_, tag_, mine, deadline.at_most(silence_s));
  if (!theirs) return theirs.error();
  lock.lock();
  if (auto read = unpack(*theirs); !read) return read;
  changed_.notify_all();
  over = own_over && static_cast<int>(closed_by_peer_.size()) == lanes_;
  return {};
}

Status Relay::carry(double silence_s, Deadline deadline) {
  for (bool over = false; !over;) {
    const Status swapped = swap(silence_s, deadline, over);
    if (swapped) continue;
    const std::lock_guard lock(mutex_);
    broken_ = swapped;
    changed_.notify_all();
    return swapped;
  }
  return {};
}

Result<std::string> Relay::exchange(int lane, const std::string& mine, Deadline deadline) {
  std::unique_lock lock(mutex_);
  out_[lane].push_back(mine);
  changed_.notify_all();
  auto& heard = in_[lane];
  changed_.wait_until(lock, deadline.end(),
                      [&] { return !heard.empty() || !broken_ || closed_by_peer_.count(lane) != 0; });
  if (!heard.empty()) {
    std::string text = std::move(heard.front());
    heard.erase(heard.begin());
    return text;
  }
  if (!broken_) return broken_.error();
  if (closed_by_peer_.count(lane) != 0)
    return Error{ErrorKind::unavailable, fmt::format("exchange: rank {} has ended its part", peer_)};
  return Error{ErrorKind::timeout, fmt::format("exchange: rank {} did not answer in time", peer_)};
}

void Relay::close(int lane) {
  const std::lock_guard lock(mutex_);
  closed_.insert(lane);
  changed_.notify_all();
}

Result<std::vector<std::optional<std::string>>> RelayLane::gather(const std::string&, Deadline) {
  return Error{ErrorKind::bug, "gather over a lane of a relay"};
}

Result<std::string> RelayLane::broadcast(const std::string&, Deadline) {
  return Error{ErrorKind::bug, "broadcast over a lane of a relay"};
}

Result<std::string> RelayLane::exchange(int, int, const std::string& mine, Deadline deadline) {
  return relay_.exchange(lane_, mine, deadline);
}

}  // namespace fabricgate::fabric
