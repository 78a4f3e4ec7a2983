#pragma once
/// The machines as declared: the one structure everything else is derived from. Text format: inventory/example.yaml.
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results/result.hpp"

namespace fabricgate {

/// IPv4 network or address with prefix, host byte order.
struct Cidr {
  std::uint32_t address = 0;
  int prefix = 32;

  std::uint32_t mask() const { return prefix == 0 ? 0 : ~std::uint32_t{0} << (32 - prefix); }
  bool contains(std::uint32_t ip) const { return (ip & mask()) == (address & mask()); }
  friend bool operator==(const Cidr&, const Cidr&) = default;
};

/// "10.0.0.1" and "10.0.0.0/24". Errors: kind parse, naming the text.
Result<std::uint32_t> parse_ipv4(std::string_view text);
Result<Cidr> parse_cidr(std::string_view text);
std::string format_ipv4(std::uint32_t ip);
std::string format_cidr(const Cidr& cidr);

enum class LinkLayer { ethernet, infiniband };
enum class Role { compute, storage };
enum class Owner { none, host, operator_ };

const char* to_string(LinkLayer value);
const char* to_string(Role value);
const char* to_string(Owner value);
std::optional<LinkLayer> parse_link_layer(std::string_view text);
std::optional<Owner> parse_owner(std::string_view text);

enum class LinkPolicy { follow, up, down };
const char* to_string(LinkPolicy value);
std::optional<LinkPolicy> parse_link_policy(std::string_view text);

/// How every VF of a rail is to be; unset: left as it is.
struct VfSpec {
  std::optional<bool> trust, spoofchk;
  std::optional<int> vlan;            ///< 0: none
  std::optional<int> max_rate_mbps;   ///< of what it sends; 0: no limit
  int mtu = 0;                        ///< of its interface; 0: the rail's
  std::optional<LinkPolicy> link_policy;
  bool bind = true;  ///< false: VFs stay without a driver, for guests
};

/// How RoCE traffic of a rail is marked and kept lossless; unset: left as it is and not looked at.
struct RoceSpec {
  std::string trust;                          ///< dscp | pcp: which mark says what priority a frame has
  std::optional<std::vector<int>> pfc, ecn;   ///< priorities that are lossless, and whose congestion marks count
  std::optional<int> traffic_class;           ///< of RDMA traffic: DSCP and, in the lowest two bits, ECN

  friend bool operator==(const RoceSpec&, const RoceSpec&) = default;
};

/// One network port under test.
struct Rail {
  std::string name;  ///< unique in the class; same name on two nodes = same rail
  std::string netdev;
  std::string device;  ///< RDMA device, may be empty
  std::string pci;     ///< may be empty
  int gpu = -1;        ///< index of the GPU it serves, -1 none
  LinkLayer link_layer = LinkLayer::ethernet;
  double rate_bits_per_s = 0;
  int mtu = 1500;
  Cidr cidr;                             ///< address pool of the rail (prefix is the interface's prefix)
  std::optional<std::uint32_t> address;  ///< given by hand for one node
  int vfs = 0;
  VfSpec vf;
  std::string leaf;  ///< switch, may be empty
  RoceSpec roce;
};

/// Which settings stage may change; what is false is checked only.
struct Manage {
  bool packages = true, memlock = true, sysctl = true, modules = true, network = true, persist = true;
};

/// Whether stage restarts the driver where the loaded one is not the installed one.
enum class Reload {
  never,  ///< a person reboots
  safe,   ///< unless that cuts the way to the node
  always  ///< even then
};
const char* to_string(Reload value);
std::optional<Reload> parse_reload(std::string_view text);

struct DriverSpec {
  Owner owner = Owner::none;
  std::string source;  ///< doca-host | mlnx-ofed | inbox, may be empty
  std::string version;
  std::string bundle;                 ///< path on the node: an archive (mlnx-ofed), a package (doca-host), a folder (inbox)
  std::string sha256;                 ///< of that archive or package
  std::string repository;             ///< URL of doca-host's packages
  std::string repository_key;         ///< path on the node
  std::vector<std::string> flags{"--without-fw-update"};  ///< of mlnxofedinstall
  std::vector<std::string> packages;  ///< empty: what the source usually brings
  Reload reload = Reload::never;
};

struct NodeClass {
  std::string name;
  Role role = Role::compute;
  bool emulated = false;
  int gpus = 0;
  int slots = 1;
  std::vector<Rail> rails;
  std::optional<std::uint64_t>
      memlock_bytes;  ///< required RLIMIT_MEMLOCK; UINT64_MAX = unlimited; unset = not demanded
  DriverSpec driver;
  Owner sriov_owner = Owner::none;
  std::string eswitch;  ///< legacy | switchdev, empty: left as it is
  std::optional<bool> kernel_cmdline;  ///< what SR-IOV needs of the kernel's command line; unset: see wants_kernel_cmdline
  std::string rdma_namespace;          ///< shared | exclusive, empty: left as it is
  std::string kernel;  ///< glob, may be empty
  std::vector<std::string> packages;
  std::map<std::string, std::string> sysctl;
  std::vector<std::string> modules;
  Manage manage;
};

struct Node {
  std::string name;
  std::shared_ptr<const NodeClass> spec;  ///< class with this node's overrides applied; shared where there are none
  std::string address;                    ///< management address or a resolvable name; never empty
  std::string rack;
  bool required = true;
  int line = 0;  ///< where the inventory names it
};

struct Ssh {
  std::string user = "root";
  int port = 22;
  std::string key;          ///< path, ~ expanded
  std::string known_hosts;  ///< path, ~ expanded
  std::string jump;         ///< [user@]host[:port]
  double connect_timeout_s = 10;
  int window = 64;
};

struct Launcher {
  std::string mpi_prefix = "/usr";
  std::string ports;  ///< "20000-20999", empty = any
  std::string install_dir = "/opt/fabricgate";
  std::string spool_dir = "/var/tmp/fabricgate";
};

struct Kubernetes {
  std::string context;
  std::string operator_release;
  std::string name_space = "nvidia-network-operator";
  std::string ipam = "nv-ipam";
};

struct Inventory {
  std::string cluster;
  std::string domain;
  Cidr management;
  Ssh ssh;
  Launcher launcher;
  std::vector<Node> nodes;  ///< in file order = rank order
  std::string suite = "default";
  std::optional<Kubernetes> kubernetes;
  std::map<std::string, std::string> hooks;  ///< name → command line with {node}
  std::string text;                          ///< the file as read
  std::string checksum;                      ///< sha256 of text: identity of the inventory in records

  /// Index of a node by name, or nullopt.
  std::optional<std::size_t> find(std::string_view name) const;
  bool emulated() const;  ///< true when any class is
};

/// A problem of an inventory file. `line` and `column` from 1.
struct InventoryProblem {
  std::string file;
  int line = 0, column = 0;
  std::string what;  ///< "unknown key 'ratee_gbps' in rail, did you mean 'rate_gbps'?"
};
std::string to_string(const InventoryProblem& problem);  ///< file:line:column: what

struct LoadedInventory {
  std::optional<Inventory> inventory;      ///< set when there are no problems
  std::vector<InventoryProblem> problems;  ///< every problem found, in file order
};

/// Whether a section `classes` must be there. Where it may be missing, nodes have an empty class without a name then:
/// enough to reach them, and to learn a class from one.
enum class Classes { needed, may_be_missing };

/// Reads and validates strictly; never throws. `name` is used in messages.
LoadedInventory parse_inventory(const std::string& text, const std::string& name, Classes classes = Classes::needed);
/// The same from a file; the Error is that of reading, or of kind parse with all problems, one per line.
Result<Inventory> load_inventory(const std::string& path, Classes classes = Classes::needed);

}  // namespace fabricgate
