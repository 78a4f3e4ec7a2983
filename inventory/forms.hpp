#pragma once
/// The shapes of the texts an inventory may hold. They end up in remote commands and files, so each is as narrow as use
/// allows.
#include "inventory/yaml_reader.hpp"

namespace fabricgate::forms {

extern const Form cluster_name, domain, user, jump, local_path, remote_dir, ports;
extern const Form host_name, node_name, hosts, rack, suite;
extern const Form label, netdev, device, pci, glob, package, sysctl_key, sysctl_value, module, version, sha256, url, flag;
extern const Form context, name_space, release, hook;

}  // namespace fabricgate::forms
