#pragma once
/// What the agent does with one request.
#include <functional>

#include "bootstrap/agent/busy.hpp"
#include "bootstrap/agent/protocol.hpp"
#include "bootstrap/steps/step.hpp"
#include "inventory/desired/desired.hpp"

namespace fabricgate::bootstrap {

/// Facts, and for plan and apply the chosen steps in order: observe, plan, apply, and again observe and plan, which
/// must then be empty. A failed step does not stop the later ones: each says what it needs. Only packages and modules,
/// which may bring an interface, are applied while one of a declared rail is absent: the others stay planned, for such
/// a node is not the machine that was declared. A node that another run has (claim.hpp) is never changed, one that is
/// in use otherwise only when allowed. Every step that changes something is written to the journal before and after;
/// what is done is found by looking, never by the journal, so that a killed run goes on where the machine stands. Once
/// `stop` is true no further step is begun and the answer has an error.
AgentAnswer serve(const AgentRequest& request, Host& host, const std::function<bool()>& stop = {});

/// One JSON line per event. An empty path keeps no journal.
class Journal {
 public:
  Journal(std::string path, std::string run) : path_(std::move(path)), run_(std::move(run)) {}
  /// Creates the folder of the journal.
  Status open(Host& host) const;
  Status started(const std::string& step, const std::vector<std::string>& commands) const;
  Status finished(const StepReport& report) const;

 private:
  Status write(nlohmann::json entry) const;

  std::string path_, run_;
};

}  // namespace fabricgate::bootstrap
