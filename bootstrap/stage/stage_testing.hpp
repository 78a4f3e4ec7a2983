#pragma once
/// Tests only: staging on this machine, with nothing outside a temporary folder that could change.
#include <memory>
#include <string>

#include "bootstrap/stage/stage.hpp"
#include "inventory/host/process.hpp"
#include "inventory/observe/identity.hpp"
#include "results/file.hpp"

namespace fabricgate::bootstrap {

/// A node has the name of its machine.
inline std::string own_name() {
  return short_name(own_host_name());
}

/// The node has this machine's name, its class demands nothing and one step is chosen; a program, spool and run folder
/// are below `folder`.
inline Status stage_within(const std::string& folder, Inventory& inventory, StageOptions& options) {
  NodeClass plain;
  plain.name = "plain";
  plain.manage = {false, false, false, false, false, false};
  inventory.nodes[0].name = own_name();
  inventory.nodes[0].spec = std::make_shared<NodeClass>(plain);
  inventory.launcher.install_dir = folder + "/opt";
  inventory.launcher.spool_dir = folder + "/spool";
  inventory.management = {0x7f000000, 8};
  options.rank_path = folder + "/rank";
  options.run = "test";
  options.run_folder = folder + "/run";
  options.only_steps = {"modules"};
  return write_file_atomic(options.rank_path, "rank program 1", 0755);
}

}  // namespace fabricgate::bootstrap
