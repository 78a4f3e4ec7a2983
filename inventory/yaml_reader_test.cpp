#include "inventory/yaml_reader.hpp"

#include <gtest/gtest.h>

#include "inventory/forms.hpp"

namespace fabricgate {
namespace {

TEST(Nearest, offers_what_was_probably_meant_and_nothing_far_off) {
  EXPECT_EQ(nearest("adress", {"address", "class"}), "address");
  EXPECT_EQ(nearest("mtus", {"mtu", "vfs"}), "mtu");
  EXPECT_EQ(nearest("zzz", {"mtu", "address"}), "");
  EXPECT_EQ(nearest("x", {}), "");
}

TEST(Reader, reports_each_problem_once_in_file_order) {
  YamlReader reader("f");
  reader.problem({2, 1}, "b");
  reader.problem({1, 5}, "a");
  reader.problem({2, 1}, "b");
  EXPECT_FALSE(reader.clean());
  const auto problems = reader.take_problems();
  ASSERT_EQ(problems.size(), 2u);
  EXPECT_EQ(to_string(problems[0]), "f:1:5: a");
}

struct FormRow {
  const Form& form;
  std::vector<const char*> good, bad;
};

TEST(Forms, take_what_sites_use_and_nothing_a_shell_could_misread) {
  const FormRow rows[] = {
      {forms::node_name,
       {"gpu001", "a.b-c.example", "n_1", "1a"},
       {"", "-a", "a-", "a..b", ".a", "a.", "10.0.0.1", "a b", "a;b", "localhost"}},
      {forms::jump,
       {"bastion", "ops@10.0.0.1:2200", "a.example:22"},
       {"@a", "a@", "a:0", "a:b", "-o@x", "a@b@c", "[::1]:22"}},
      {forms::remote_dir,
       {"/usr", "/opt/fabric_gate-1.0+x"},
       {"/", "usr", "/a/", "/a//b", "/a/../b", "/a b", "/a;b", "/..", "/$HOME"}},
      {forms::ports,
       {"1024-65535", "20000-20999"},
       {"20000", "1-2", "5000-5000", "a-b", "5000-65536", "5000-", "-5000"}},
      {forms::pci,
       {"0000:18:00.0", "10de:9a:1f.7"},
       {"18:00.0", "0000:18:00.8", "0000:18:20.0", "0000:1G:00.0", "0000:18:00.0 ", "0000:9A:00.0"}},
      {forms::netdev,
       {"eth0", "enp1s0f0np0", "ens1.100"},
       {"", "lo", "all", "default", "eth0:1", "a/b", "0123456789abcdef", ".."}},
      {forms::sysctl_key,
       {"net.ipv4.tcp_rmem", "net/ipv4/conf/eth0.1/rp_filter"},
       {"swappiness", "../x", "a..b", "a b.c", "/proc/sys"}},
      {forms::package, {"rdma-core", "libucx0:amd64", "g++"}, {"", "-y", "a b", "a;b", "../x"}},
      {forms::name_space, {"nvidia-network-operator"}, {"Nvidia", "a_b", "-a", "a-"}},
      {forms::hook, {"/bin/busy {node}"}, {"/bin/busy", "", "{node}\n"}},
  };
  for (const FormRow& row : rows) {
    for (const char* text : row.good) EXPECT_TRUE(row.form.matches(text)) << row.form.expected << ": " << text;
    for (const char* text : row.bad) EXPECT_FALSE(row.form.matches(text)) << row.form.expected << ": " << text;
  }
}

}  // namespace
}  // namespace fabricgate
