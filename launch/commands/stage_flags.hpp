#pragma once
/// The options that `stage` and `gate` share: how long a node may take, and whether nodes may be rebooted.
#include "bootstrap/stage/stage_plan.hpp"
#include "launch/commands/options.hpp"

namespace fabricgate::launch {

struct StageFlags {
  double node_timeout_s = bootstrap::StageOptions{}.node_timeout_s;
  bootstrap::RebootOptions reboot;
  std::string wave = "10%";  ///< as it was typed
};

inline void add_node_timeout(CLI::App& app, StageFlags& flags) {
  app.add_option("--node-timeout", flags.node_timeout_s, "seconds one node may take, e.g. 3600 to build a driver on it")
      ->check(CLI::Range(1.0, 86400.0))
      ->capture_default_str();
}

inline void add_reboot(CLI::App& app, StageFlags& flags) {
  app.add_flag("--allow-reboot", flags.reboot.allowed, "reboot nodes that wait for it, in waves; never this machine");
  app.add_option("--wave", flags.wave, "so many nodes at once, or a share of those that wait")->capture_default_str();
  app.add_option("--reboot-timeout", flags.reboot.timeout_s, "seconds a node may take to come back")
      ->check(CLI::Range(1.0, 86400.0))
      ->capture_default_str();
}

/// Error (parse) of an option that only a head without ranks can follow.
inline Status need_head(const CLI::App& app, const std::vector<std::string>& names) {
  for (const std::string& name : names)
    if (app.count(name) > 0)
      return Error{ErrorKind::parse, name + " has no meaning inside ranks: run this from the head, without mpirun", 0};
  return {};
}

/// After the options are parsed. Error (parse) of a wave that is none.
inline Status settle(StageFlags& flags) {
  const auto wave = bootstrap::parse_wave(flags.wave);
  if (!wave) return wave.error();
  flags.reboot.wave = *wave;
  return {};
}

}  // namespace fabricgate::launch
