#include "launch/accept/reach_pass.hpp"

#include <algorithm>

#include "launch/accept/pair_plan.hpp"
#include "results/clock.hpp"
#include "results/log.hpp"

namespace fabricgate::launch {
namespace {

using nlohmann::json;

/// Peers each node asks in one order; bounds the size of an answer.
constexpr std::size_t rounds_at_once = 32;
constexpr double reach_s = 20;

}  // namespace

void ReachPass::run(const fabric::Schedule& schedule) {
  for (std::size_t first = 0; first < schedule.rounds.size() && !c_.over(); first += rounds_at_once) {
    Rounds rounds;
    for (std::size_t i = first; i < std::min(first + rounds_at_once, schedule.rounds.size()); ++i) {
      rounds.emplace_back();
      for (const auto& pair : schedule.rounds[i])
        if (!c_.is_finished(pair_key("pair.reach", hosts_[pair.a], hosts_[pair.b], "")))
          rounds.back().push_back({hosts_[pair.a], hosts_[pair.b]});
    }
    measure(rounds);
  }
}

void ReachPass::measure(const Rounds& rounds) {
  const double started = unix_now_s();
  ReachSamples samples;
  if (std::all_of(rounds.begin(), rounds.end(), [](const auto& round) { return round.empty(); })) return;
  ask(rounds, samples);
  if (c_.over()) return;
  const std::uint32_t frames = first_frames(c_.setup().inventory);
  count(first_trains(rounds, samples, frames), false, samples);
  if (c_.over()) return;
  count(longer_trains(hosts_, samples, frames), true, samples);
  if (c_.over()) return;
  for (const auto& [pair, sample] : samples)
    c_.add({.check = "pair.reach",
            .hosts = {pair.first, pair.second},
            .sample = to_json_value(sample),
            .started_unix_s = started,
            .elapsed_s = unix_now_s() - started});
}

void ReachPass::ask(const Rounds& rounds, ReachSamples& samples) {
  json pairs = json::array();
  for (const auto& round : rounds)
    for (const auto& [a, b] : round) {
      samples[{a, b}] = {.a = a, .b = b, .answers = {}};
      pairs.push_back({a, b});
    }
  for (const auto& reply : c_.ask("reach", {{"pairs", std::move(pairs)}}, reach_s)) {
    if (!reply || !reply->data.is_object()) continue;
    auto sample = fabric::reach_sample_from_json(reply->data);
    if (!sample) continue;
    for (fabric::ReachAnswer& answer : sample->answers) {
      auto at = samples.find({answer.from, answer.to});
      if (at == samples.end()) at = samples.find({answer.to, answer.from});
      if (at == samples.end()) continue;
      note_silence(answer);
      at->second.answers.push_back(std::move(answer));
    }
  }
}

void ReachPass::count(const FrameOrder& order, bool longer, ReachSamples& samples) {
  if (order.rounds.empty()) return;
  std::map<std::string, std::vector<fabric::TrainHalf>> halves;
  const auto replies = c_.ask("frames", to_json_value(order), frame_seconds(order, c_.setup().inventory));
  for (const std::string& host : hosts_) {
    const int rank = c_.rank_of(host);
    if (rank < 0 || static_cast<std::size_t>(rank) >= replies.size() || !replies[static_cast<std::size_t>(rank)])
      continue;
    try {
      halves[host] = halves_from(replies[static_cast<std::size_t>(rank)]->data);
    } catch (const json::exception& problem) {
      log::error(host + ": counted frames: " + problem.what());
    }
  }
  merge_halves(order, halves, longer, samples);
}

void ReachPass::note_silence(const fabric::ReachAnswer& answer) {
  if (answer.from_rail != answer.to_rail || !answer.macs.empty() || !answer.error.empty()) return;
  silent_.insert({std::min(answer.from, answer.to), std::max(answer.from, answer.to), answer.from_rail});
}

bool ReachPass::is_silent(const std::string& a, const std::string& b, const std::string& rail) const {
  return silent_.count({std::min(a, b), std::max(a, b), rail}) > 0;
}

}  // namespace fabricgate::launch
