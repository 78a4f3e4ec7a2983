// The pair tier, in passes: who answers whom at all, and are frames lost (no bandwidth yet); every pair over all its rails, in rounds of
// disjoint pairs, and with each round's rails RDMA over those that declare it and the plain TCP baseline; suspects again, alone and with
// known-good partners; what was good alone once more in its round. The last two are repeated for what only they found slow.
#include <algorithm>
#include <set>

#include "fabric/pairs/retest.hpp"
#include "fabric/round/merge.hpp"
#include "launch/accept/coordinator.hpp"
#include "launch/accept/pair_plan.hpp"
#include "launch/accept/reach_pass.hpp"
#include "results/clock.hpp"
#include "suites/gate/exhibit.hpp"

namespace fabricgate::launch {
namespace {

using nlohmann::json;
using fabric::PairTask;

constexpr int settling_passes = 3 + fabric::settling_good;  // each asks for one more measurement alone where these disagree
constexpr std::size_t loaded_rounds = 16;  // bound on the time spent, in each pass

class PairTier {
 public:
  explicit PairTier(Coordinator& c) : c_(c), hosts_(c.hosts()), timing_(timing_of(inventory())), reach_(c, hosts_) {
    schedule_ = plan_pairs(inventory(), hosts_, c.setup().job.options.budget_s, timing_);
  }

  void run() {
    total_ = static_cast<int>(schedule_.rounds.size());
    show();
    reach_.run(schedule_);
    for (const fabric::PairRound& round : schedule_.rounds) {
      if (c_.over()) return;
      measure(tasks_of(round, false), 0);
      ++done_;
      show();
    }
    for (int pass = 0; pass < settling_passes && !c_.over(); ++pass) {
      Seen seen = look();
      const bool over_tcp = retest(seen.tcp);
      if (over_tcp) seen = look();
      const bool over_rdma = retest(seen.rdma);
      if (over_rdma) seen = look();
      if (!repeat_loaded(seen) && !over_tcp && !over_rdma) break;
    }
  }

 private:
  /// What the records say so far, over TCP and over RDMA. All of them are read and judged for it.
  struct Seen {
    fabric::Observation tcp, rdma;
  };

  const Inventory& inventory() const { return c_.setup().inventory; }
  void show() {
    const double each = pair_tier_seconds(inventory(), 2, 0, timing_);
    c_.show({.tier = "pair", .done = done_, .total = total_, .left_s = each * (total_ - done_)});
  }

  /// What is finished is left out, unless it is to be measured `again`, and then without the baseline.
  std::vector<PairTask> tasks_of(const fabric::PairRound& round, bool again) {
    std::vector<PairTask> tasks;
    for (const auto& pair : round) {
      const std::string &a = hosts_[pair.a], &b = hosts_[pair.b];
      PairTask task = pair_task(inventory(), a, b, {});
      task.rails.erase(std::remove_if(task.rails.begin(), task.rails.end(),
                                      [&](const fabric::RailEnds& rail) { return !again && c_.is_finished(pair_key("pair.rail", a, b, rail.name)); }),
                       task.rails.end());
      task.overlay = !again && !c_.is_finished(pair_key("pair.overlay", a, b, ""));
      drop_silent(task);
      if (!task.rails.empty() || task.overlay) tasks.push_back(std::move(task));
    }
    return tasks;
  }

  /// Records what need not be tried, and takes it out of the task.
  void drop_silent(PairTask& task) {
    for (auto rail = task.rails.begin(); rail != task.rails.end();) {
      if (!reach_.is_silent(task.a, task.b, rail->name)) {
        ++rail;
        continue;
      }
      fabric::PairSample sample{.a = task.a, .b = task.b, .rail = rail->name, .engine = "ucx-tcp"};
      sample.error = "nobody answers ARP on this rail; not streamed over";
      sample.rdma_skipped = rdma_skipped(task, *rail);
      if (rail->has_rdma()) {
        fabric::VerbsSample rdma{.a = task.a, .b = task.b, .rail = rail->name};
        rdma.failure = {.host = task.a, .cause = "pair.unreachable", .what = sample.error};
        add(rdma, 0, unix_now_s());
      }
      add(sample, 0, unix_now_s());
      rail = task.rails.erase(rail);
    }
  }

  void add(const fabric::PairSample& sample, int attempt, double started) {
    c_.add({.check = sample.rail.empty() ? "pair.overlay" : "pair.rail",
            .hosts = {sample.a, sample.b},
            .rail = sample.rail,
            .attempt = attempt,
            .sample = to_json_value(sample),
            .started_unix_s = started,
            .elapsed_s = unix_now_s() - started});
  }

  /// Before pair.rail of the same rail, by which what a job has finished is known: one that ended between the two left
  /// a record, and no second one of the same attempt may come.
  void add(const fabric::VerbsSample& sample, int attempt, double started) {
    if (attempt == 0 && c_.is_finished(pair_key("pair.rdma", sample.a, sample.b, sample.rail))) return;
    c_.add({.check = "pair.rdma",
            .hosts = {sample.a, sample.b},
            .rail = sample.rail,
            .attempt = attempt,
            .sample = to_json_value(sample),
            .started_unix_s = started,
            .elapsed_s = unix_now_s() - started});
  }

  void measure(std::vector<PairTask> tasks, int attempt) {
    if (tasks.empty()) return;
    fabric::RoundOrder order{.tasks = std::move(tasks),
                             .seconds = timing_.seconds,
                             .both_seconds = timing_.both_seconds,
                             .rdma_round_trips = timing_.rdma_round_trips,
                             .overlay_seconds = timing_.overlay_seconds};
    for (PairTask& task : order.tasks) {
      task.a_rank = c_.rank_of(task.a);
      task.b_rank = c_.rank_of(task.b);
    }
    order.deadline_s = 2 * fabric::expected_seconds(order) + 2 * (order.connect_s + order.stall_s);
    const double started = unix_now_s();
    const auto replies = c_.ask("pairs", to_json_value(order), order.deadline_s);
    if (c_.over()) return;  // what a broken round says about the fabric is not to be trusted
    std::vector<std::optional<std::string>> halves;
    for (const auto& reply : replies)
      halves.push_back(reply && reply->data.is_string() ? std::optional<std::string>(reply->data.get<std::string>()) : std::nullopt);
    const fabric::RoundSamples samples = fabric::merge_round(order, halves);
    for (const fabric::VerbsSample& sample : samples.rdma) add(sample, attempt, started);
    for (const fabric::PairSample& sample : samples.pairs) add(sample, attempt, started);
  }

  /// Rounds are planned from the evidence of this job alone, which has every pair unless it was started again. Says whether there were any.
  bool retest(const fabric::Observation& observation) {
    const fabric::RetestPlan plan = fabric::plan_retests(observation);
    total_ += static_cast<int>(plan.rounds.size());
    bool any = false;
    for (const fabric::RetestRound& round : plan.rounds) {
      if (c_.over()) break;
      std::vector<PairTask> tasks;
      for (const fabric::Retest& retest : round) {
        const std::string &a = observation.nodes[retest.a], &b = observation.nodes[retest.b], &rail = observation.rails[retest.rail];
        if (c_.rank_of(a) < 0 || c_.rank_of(b) < 0 || reach_.is_silent(a, b, rail)) continue;
        PairTask task = pair_task(inventory(), a, b, {});
        task.rails.erase(std::remove_if(task.rails.begin(), task.rails.end(), [&](const auto& ends) { return ends.name != rail; }),
                         task.rails.end());
        task.mode = retest.mode;
        if (!task.rails.empty()) tasks.push_back(std::move(task));
      }
      any = any || !tasks.empty();
      measure(std::move(tasks), ++attempt_);
      ++done_;
      show();
    }
    return any;
  }

  /// Whole rounds, since it is the others of the round that may have made a pair slow. Says whether there were any.
  bool repeat_loaded(const Seen& seen) {
    std::set<std::pair<std::string, std::string>> wanted;
    for (const fabric::Observation* observation : {&seen.tcp, &seen.rdma})
      for (const fabric::NodePair& pair : fabric::plan_loaded(*observation)) {
        wanted.insert({observation->nodes[pair.a], observation->nodes[pair.b]});
        wanted.insert({observation->nodes[pair.b], observation->nodes[pair.a]});
      }
    std::vector<const fabric::PairRound*> rounds;
    for (const fabric::PairRound& round : schedule_.rounds)
      if (std::any_of(round.begin(), round.end(), [&](const auto& pair) { return wanted.count({hosts_[pair.a], hosts_[pair.b]}) != 0; }))
        rounds.push_back(&round);
    rounds.resize(std::min(rounds.size(), loaded_rounds));
    total_ += static_cast<int>(rounds.size());
    for (const fabric::PairRound* round : rounds) {
      if (c_.over()) break;
      measure(tasks_of(*round, true), ++attempt_);
      ++done_;
      show();
    }
    return !rounds.empty();
  }

  Seen look() const {
    const Setup& setup = c_.setup();
    const suites::GateInput input{.inventory = setup.inventory, .suite = setup.suite, .limits = setup.limits, .identity = setup.job.identity};
    const auto records = suites::read_exhibits(input, {{"records", c_.record_lines()}}).records;
    return {.tcp = suites::pair_observation(input, records), .rdma = suites::rdma_observation(input, records)};
  }

  Coordinator& c_;
  std::vector<std::string> hosts_;
  PairTiming timing_;
  fabric::Schedule schedule_;
  ReachPass reach_;
  int done_ = 0, total_ = 0, attempt_ = 0;
};

}  // namespace

void run_pair_tier(Coordinator& c) {
  if (c.hosts().size() >= 2) PairTier(c).run();
}

}  // namespace fabricgate::launch
