#include <algorithm>

#include "bootstrap/steps/virtual_functions.hpp"
#include "inventory/observe/rdma_text.hpp"

namespace fabricgate::bootstrap {
namespace {

/// "02:00:5e:…" and "0200:5e00:…" are one.
std::string digits(std::string text) {
  text.erase(std::remove(text.begin(), text.end(), ':'), text.end());
  return text;
}

bool same(const std::string& a, const std::string& b) {
  return digits(a) == digits(b);
}

const char* ip_word(LinkPolicy policy) {
  return policy == LinkPolicy::follow ? "auto" : policy == LinkPolicy::up ? "enable" : "disable";
}

const char* file_word(LinkPolicy policy) {
  return policy == LinkPolicy::follow ? "Follow" : policy == LinkPolicy::up ? "Up" : "Down";
}

const char* on_off(bool on) {
  return on ? "on" : "off";
}

/// Builds the list for one rail.
class Builder {
 public:
  Builder(const Desired& desired, const DesiredRail& rail, const SeenFunction& seen)
      : desired_(desired), rail_(rail), seen_(seen), infiniband_(rail.link_layer == LinkLayer::infiniband) {}

  std::vector<Operation> build() {
    fresh_ = count();
    if (wanted() == 0) return out_;
    const std::vector<SeenVf> vfs = fresh_ ? assumed() : seen_.vfs;
    prepare_function(vfs);
    for (const SeenVf& vf : vfs) administer(vf);
    autoprobe();
    for (const SeenVf& vf : vfs) bind(vf);
    for (const SeenVf& vf : vfs) interface(vf);
    return out_;
  }

 private:
  int wanted() const { return rail_.vfs; }
  std::string file(const std::string& name) const { return "/sys/bus/pci/devices/" + seen_.pci + "/" + name; }
  int mtu() const { return infiniband_ || !rail_.vf.bind ? 0 : rail_.vf.mtu > 0 ? rail_.vf.mtu : rail_.mtu; }

  void write(Phase phase, const std::string& path, const std::string& value, int vf = -1, bool identity = false) {
    out_.push_back({.phase = phase, .path = path, .value = value, .vf = vf, .identity = identity});
  }
  void run(Phase phase, std::vector<std::string> arguments, int vf = -1, bool identity = false) {
    out_.push_back({.phase = phase, .arguments = std::move(arguments), .vf = vf, .identity = identity});
  }
  void set(const SeenVf& vf, const std::string& key, const std::string& value, bool identity = false) {
    run(Phase::administer, {"ip", "link", "set", "dev", rail_.netdev, "vf", std::to_string(vf.index), key, value},
        vf.index, identity);
  }

  /// The mode of the embedded switch can change only while there are no VFs, and one count only by way of 0. A driver
  /// that is bound as soon as a VF is there would take a MAC or GUID that is not set yet.
  bool count() {
    const bool mode = wanted() > 0 && !desired_.eswitch.empty() && seen_.eswitch != desired_.eswitch;
    if (seen_.count == wanted() && !mode) return false;
    if (wanted() > 0 && seen_.autoprobe == 1) write(Phase::count, file("sriov_drivers_autoprobe"), "0");
    if (seen_.count > 0) write(Phase::count, file("sriov_numvfs"), "0");
    if (mode) run(Phase::count, {"devlink", "dev", "eswitch", "set", "pci/" + seen_.pci, "mode", desired_.eswitch});
    if (wanted() > 0) write(Phase::count, file("sriov_numvfs"), std::to_string(wanted()));
    return true;
  }

  std::vector<SeenVf> assumed() const {
    std::vector<SeenVf> out;
    for (int i = 0; i < wanted(); ++i) {
      SeenVf& vf = out.emplace_back(SeenVf{.index = i, .guid_files = infiniband_ && seen_.guid_files});
      if (static_cast<std::size_t>(i) < seen_.next.size()) vf.pci = seen_.next[static_cast<std::size_t>(i)];
      if (seen_.autoprobe < 0) vf.driver = "its driver";  // such a kernel binds it at once
    }
    return out;
  }

  /// A VF's driver asks its PF for the MAC, and a PF that is down does not answer.
  void prepare_function(const std::vector<SeenVf>& vfs) {
    const bool binds = rail_.vf.bind && std::any_of(vfs.begin(), vfs.end(), [&](const SeenVf& vf) {
                         return fresh_ || vf.driver.empty() || rebind(vf);
                       });
    if (infiniband_ || !binds) return;
    if (mtu() > seen_.mtu)
      run(Phase::administer, {"ip", "link", "set", "dev", rail_.netdev, "mtu", std::to_string(mtu())});
    if (!seen_.up) run(Phase::administer, {"ip", "link", "set", "dev", rail_.netdev, "up"});
  }

  void administer(const SeenVf& vf) {
    const VfIdentity identity = vf_identity(rail_, vf.index);
    const VfSpec& spec = rail_.vf;
    if (vf.user.empty()) infiniband_ ? guids(vf, identity.guid) : mac(vf, identity.mac);
    if (spec.trust && vf.trust != static_cast<int>(*spec.trust)) set(vf, "trust", on_off(*spec.trust));
    if (spec.spoofchk && vf.spoofchk != static_cast<int>(*spec.spoofchk)) set(vf, "spoofchk", on_off(*spec.spoofchk));
    if (spec.vlan && vf.vlan != *spec.vlan) set(vf, "vlan", std::to_string(*spec.vlan));
    if (spec.max_rate_mbps && vf.max_rate_mbps != *spec.max_rate_mbps)
      set(vf, "max_tx_rate", std::to_string(*spec.max_rate_mbps));
    policy(vf);
  }

  void mac(const SeenVf& vf, const std::string& wanted_mac) {
    if (!same(vf.set_mac, wanted_mac)) set(vf, "mac", wanted_mac, true);
  }

  void guids(const SeenVf& vf, const std::string& guid) {
    const std::string folder = file("sriov/" + std::to_string(vf.index));
    const auto give = [&](const char* name, const std::string& key, const std::string& told, const std::string& shown) {
      // where the PF does not tell what it was told, what the VF shows must do
      if (same(told.empty() ? shown : told, guid)) return;
      if (vf.guid_files)
        write(Phase::administer, folder + "/" + name, guid, vf.index, true);
      else
        set(vf, key, guid, true);
    };
    give("node", "node_guid", vf.set_node_guid, vf.node_guid);
    give("port", "port_guid", vf.set_port_guid, vf.port_guid);
  }

  /// An InfiniBand VF is down by default, so that its port would never come up.
  void policy(const SeenVf& vf) {
    auto policy = rail_.vf.link_policy;
    if (!policy && infiniband_) policy = LinkPolicy::follow;
    if (!policy || vf.policy == to_string(*policy)) return;
    if (vf.guid_files)
      write(Phase::administer, file("sriov/" + std::to_string(vf.index) + "/policy"), file_word(*policy), vf.index);
    else
      set(vf, "state", ip_word(*policy));
  }

  /// As a host that binds is left with, and before binding: no VF is bound while it is 0.
  void autoprobe() {
    const int last = !out_.empty() && out_.front().path == file("sriov_drivers_autoprobe") ? 0 : seen_.autoprobe;
    const int value = rail_.vf.bind ? 1 : 0;
    if (last >= 0 && last != value) write(Phase::bind, file("sriov_drivers_autoprobe"), std::to_string(value));
  }

  bool rebind(const SeenVf& vf) const {
    return !vf.driver.empty() && vf.user.empty() && !handed_on(vf) && other_identity(rail_, vf);
  }

  void bind(const SeenVf& vf) {
    const std::string device = "/sys/bus/pci/devices/" + vf.pci;
    // a VF of a kernel without autoprobe had its driver before it had its identity
    const bool again = rail_.vf.bind && (rebind(vf) || (fresh_ && !vf.driver.empty()));
    const bool away = !rail_.vf.bind && !vf.driver.empty() && !handed_on(vf) && vf.user.empty();
    if (vf.pci.empty()) return;
    if (again || away) write(Phase::bind, device + "/driver/unbind", vf.pci, vf.index);
    if (again || (rail_.vf.bind && vf.driver.empty()))
      write(Phase::bind, "/sys/bus/pci/drivers_probe", vf.pci, vf.index);
  }

  void interface(const SeenVf& vf) {
    if (mtu() == 0 || vf.pci.empty()) return;
    const bool comes = fresh_ || vf.driver.empty();
    const std::string name = comes ? "$(ls /sys/bus/pci/devices/" + vf.pci + "/net)" : vf.netdev;
    if (!name.empty() && vf.mtu != mtu())
      run(Phase::interface, {"ip", "link", "set", "dev", name, "mtu", std::to_string(mtu())}, vf.index);
  }

  const Desired& desired_;
  const DesiredRail& rail_;
  const SeenFunction& seen_;
  const bool infiniband_;
  bool fresh_ = false;  ///< the VFs are still to be made
  std::vector<Operation> out_;
};

}  // namespace

std::string shell_line(const Operation& operation) {
  if (operation.arguments.empty()) return "echo " + operation.value + " > " + operation.path;
  std::string out;
  for (const std::string& word : operation.arguments)
    out += (out.empty() ? "" : " ") + (word.rfind("$(", 0) == 0 ? word : shell_line(std::vector<std::string>{word}));
  return out;
}

bool other_identity(const DesiredRail& rail, const SeenVf& vf) {
  if (vf.index >= rail.vfs) return false;
  const VfIdentity wanted = vf_identity(rail, vf.index);
  const auto other = [](const std::string& shown, const std::string& want) {
    return !shown.empty() && !same(shown, want);
  };
  if (rail.link_layer == LinkLayer::infiniband)
    return other(vf.node_guid, wanted.guid) || other(vf.port_guid, wanted.guid);
  return other(vf.mac, wanted.mac);
}

std::vector<Operation> operations(const Desired& desired, const DesiredRail& rail, const SeenFunction& seen) {
  return Builder(desired, rail, seen).build();
}

}  // namespace fabricgate::bootstrap
