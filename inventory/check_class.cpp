#include <algorithm>

#include "inventory/draft.hpp"

namespace fabricgate {
namespace {

// A contradiction between two places is reported at the later one: std::max of the marks.

bool known(const Cidr& cidr) {
  return cidr.prefix <= 30;
}
bool overlap(const Cidr& a, const Cidr& b) {
  return a.contains(b.address) || b.contains(a.address);
}

void check_rail(YamlReader& r, const InventoryDraft& draft, const ClassDraft& one, std::size_t index) {
  const Rail& rail = one.spec.rails[index];
  const RailMarks& mark = one.rails[index];
  const std::string start = "rail " + rail.name + ": ";
  const Cidr& management = draft.inventory.management;
  if (known(rail.cidr) && draft.management_known && overlap(rail.cidr, management))
    r.problem(mark.cidr, start + "cidr " + format_cidr(rail.cidr) + " overlaps the management network " +
                             format_cidr(management) + "; the wire under test is never the wire we talk over");
  if (rail.gpu >= one.spec.gpus)
    r.problem(std::max(mark.gpu, one.gpus), start + "serves gpu " + std::to_string(rail.gpu) + ", but the node has " +
                                                std::to_string(one.spec.gpus) + " gpus (counted from 0)");
  if (rail.link_layer == LinkLayer::infiniband && rail.device.empty())
    r.problem(mark.link_layer, start + "an infiniband rail needs 'device', as in mlx5_0");
}

/// What is said of VFs must be able to hold for them.
void check_vf(YamlReader& r, const ClassDraft& one, std::size_t index) {
  const Rail& rail = one.spec.rails[index];
  const VfSpec& vf = rail.vf;
  const Mark mark = one.rails[index].vf;
  if (mark == Mark{}) return;
  const std::string start = "rail " + rail.name + ": vf: ";
  if (rail.vfs == 0) r.problem(mark, start + "the rail has no vfs");
  if (one.spec.sriov_owner != Owner::host)
    r.problem(mark, start + "these settings are made by the host, as in sriov: { owner: host }");
  const bool ethernet_alone = vf.trust || vf.spoofchk || vf.vlan || vf.max_rate_mbps || vf.mtu > 0;
  if (rail.link_layer == LinkLayer::infiniband && ethernet_alone)
    r.problem(mark, start + "trust, spoofchk, vlan, max_rate_mbps and mtu are of ethernet rails");
  if (!vf.bind && vf.mtu > 0) r.problem(mark, start + "a VF without a driver has no interface to give an mtu");
}

void check_two_rails(YamlReader& r, const ClassDraft& one, std::size_t first, std::size_t second) {
  const Rail &a = one.spec.rails[first], &b = one.spec.rails[second];
  const RailMarks &mark_a = one.rails[first], &mark_b = one.rails[second];
  const std::string others = " is already that of rail " + std::to_string(first) + " (" + a.name + ")";
  if (a.name == b.name)
    r.problem(std::max(mark_a.name, mark_b.name),
              "rail name '" + a.name + "' is already that of rail " + std::to_string(first));
  if (!b.netdev.empty() && a.netdev == b.netdev)
    r.problem(std::max(mark_a.netdev, mark_b.netdev), "netdev '" + a.netdev + "'" + others);
  if (!b.device.empty() && a.device == b.device)
    r.problem(std::max(mark_a.device, mark_b.device), "device '" + a.device + "'" + others);
  if (known(a.cidr) && known(b.cidr) && overlap(a.cidr, b.cidr))
    r.problem(std::max(mark_a.cidr, mark_b.cidr), "cidr " + format_cidr(b.cidr) + " of rail " + b.name + " overlaps " +
                                                      format_cidr(a.cidr) + " of rail " + a.name + " on line " +
                                                      std::to_string(mark_a.cidr.line));
}

}  // namespace

void check_class(YamlReader& reader, const InventoryDraft& draft, const ClassDraft& one) {
  const NodeClass& spec = one.spec;
  if (spec.slots != 1 && spec.slots != spec.gpus)
    reader.problem(std::max(one.slots, one.gpus), "slots: must be 1 or equal gpus (" + std::to_string(spec.gpus) +
                                                      "), found " + std::to_string(spec.slots) +
                                                      "; a launcher would start ranks without a GPU");
  if (!spec.eswitch.empty() && spec.sriov_owner != Owner::host)
    reader.problem(one.eswitch, "sriov: eswitch is set by the host, as in sriov: { owner: host }");
  if (spec.kernel_cmdline.value_or(false) && spec.sriov_owner != Owner::host)
    reader.problem(one.kernel_cmdline, "sriov: kernel_cmdline is written by the host, as in sriov: { owner: host }");
  for (std::size_t i = 0; i < spec.rails.size(); ++i) {
    check_rail(reader, draft, one, i);
    check_vf(reader, one, i);
    if (spec.rails[i].link_layer == LinkLayer::infiniband && spec.rails[i].roce != RoceSpec{})
      reader.problem(one.rails[i].roce, "roce: only a rail of link_layer ethernet has it");
    for (std::size_t before = 0; before < i; ++before) check_two_rails(reader, one, before, i);
  }
}

}  // namespace fabricgate
