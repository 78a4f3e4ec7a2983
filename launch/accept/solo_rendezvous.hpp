#pragma once
/// A meeting of one, for a run without a launcher.
#include "fabric/rendezvous.hpp"

namespace fabricgate::launch {

class SoloRendezvous final : public fabric::Rendezvous {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  Result<std::vector<std::optional<std::string>>> gather(const std::string& mine, Deadline) override {
    return std::vector<std::optional<std::string>>{mine};
  }
  Result<std::string> broadcast(const std::string& text, Deadline) override { return text; }
  Result<std::string> exchange(int, int, const std::string&, Deadline) override {
    return Error{ErrorKind::bug, "exchange: alone, there is no peer", 0};
  }
};

}  // namespace fabricgate::launch
