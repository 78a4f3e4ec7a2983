#include <algorithm>

#include "inventory/draft.hpp"
#include "inventory/forms.hpp"

namespace fabricgate {
namespace {

constexpr std::size_t max_rails = 64;

void read_link_layer(YamlReader& r, const YamlNode& node, LinkLayer& out) {
  if (r.word(node, "link_layer", {"ethernet", "infiniband"}) >= 0) out = *parse_link_layer(node.text);
}

void read_address(YamlReader& r, const YamlNode& node, bool overrides, Rail& rail) {
  if (!overrides)
    return r.problem(node.mark, "address: one rail address cannot serve a whole class; give it in a node's overrides");
  const Form form{"an IPv4 address", [](std::string_view text) { return bool(parse_ipv4(text)); }};
  std::string text;
  if (r.text(node, "address", form, text)) rail.address = *parse_ipv4(text);
}

/// Remembers where the value stands, then reads it.
template <class F>
auto marked(Mark& mark, F read) {
  return [&mark, read](const YamlNode& node) {
    mark = node.mark;
    read(node);
  };
}

/// A value that may stay unset.
template <class T, class F>
auto optionally(std::optional<T>& out, F read) {
  return [&out, read](const YamlNode& node) {
    T value{};
    if (read(node, value)) out = value;
  };
}

void read_vf(YamlReader& r, const YamlNode& node, VfSpec& vf) {
  r.map(node, "vf",
        {{"trust", optionally(vf.trust, [&](const YamlNode& n, bool& v) { return r.boolean(n, "trust", v); })},
         {"spoofchk", optionally(vf.spoofchk, [&](const YamlNode& n, bool& v) { return r.boolean(n, "spoofchk", v); })},
         {"vlan",
          optionally(vf.vlan, [&](const YamlNode& n, int& v) { return r.integer(n, "vlan", std::pair(0, 4094), v); })},
         {"max_rate_mbps", optionally(vf.max_rate_mbps,
                                    [&](const YamlNode& n, int& v) {
                                      return r.integer(n, "max_rate_mbps", std::pair(0, 10'000'000), v);
                                    })},
         {"mtu", [&](const YamlNode& n) { r.integer(n, "mtu", std::pair(576, 65520), vf.mtu); }},
         {"link_policy",
          [&](const YamlNode& n) {
            if (r.word(n, "link_policy", {"follow", "up", "down"}) >= 0) vf.link_policy = parse_link_policy(n.text);
          }},
         {"bind", [&](const YamlNode& n) { r.boolean(n, "bind", vf.bind); }}});
}

void read_rail(YamlReader& r, const YamlNode& node, Rail& rail, RailMarks& m, bool overrides) {
  const bool needed = !overrides;
  r.map(node, "rail",
        {{"name", marked(m.name, [&](const YamlNode& n) { r.text(n, "name", forms::label, rail.name); })},
         {"netdev", marked(m.netdev, [&](const YamlNode& n) { r.text(n, "netdev", forms::netdev, rail.netdev); }),
          needed},
         {"device", marked(m.device, [&](const YamlNode& n) { r.text(n, "device", forms::device, rail.device); })},
         {"pci", [&](const YamlNode& n) { r.text(n, "pci", forms::pci, rail.pci); }},
         {"gpu", marked(m.gpu, [&](const YamlNode& n) { r.integer(n, "gpu", std::pair(0, 63), rail.gpu); })},
         {"link_layer", marked(m.link_layer, [&](const YamlNode& n) { read_link_layer(r, n, rail.link_layer); })},
         {"rate_gbps",
          [&](const YamlNode& n) {
            double gbps = 0;
            if (r.number(n, "rate_gbps", std::pair(0.001, 10000.0), gbps)) rail.rate_bits_per_s = gbps * 1e9;
          },
          needed},
         {"mtu", [&](const YamlNode& n) { r.integer(n, "mtu", std::pair(576, 65520), rail.mtu); }},
         {"cidr", marked(m.cidr, [&](const YamlNode& n) { read_network(r, n, "cidr", rail.cidr); }), needed},
         {"address", marked(m.address, [&](const YamlNode& n) { read_address(r, n, overrides, rail); })},
         {"vfs", [&](const YamlNode& n) { r.integer(n, "vfs", std::pair(0, 1024), rail.vfs); }},
         {"vf", marked(m.vf, [&](const YamlNode& n) { read_vf(r, n, rail.vf); })},
         {"roce", marked(m.roce, [&](const YamlNode& n) { read_roce(r, n, rail.roce); })},
         {"leaf", [&](const YamlNode& n) { r.text(n, "leaf", forms::rack, rail.leaf); }}});
}

void read_rails(YamlReader& r, const YamlNode& node, ClassDraft& d) {
  if (node.kind == YamlNode::Kind::sequence && node.items.size() > max_rails)
    return r.problem(node.mark, "rails: more than 64 rails on one node");
  d.spec.rails.clear();
  r.list(node, "rails", [&](const YamlNode& item) {
    Rail& rail = d.spec.rails.emplace_back(Rail{.name = "rail" + std::to_string(d.spec.rails.size())});
    const Mark m = item.mark;
    d.rails.push_back({m, m, m, m, m, m, m, m, {}, {}});
    read_rail(r, item, rail, d.rails.back(), false);
  });
  if (node.kind == YamlNode::Kind::sequence && node.items.empty())
    r.problem(node.mark, "rails: a class needs at least one rail");
}

void override_rails(YamlReader& r, const YamlNode& node, ClassDraft& d) {
  if (node.kind != YamlNode::Kind::map)
    return r.problem(node.mark, "rails: expected a map from rail index to its keys, as in 0: { netdev: eth2 }, found " +
                                    describe(node));
  if (d.spec.rails.empty()) return;  // the class has its problem already
  for (std::size_t i = 0; i < node.keys.size(); ++i) {
    const std::string& key = node.keys[i].text;
    std::size_t index = 0;
    while (index < d.spec.rails.size() && std::to_string(index) != key) ++index;
    if (index == d.spec.rails.size()) {
      r.problem(node.keys[i].mark, "rails: expected a rail index from 0 to " + std::to_string(index - 1) + ", found '" +
                                       excerpt(key) + "'");
      continue;
    }
    d.rails[index].rail = node.keys[i].mark;
    read_rail(r, node.items[i], d.spec.rails[index], d.rails[index], true);
  }
}

void read_memlock(YamlReader& r, const YamlNode& node, NodeClass& spec) {
  if (node.kind == YamlNode::Kind::scalar && node.text == "unlimited") {
    spec.memlock_bytes = UINT64_MAX;
    return;
  }
  std::int64_t bytes = 0;
  if (r.integer(node, "memlock (unlimited or bytes)", std::pair<std::int64_t, std::int64_t>(4096, INT64_MAX), bytes))
    spec.memlock_bytes = static_cast<std::uint64_t>(bytes);
}

void read_sysctl(YamlReader& r, const YamlNode& node, NodeClass& spec) {
  if (node.kind != YamlNode::Kind::map)
    return r.problem(node.mark, "sysctl: expected a map from key to value, found " + describe(node));
  for (std::size_t i = 0; i < node.keys.size(); ++i) {
    std::string key;
    if (r.text(node.keys[i], "sysctl", forms::sysctl_key, key))
      r.text(node.items[i], key, forms::sysctl_value, spec.sysctl[key]);
  }
}

std::vector<Field> manage_fields(YamlReader& r, Manage& manage) {
  return {{"packages", [&](const YamlNode& n) { r.boolean(n, "packages", manage.packages); }},
          {"memlock", [&](const YamlNode& n) { r.boolean(n, "memlock", manage.memlock); }},
          {"sysctl", [&](const YamlNode& n) { r.boolean(n, "sysctl", manage.sysctl); }},
          {"modules", [&](const YamlNode& n) { r.boolean(n, "modules", manage.modules); }},
          {"network", [&](const YamlNode& n) { r.boolean(n, "network", manage.network); }},
          {"persist", [&](const YamlNode& n) { r.boolean(n, "persist", manage.persist); }}};
}

std::vector<Field> hardware_fields(YamlReader& r, ClassDraft& d, bool overrides) {
  NodeClass& c = d.spec;
  return {
      {"role",
       [&](const YamlNode& n) {
         const int word = r.word(n, "role", {"compute", "storage"});
         if (word >= 0) c.role = word == 1 ? Role::storage : Role::compute;
       }},
      {"emulated", [&](const YamlNode& n) { r.boolean(n, "emulated", c.emulated); }},
      {"gpus", marked(d.gpus, [&](const YamlNode& n) { r.integer(n, "gpus", std::pair(0, 64), c.gpus); })},
      {"slots",
       marked(d.slots, [&](const YamlNode& n) { d.slots_given = r.integer(n, "slots", std::pair(1, 64), c.slots); })},
      {"rails",
       [&, overrides](const YamlNode& n) {
         if (overrides) return override_rails(r, n, d);
         read_rails(r, n, d);
       },
       !overrides}};
}

std::vector<Field> software_fields(YamlReader& r, ClassDraft& d, bool overrides) {
  NodeClass& c = d.spec;
  return {
      {"memlock", [&](const YamlNode& n) { read_memlock(r, n, c); }},
      {"driver", marked(d.driver, [&, overrides](const YamlNode& n) { read_driver(r, n, c.driver, overrides); })},
      {"sriov",
       marked(
           d.sriov,
           [&, overrides](const YamlNode& n) {
             r.map(n, "sriov",
                   {{"owner", [&](const YamlNode& v) { read_owner(r, v, "owner", c.sriov_owner); }, !overrides},
                    {"eswitch", marked(d.eswitch, [&](const YamlNode& v) {
                       if (r.word(v, "eswitch", {"legacy", "switchdev"}) >= 0) c.eswitch = v.text;
                     })},
                    {"kernel_cmdline", marked(d.kernel_cmdline, optionally(c.kernel_cmdline, [&](const YamlNode& v, bool& b) {
                       return r.boolean(v, "kernel_cmdline", b);
                     }))}});
           })},
      {"rdma_namespace",
       [&](const YamlNode& n) {
         if (r.word(n, "rdma_namespace", {"shared", "exclusive"}) >= 0) c.rdma_namespace = n.text;
       }},
      {"kernel", [&](const YamlNode& n) { r.text(n, "kernel", forms::glob, c.kernel); }},
      {"packages", [&](const YamlNode& n) { read_texts(r, n, "packages", forms::package, c.packages); }},
      {"sysctl", [&](const YamlNode& n) { read_sysctl(r, n, c); }},
      {"modules", [&](const YamlNode& n) { read_texts(r, n, "modules", forms::module, c.modules); }},
      {"manage", [&](const YamlNode& n) { r.map(n, "manage", manage_fields(r, c.manage)); }}};
}

}  // namespace

void read_class(YamlReader& reader, const YamlNode& node, ClassDraft& draft, bool overrides) {
  std::vector<Field> fields = hardware_fields(reader, draft, overrides);
  for (Field& field : software_fields(reader, draft, overrides)) fields.push_back(std::move(field));
  reader.map(node, overrides ? "overrides" : "class", fields);
  if (!draft.slots_given) draft.spec.slots = std::max(1, draft.spec.gpus);
}

void read_classes(YamlReader& reader, const YamlNode& node, InventoryDraft& draft) {
  draft.classes_mark = node.mark;
  if (node.kind != YamlNode::Kind::map)
    return reader.problem(node.mark, "classes: expected a map from name to class, found " + describe(node));
  for (std::size_t i = 0; i < node.keys.size(); ++i) {
    ClassDraft one{.mark = node.keys[i].mark, .gpus = node.keys[i].mark, .slots = node.keys[i].mark};
    reader.text(node.keys[i], "class name", forms::label, one.spec.name);
    read_class(reader, node.items[i], one, false);
    check_class(reader, draft, one);
    draft.classes.emplace(node.keys[i].text, std::make_shared<const ClassDraft>(std::move(one)));
  }
}

}  // namespace fabricgate
