#pragma once
/// The physical function of one rail and its VFs as they are now, and, as a pure function of that, what is still to do.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bootstrap/steps/all.hpp"

namespace fabricgate::bootstrap {

struct SeenVf {
  int index = 0;
  std::string pci;              ///< empty: it has no PCI function although the count says so
  std::string driver, netdev;   ///< the interface in this network namespace
  bool made_interface = false;  ///< its driver made one: without `netdev` it is in another network namespace
  std::string mac, device, node_guid, port_guid;  ///< in effect; GUIDs as in sysfs
  int mtu = 0;
  bool guid_files = false;  ///< sriov/<index>/node and its sisters of the vendor's driver
  std::string set_mac, set_node_guid, set_port_guid, policy;     ///< as set through the PF; empty: not told
  int trust = -1, spoofchk = -1, vlan = -1, max_rate_mbps = -1;  ///< the same; -1: not told
  std::string user;                                              ///< who is using it; empty: nobody, or not looked for
};

struct SeenFunction {
  std::string rail, netdev, pci, driver;  ///< pci empty: no PCI function below the interface
  bool present = false;                   ///< the interface or the function declared is there
  bool up = false, iommu = false;
  int mtu = 0, total = -1, count = -1;  ///< of VFs; -1: no such attribute
  int autoprobe = -1;
  bool guid_files = false;
  std::string eswitch;            ///< as devlink says; empty: not asked, or not told
  std::vector<std::string> next;  ///< PCI addresses that its VFs get, where the kernel tells offset and stride
  bool kept = false;              ///< its VFs are made again after a reboot
  std::string guarded;            ///< why it must not be touched; empty: it may
  std::vector<SeenVf> vfs;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SeenVf, index, pci, driver, netdev, made_interface, mac, device, node_guid,
                                   port_guid, mtu, guid_files, set_mac, set_node_guid, set_port_guid, policy, trust,
                                   spoofchk, vlan, max_rate_mbps, user)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SeenFunction, rail, netdev, pci, driver, present, up, iommu, mtu, total, count,
                                   autoprobe, guid_files, eswitch, next, kept, guarded, vfs)

SeenFunction see_function(StepContext& context, const DesiredRail& rail);
/// Fills `user` of every VF.
void see_users(Host& host, SeenFunction& function);

/// Each is looked at again before the next: what it brings about (functions, interfaces, names) is only then known.
enum class Phase { count, administer, bind, interface };

/// A write to a file of /sys, or a command.
struct Operation {
  Phase phase = Phase::count;
  std::vector<std::string> arguments;  ///< of a command; empty: a write
  std::string path, value;
  int vf = -1;            ///< which it is about, -1 all
  bool identity = false;  ///< gives a VF its MAC or GUID
};
std::string shell_line(const Operation& operation);

/// Everything that is left, in order. What VFs that are still to be made will be like is assumed: no setting is there,
/// and "$(ls …/net)" stands for the name of an interface.
std::vector<Operation> operations(const Desired& desired, const DesiredRail& rail, const SeenFunction& seen);

/// The VF whose interface or device is there with another MAC or GUID than declared.
bool other_identity(const DesiredRail& rail, const SeenVf& vf);
/// A driver that hands a VF on to a guest or a user program: its identity is seen there only.
bool handed_on(const SeenVf& vf);

/// Does what is left on one function, each phase from what is found by then. Findings go to the context.
Status make_virtual_functions(StepContext& context, const DesiredRail& rail, const SeenFunction& seen);

Subject subject_of(const Desired& desired, const SeenFunction& seen);
Subject subject_of(const Desired& desired, const SeenFunction& seen, const SeenVf& vf);
int wanted_of(const DesiredRail& rail);
std::string vfs_text(int count);
/// Of a VF with another identity than declared.
Finding not_effective(const Desired& desired, const DesiredRail& rail, const SeenFunction& seen, const SeenVf& vf);

/// Why the kernel refused a write of the VF count, from its errno and what its log says of the function in that window.
Finding explain_refusal(const Subject& subject, const SeenFunction& seen, int wanted, const Error& error,
                        const std::vector<KernelMessage>& log);

}  // namespace fabricgate::bootstrap
