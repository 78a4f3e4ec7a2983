#include "inventory/hostfile.hpp"

#include <gmock/gmock.h>

#include "results/file.hpp"

namespace fabricgate {
namespace {

using ::testing::HasSubstr;

std::string listed(const Result<std::vector<HostSlots>>& hosts) {
  if (!hosts) return hosts.error().what;
  std::string out;
  for (const HostSlots& host : *hosts)
    out += host.name + '*' + std::to_string(host.slots) + (host.max_slots ? "/" + std::to_string(host.max_slots) : "") +
           ' ';
  return out;
}

struct Row {
  HostfileFormat format;
  const char* text;
  const char* expected;
};
constexpr auto mpi = HostfileFormat::open_mpi;
constexpr auto hydra = HostfileFormat::hydra;
constexpr auto slurm = HostfileFormat::slurm;

TEST(Hostfile, reads_every_launchers_form) {
  const Row rows[] = {
      {mpi, "a slots=8\nb slots=4 max_slots=8\n", "a*8 b*4/8 "},
      {mpi, "# head\n\n  a\tslots=2 # tail\r\nb max-slots=3 slots=3", "a*2 b*3/3 "},
      {mpi, "a slots = 4 max_slots= 5\nb slots\t=2\n", "a*4/5 b*2 "},
      {mpi, "a\na\nb slots=2\na slots=3\n", "a*5 b*2 "},
      {mpi, "a.x slots=1\nA.x slots=1\n", "a.x*2 "},
      {mpi, "10.0.0.1 slots=2\n10.0.0.2 slots=2\n", "10.0.0.1*2 10.0.0.2*2 "},
      {hydra, "a:4\nb\na:2\n", "a*6 b*1 "},
      {slurm, "gpu[001-003,007],login1\n", "gpu001*1 gpu002*1 gpu003*1 gpu007*1 login1*1 "},
      {slurm, "a[1-2] b\n", "a1*1 a2*1 b*1 "},
      {slurm, "a[1-3],b\nSLURM_TASKS_PER_NODE=4(x3),2\n", "a1*4 a2*4 a3*4 b*2 "},
      {slurm, "SLURM_JOB_NAME=x y\nSLURM_TASKS_PER_NODE=8(x2)\r\nSLURM_NODELIST=n[9-10]\nSLURM_JOB_NODELIST=n[9-10]\n", "n9*8 n10*8 "},
      {slurm, "SLURM_NODELIST=n[1-2]\n", "n1*1 n2*1 "},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(listed(read_hostfile(row.text, "h", row.format)), row.expected) << row.text;
  }
}

TEST(Hostfile, refuses_what_a_launcher_would_silently_get_wrong) {
  const Row rows[] = {
      {mpi, "a slots=2 slots=4\n", "h:1: 'slots' is given twice on one line; a launcher takes one of them silently"},
      {mpi, "\na slots=2\nb slots=x\n", "h:3: slots: expected a number from 1 to 65536, found 'x'"},
      {mpi, "a slots=0\n", "h:1: slots: expected a number from 1 to 65536, found '0'"},
      {mpi, "a slots=\n", "h:1: slots: expected a number from 1 to 65536, found ''"},
      {mpi, "a slot=4\n", "h:1: unknown key 'slot', did you mean 'slots'?"},
      {mpi, "a slots=4 max_slots=2\n", "h:1: slots=4 is more than max_slots=2"},
      {mpi, "n1.rack1 slots=1\nn1.rack2 slots=1\n",
       "h:2: 'n1.rack2' has the short name of 'n1.rack1' on line 1; a launcher takes them for one host "
       "(launch.hostname_collision)"},
      {mpi, "[fe80::1] slots=2\n",
       "h:1: IPv6 address '[fe80::1]': launchers differ in how they take it; use the node's name"},
      {hydra, "fe80::1\n", "h:1: IPv6 address 'fe80::1': launchers differ in how they take it; use the node's name"},
      {mpi, "a:4\n", "h:1: 'a:4': host:N is Hydra's form; Open MPI wants slots=N"},
      {hydra, "a:x\n", "h:1: host:N: expected a number from 1 to 65536, found 'x'"},
      {mpi, "10.0.0.1 gpu001\n", "h:1: 'gpu001' after an address: that is the form of /etc/hosts; a hostfile has one host a line (awk '{print $2}' makes one)"},
      {slurm, "n[1-4\nSLURM_TASKS_PER_NODE=8(x4)\n", "h:1: host range 'n[1-4': '[' without ']' at character 2"},
      {hydra, "a slots=4\n", "h:1: unknown key 'slots'; known: host:N alone"},
      {mpi, "root@a\n",
       "h:1: 'root@a': exclusions (^), relative nodes (+) and user@ are not supported; name the host alone"},
      {mpi, "localhost\n",
       "h:1: expected a host name of letters, digits, '.' and '-' (no address, not localhost), found 'localhost'"},
      {mpi, "-oProxyCommand=x\n",
       "h:1: expected a host name of letters, digits, '.' and '-' (no address, not localhost), found "
       "'-oProxyCommand=x'"},
      {slurm, "gpu[1-\n", "h:1: host range 'gpu[1-': '[' without ']' at character 4"},
      {slurm, "a:4,b\n", "h:1: 'a:4,b': a Slurm node list has no ':' (IPv6 addresses and host:N are not supported)"},
      {slurm, "a[1-3]\nSLURM_TASKS_PER_NODE=4(x2)\n", "h:2: SLURM_TASKS_PER_NODE is for 2 nodes, the node list has 3"},
      {slurm, "a\nSLURM_TASKS_PER_NODE=4(2)\n",
       "h:2: SLURM_TASKS_PER_NODE: expected tasks or tasks(xnodes) of 1 to 65536 each, as in 4(x3),2; found '4(2)'"},
      {slurm, "a\nSLURM_TASKS_PER_NODE=4\nSLURM_TASKS_PER_NODE=2\n", "h:3: SLURM_TASKS_PER_NODE is given twice, first on line 2"},
      {slurm, "SLURM_TASKS_PER_NODE=4\n", "h:1: SLURM_TASKS_PER_NODE is for 1 nodes, the node list has 0"},
      {mpi, "# nothing\n", "h:1: no host in it"},
      {mpi, "", "h:1: no host in it"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(listed(read_hostfile(row.text, "h", row.format)), row.expected) << row.text;
  }
}

TEST(Hostfile, that_is_an_inventory_gives_one_message) {
  const auto text = read_file(TESTDATA "/base.yaml");
  ASSERT_TRUE(text);
  for (const HostfileFormat format : {mpi, hydra, slurm}) {
    const auto hosts = read_hostfile(*text, "h", format);
    ASSERT_FALSE(hosts);
    EXPECT_EQ(hosts.error().what, "h: this is an inventory (YAML); a hostfile of Open MPI, Hydra or Slurm is needed");
  }
  EXPECT_EQ(listed(read_hostfile("nodes:4\n", "h", hydra)), "nodes*4 ");
}

TEST(Hostfile, is_recognised_by_its_content) {
  EXPECT_EQ(guess_hostfile_format("a slots=4\nb[1] slots=2\n"), mpi);
  EXPECT_EQ(guess_hostfile_format("a\nb\n"), mpi);
  EXPECT_EQ(guess_hostfile_format("# x:1\na:4\n"), hydra);
  EXPECT_EQ(guess_hostfile_format("gpu[001-002]"), slurm);
  EXPECT_EQ(guess_hostfile_format("a,b"), slurm);
  EXPECT_EQ(guess_hostfile_format("SLURM_JOB_NAME=x y\nSLURM_JOB_NODELIST=a\n"), slurm);
  EXPECT_EQ(parse_hostfile_format("hydra"), hydra);
  EXPECT_EQ(parse_hostfile_format("pbs"), std::nullopt);
}

Inventory base() {
  return *parse_inventory(*read_file(TESTDATA "/base.yaml"), "base").inventory;
}

TEST(Hostfile, written_from_an_inventory_reads_back_in_rank_order) {
  const auto text = write_hostfile(base());
  ASSERT_TRUE(text) << text.error().what;
  EXPECT_EQ(listed(read_hostfile(*text, "h", mpi)), "n1*4 n2*4 n3*4 n4*4 n5*4 ");
}

TEST(Hostfile, is_not_written_when_a_launcher_would_mix_nodes_up) {
  Inventory twins = base();
  twins.nodes[1].name = "n1.other";
  EXPECT_THAT(write_hostfile(twins).error().what, HasSubstr("launch.hostname_collision"));
  Inventory six = base();
  six.nodes[0].address = "fe80::1";
  EXPECT_THAT(write_hostfile(six).error().what, HasSubstr("IPv6"));
  Inventory slots = base();
  NodeClass spec = *slots.nodes[0].spec;
  spec.slots = 3;
  slots.nodes[0].spec = std::make_shared<const NodeClass>(spec);
  EXPECT_THAT(write_hostfile(slots).error().what, HasSubstr("3 slots for 4 GPUs"));
  EXPECT_FALSE(write_hostfile(Inventory{}));
}

TEST(Hostfile, by_hand_is_compared_with_the_inventory) {
  const auto hosts = read_hostfile("n1 slots=4\nn2 slots=2\nn3\n10.20.0.4 slots=1\nn9 slots=4\n", "h", mpi);
  ASSERT_TRUE(hosts);
  std::string found;
  for (const Finding& finding : compare_hostfile(base(), *hosts, "h")) {
    EXPECT_EQ(finding.cause, "launch.hostfile_invalid");
    EXPECT_EQ(finding.verdict, Verdict::fail);
    found += finding.subject.host + ':' + std::to_string(finding.subject.line) + ' ' + finding.found + ", ";
  }
  EXPECT_EQ(found, "n2:2 slots=2, n9:5 n9, n5:-1 missing, ");
}

TEST(Import, folds_hosts_into_a_skeleton_that_loads_once_filled_in) {
  const auto hosts = read_hostfile("n1 slots=4\nn2 slots=4\nz9 slots=1\nz3 slots=1\n", "h", mpi);
  std::string text = import_inventory(*hosts, "h");
  EXPECT_THAT(text, HasSubstr("hosts: n[1-2]\n    class: slots4"));
  EXPECT_THAT(text, HasSubstr("hosts: z9,z3\n    class: node"));
  EXPECT_FALSE(parse_inventory(text, "i").inventory);
  for (const auto& [key, value] : {std::pair("name: ", "x"), {"management_cidr: ", "10.0.0.0/24"}}) {
    const std::string from = std::string(key) + "CHANGE-ME";
    text.replace(text.find(from), from.size(), std::string(key) + value);
  }
  const auto loaded = parse_inventory(text, "i", Classes::may_be_missing);  // enough to learn classes from its nodes
  ASSERT_TRUE(loaded.inventory) << to_string(loaded.problems.front());
  EXPECT_EQ(loaded.inventory->nodes[2].name, "z9");
}

TEST(Import, keeps_addresses_and_asks_for_names) {
  const auto hosts = read_hostfile("10.0.0.5 slots=8\n10.0.0.6 slots=8\nn3 slots=8\n", "h", mpi);
  std::string text = import_inventory(*hosts, "h");
  EXPECT_THAT(text, HasSubstr("hosts: n3\n"));
  for (const auto& [from, to] : {std::pair("name: CHANGE-ME", "name: x"), {"management_cidr: CHANGE-ME", "management_cidr: 10.0.0.0/24"},
                                 {"hosts: CHANGE-ME", "hosts: n1"}, {"hosts: CHANGE-ME", "hosts: n2"}}) {
    EXPECT_FALSE(parse_inventory(text, "i", Classes::may_be_missing).inventory) << from;
    text.replace(text.find(from), std::string(from).size(), to);
  }
  const auto loaded = parse_inventory(text, "i", Classes::may_be_missing);
  ASSERT_TRUE(loaded.inventory) << to_string(loaded.problems.front());
  EXPECT_EQ(loaded.inventory->nodes[1].address, "10.0.0.6");
}

TEST(SshConfig, maps_names_to_addresses_strictly) {
  Inventory inventory = base();
  inventory.nodes[1].name = "n2.rack1";
  const std::string text = write_ssh_config(inventory);
  EXPECT_THAT(text, HasSubstr("Host n1\n  HostName 10.20.0.1\n  HostKeyAlias 10.20.0.1\n"));
  EXPECT_THAT(text, HasSubstr("Host n2.rack1 n2\n  HostName 10.20.0.2\n"));
  for (const char* setting :
       {"User root", "Port 22", "IdentityFile \"/k/id\"", "UserKnownHostsFile \"/k/known\"",
        "StrictHostKeyChecking yes", "BatchMode yes", "ConnectTimeout 10", "ControlMaster no", "LogLevel ERROR"}) {
    EXPECT_THAT(text, HasSubstr("\n  " + std::string(setting) + "\n"));
  }
  EXPECT_EQ(text.find("ProxyJump"), std::string::npos);
}

TEST(SshConfig, keeps_the_jump_host_out_of_the_nodes_settings) {
  Inventory inventory = base();
  inventory.ssh.jump = "ops@bastion.example:2200";
  inventory.ssh.port = 2222;
  inventory.ssh.key = "/k/50% off";
  const std::string text = write_ssh_config(inventory);
  EXPECT_THAT(text,
              HasSubstr("Host * !bastion.example\n  User root\n  Port 2222\n  ProxyJump ops@bastion.example:2200\n"));
  EXPECT_THAT(text, HasSubstr("HostKeyAlias [10.20.0.1]:2222\n"));
  EXPECT_THAT(text, HasSubstr("IdentityFile \"/k/50%% off\"\n"));
}

}  // namespace
}  // namespace fabricgate
