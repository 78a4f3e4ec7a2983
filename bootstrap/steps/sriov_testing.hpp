#pragma once
/// Tests only: a machine in memory whose kernel makes virtual functions as igb under QEMU and mlx5 do: the count is
/// refused with their errno and words, a VF that is bound takes what was set before, never what is set afterwards.
#include <cerrno>
#include <cstdlib>

#include "bootstrap/steps/step_testing.hpp"

namespace fabricgate::bootstrap::testing {

class SriovMachine : public FakeHost {
 public:
  static constexpr const char* function = "/sys/bus/pci/devices/0000:01:00.0";

  explicit SriovMachine(bool infiniband = false, bool guid_files = false)
      : infiniband_(infiniband), guid_files_(guid_files) {
    add(function, {{"vendor", "0x8086"},
                   {"sriov_totalvfs", "7"},
                   {"sriov_numvfs", "0"},
                   {"sriov_drivers_autoprobe", "1"},
                   {"sriov_offset", "128"},
                   {"sriov_stride", "2"},
                   {"net/e1/flags", "0x1003"}});
    if (guid_files) files[std::string(function) + "/sriov/"] = "";
    links[std::string(function) + "/driver"] =
        std::string("../../../bus/pci/drivers/") + (infiniband ? "mlx5_core" : "igb");
    links["/sys/class/net/e1"] = "../../devices/pci0000:00/0000:00:02.0/0000:01:00.0/net/e1";
    add("/sys/class/net/e1", {{"flags", "0x1003"}, {"mtu", "9000"}});
    files["/sys/bus/pci/drivers_probe"] = "";
    on_set = [this](const auto& path, const auto& value) { return set(path, value); };
    on_write = [this](const auto& path, const auto& value) { written(path, value); };
    on_run = [this](const auto& arguments) { return ip(arguments); };
    changing = [](const auto& arguments) { return arguments[0] == "ip" && arguments[1] == "link"; };
  }

  static std::string vf(int i) { return "0000:01:10." + std::to_string(2 * i); }
  static std::string folder(int i) { return "/sys/bus/pci/devices/" + vf(i); }
  static std::string netdev(int i) { return "e1v" + std::to_string(i); }
  int count() const { return std::atoi(files.at(std::string(function) + "/sriov_numvfs").c_str()); }
  std::string mac(int i) const { return files.at("/sys/class/net/" + netdev(i) + "/address"); }
  int bindings = 0;        ///< how often a driver was bound to a VF
  int resetting = 0;       ///< as often a VF that is bound takes a random MAC: its PF is not back yet
  int refuse_count = 0;    ///< errno that the driver answers a new count with
  bool no_driver = false;  ///< nobody takes a VF
  std::map<std::string, std::string> settings[7];  ///< of `ip link set … vf`

 private:
  void add(const std::string& at, const std::map<std::string, std::string>& values) {
    for (const auto& [name, value] : values) files[at + "/" + name] = value + "\n";
  }
  void say(const std::string& text) { kernel_messages.push_back({kernel_messages.size() + 1, text}); }

  Status set(const std::string& path, const std::string& value) {
    if (path != std::string(function) + "/sriov_numvfs") return {};
    const int wanted = std::atoi(value.c_str());
    if (refuse_count != 0) {
      say("igb 0000:01:00.0: Failed to enable SR-IOV: -" + std::to_string(refuse_count));
      say("igb 0000:02:00.0: another function");
      return error_from_errno("write " + path, refuse_count);
    }
    if (wanted > 7) return error_from_errno("write " + path, ERANGE);
    if (wanted == 0 || count() == 0 || wanted == count()) return {};
    say("igb 0000:01:00.0: " + std::to_string(count()) + " VFs already enabled. Disable before enabling " + value +
        " VFs");
    return error_from_errno("write " + path, EBUSY);
  }

  bool autoprobe() { return std::atoi(files[std::string(function) + "/sriov_drivers_autoprobe"].c_str()) == 1; }

  void written(const std::string& path, const std::string& value) {
    for (int i = 0; i < 7; ++i) {
      if (path == folder(i) + "/driver/unbind") unbind(i);
      if (path == "/sys/bus/pci/drivers_probe" && value == vf(i) && autoprobe()) bind(i);
      if (path == std::string(function) + "/sriov_numvfs") i < std::atoi(value.c_str()) ? make(i) : remove_vf(i);
    }
  }

  void make(int i) {
    links[std::string(function) + "/virtfn" + std::to_string(i)] = "../" + vf(i);
    files[folder(i) + "/vendor"] = "0x8086\n";
    if (guid_files_)
      for (const char* name : {"node", "port", "policy"})
        files[std::string(function) + "/sriov/" + std::to_string(i) + "/" + name] =
            std::string(name) == "policy" ? "Down\n" : "00:00:00:00:00:00:00:00\n";
    if (autoprobe()) bind(i);
  }

  void remove_vf(int i) {
    unbind(i);
    links.erase(std::string(function) + "/virtfn" + std::to_string(i));
    files.erase(folder(i) + "/vendor");
    settings[i].clear();
  }

  std::string given(int i, const char* key, const char* file) {
    const std::string path = std::string(function) + "/sriov/" + std::to_string(i) + "/" + file;
    return guid_files_ ? files[path] : settings[i][key];
  }

  void bind(int i) {
    if (links.count(folder(i) + "/driver") || no_driver || !files.count(folder(i) + "/vendor")) return;
    ++bindings;
    links[folder(i) + "/driver"] = "../../../bus/pci/drivers/igbvf";
    files[folder(i) + "/driver/unbind"] = "";
    if (infiniband_) return bind_infiniband(i);
    files[folder(i) + "/net/" + netdev(i) + "/flags"] = "0x1002\n";
    const bool random = resetting > 0 ? resetting-- > 0 : settings[i]["mac"].empty();
    add("/sys/class/net/" + netdev(i),
        {{"address", random ? "36:8b:e8:7a:e0:6f" : settings[i]["mac"]}, {"mtu", "1500"}});
  }

  void bind_infiniband(int i) {
    const std::string device = "mlx5_" + std::to_string(i + 1), at = "/sys/class/infiniband/" + device;
    const auto groups = [](std::string guid) {  // as sysfs shows them: 0200:5e00:…
      std::string out;
      for (char c : guid)
        if (c != ':' && c != '\n') out += (out.size() % 5 == 4 ? ":" : "") + std::string(1, c);
      return out.empty() ? "0000:0000:0000:0000" : out;
    };
    files[folder(i) + "/infiniband/" + device + "/x"] = "";
    files[at + "/node_guid"] = groups(given(i, "node_guid", "node")) + "\n";
    files[at + "/ports/1/gids/0"] = "fe80:0000:0000:0000:" + groups(given(i, "port_guid", "port")) + "\n";
  }

  void unbind(int i) {
    links.erase(folder(i) + "/driver");
    for (const std::string& start :
         {folder(i) + "/driver/", folder(i) + "/net", folder(i) + "/infiniband", "/sys/class/net/" + netdev(i) + "/",
          "/sys/class/infiniband/mlx5_" + std::to_string(i + 1) + "/"})
      std::erase_if(files, [&](const auto& file) { return file.first.rfind(start, 0) == 0; });
  }

  std::optional<CommandResult> ip(const std::vector<std::string>& a) {
    if (a[0] != "ip") return std::nullopt;
    if (a[1] == "-j") return CommandResult{0, show(), ""};
    const std::string at = "/sys/class/net/" + a[4];
    if (!files.count(at + "/mtu")) return CommandResult{1, "", "Cannot find device \"" + a[4] + "\"\n"};
    if (a[5] == "vf") settings[std::atoi(a[6].c_str())][a[7]] = a[8];
    if (a[5] == "mtu") files[at + "/mtu"] = a[6] + "\n";
    if (a[5] == "up") files[at + "/flags"] = "0x1003\n";
    return CommandResult{0, "", ""};
  }

  std::string show() {
    nlohmann::json list = nlohmann::json::array();
    for (int i = 0; i < count(); ++i) {
      auto& s = settings[i];
      nlohmann::json one{{"vf", i},
                         {"address", s["mac"].empty() ? "00:00:00:00:00:00" : s["mac"]},
                         {"vlan_list", {{{"vlan", std::atoi(s["vlan"].c_str())}}}},
                         {"rate", {{"max_tx", std::atoi(s["max_tx_rate"].c_str())}}},
                         {"spoofchk", s["spoofchk"] != "off"},
                         {"link_state", s["state"].empty() ? "auto" : s["state"]},
                         {"trust", s["trust"] == "on"}};
      list.push_back(one);
    }
    return nlohmann::json{{{"ifname", "e1"}, {"vfinfo_list", list}}}.dump();
  }

  bool infiniband_, guid_files_;
};

inline Desired with_vfs(int count, LinkLayer layer = LinkLayer::ethernet) {
  Desired out;
  out.node = "n1";
  out.sriov_owner = Owner::host;
  out.rails = {{.name = "rail0",
                .netdev = "e1",
                .mtu = 9000,
                .link_layer = layer,
                .vfs = count,
                .first_vf_guid = first_vf_guid("x", 0, 0)}};
  return out;
}

}  // namespace fabricgate::bootstrap::testing
