#pragma once
/// The inside of run.hpp: what both ends do at the same place, each with its own part.
#include <optional>
#include <string>

#include "fabric/verbs/drive.hpp"
#include "fabric/verbs/endpoint.hpp"
#include "fabric/verbs/run.hpp"

namespace fabricgate::fabric {

class Session {
 public:
  Session(Rendezvous& rendezvous, const VerbsPath& path, const VerbsPlan& plan, Deadline deadline)
      : rendezvous_(rendezvous), path_(path), plan_(plan), deadline_(deadline) {}

  [[nodiscard]] Failed open(VerbsSample& sample);
  /// A few small writes both ways.
  [[nodiscard]] Failed contact();
  [[nodiscard]] Failed rate(const VerbsStep& step, VerbsSample& sample);
  [[nodiscard]] Failed latency(const VerbsStep& step, VerbsSample& sample);

 private:
  /// Which ways data goes in one run.
  struct Ways {
    bool a_to_b = true, b_to_a = true;
  };
  /// What one end says after a run.
  struct Told {
    Failed failure;
    VerbsFlow flow;
    VerbsLatency latency;
    std::uint64_t slots = 0;
  };

  Failed get_ready(const VerbsStep& step, const std::function<Failed()>& fill);
  Failed measure(const VerbsStep& step, Ways ways, VerbsRate& rate);
  Failed run(const VerbsStep& step, Ways ways, Told& mine, Told& theirs);
  /// Swaps; the failure that came first at either end, the same at both.
  Failed agree(Told& mine, Told& theirs);
  Failed agree(Failed mine);
  Failed silent(const Error& error) const;
  std::uint64_t seed(bool of_a) const;
  bool posts(const VerbsStep& step, Ways ways) const;
  bool takes(const VerbsStep& step, Ways ways) const;

  Rendezvous& rendezvous_;
  const VerbsPath& path_;
  const VerbsPlan& plan_;
  const Deadline deadline_;
  Endpoint endpoint_;
  EndInfo peer_;
  std::uint64_t runs_ = 0;
};

}  // namespace fabricgate::fabric
