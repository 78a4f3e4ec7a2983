#include <algorithm>

#include "inventory/draft.hpp"
#include "inventory/forms.hpp"

namespace fabricgate {
namespace {

bool ends_with(const std::string& text, std::string_view end) {
  return text.size() > end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

/// Each source has its own kind of bundle, and what comes as one file has a checksum.
void check_bundle(YamlReader& r, const YamlNode& node, const DriverSpec& driver) {
  const std::string& bundle = driver.bundle;
  const bool archive = ends_with(bundle, ".tgz") || ends_with(bundle, ".iso");
  const bool package = ends_with(bundle, ".deb") || ends_with(bundle, ".rpm");
  if (driver.source == "mlnx-ofed" && !bundle.empty() && !archive)
    r.problem(node.mark, "driver: the bundle of mlnx-ofed is a .tgz or .iso, found '" + excerpt(bundle) + "'");
  if (driver.source == "doca-host" && !bundle.empty() && !package)
    r.problem(node.mark, "driver: the bundle of doca-host is a .deb or .rpm, found '" + excerpt(bundle) + "'");
  if (driver.source == "inbox" && (archive || package))
    r.problem(node.mark, "driver: the bundle of inbox is a folder of packages, found '" + excerpt(bundle) + "'");
  if (driver.source == "inbox" && !driver.sha256.empty())
    r.problem(node.mark, "driver: the bundle of inbox is a folder, which has no sha256");
  if (driver.source != "inbox" && bundle.empty() != driver.sha256.empty())
    r.problem(node.mark, "driver: bundle and sha256 belong together");
  if (driver.source == "mlnx-ofed" && !bundle.empty() && driver.version.empty())
    r.problem(node.mark, "driver: a bundle of mlnx-ofed needs 'version', as in its name");
}

void check_driver(YamlReader& r, const YamlNode& node, const DriverSpec& driver) {
  if (driver.owner == Owner::host && driver.source.empty())
    r.problem(node.mark, "driver: owner host needs 'source' (doca-host, mlnx-ofed or inbox)");
  check_bundle(r, node, driver);
  if (driver.source != "doca-host" && !driver.repository.empty())
    r.problem(node.mark, "driver: only doca-host has a repository of its own");
  if (driver.repository.empty() != driver.repository_key.empty())
    r.problem(node.mark, "driver: repository and repository_key belong together");
  if (!driver.repository.empty() && !driver.bundle.empty())
    r.problem(node.mark, "driver: either a bundle or a repository");
  if (driver.source == "mlnx-ofed" && !driver.packages.empty())
    r.problem(node.mark, "driver: mlnx-ofed takes flags, not packages");
}

}  // namespace

void read_owner(YamlReader& r, const YamlNode& node, const char* key, Owner& out) {
  if (node.kind == YamlNode::Kind::sequence)
    return r.problem(node.mark, std::string(key) + ": two owners; exactly one side may own it: host, operator or none");
  if (r.word(node, key, {"host", "operator", "none"}) >= 0) out = *parse_owner(node.text);
}

void read_texts(YamlReader& r, const YamlNode& node, const char* key, const Form& form, std::vector<std::string>& out) {
  out.clear();
  r.list(node, key, [&](const YamlNode& item) {
    std::string text;
    if (!r.text(item, key, form, text)) return;
    if (std::find(out.begin(), out.end(), text) != out.end())
      return r.problem(item.mark, std::string(key) + ": '" + text + "' is given twice");
    out.push_back(text);
  });
}

void read_driver(YamlReader& r, const YamlNode& node, DriverSpec& driver, bool overrides) {
  const auto text = [&r](const char* key, const Form& form, std::string& out) {
    return [&r, key, &form, &out](const YamlNode& n) { r.text(n, key, form, out); };
  };
  const auto texts = [&r](const char* key, const Form& form, std::vector<std::string>& out) {
    return [&r, key, &form, &out](const YamlNode& n) { read_texts(r, n, key, form, out); };
  };
  r.map(node, "driver",
        {{"owner", [&](const YamlNode& n) { read_owner(r, n, "owner", driver.owner); }, !overrides},
         {"source",
          [&](const YamlNode& n) {
            if (r.word(n, "source", {"doca-host", "mlnx-ofed", "inbox"}) >= 0) driver.source = n.text;
          }},
         {"version", text("version", forms::version, driver.version)},
         {"bundle", text("bundle", forms::remote_dir, driver.bundle)},
         {"sha256", text("sha256", forms::sha256, driver.sha256)},
         {"repository", text("repository", forms::url, driver.repository)},
         {"repository_key", text("repository_key", forms::remote_dir, driver.repository_key)},
         {"flags", texts("flags", forms::flag, driver.flags)},
         {"packages", texts("packages", forms::package, driver.packages)},
         {"reload", [&](const YamlNode& n) {
            if (r.word(n, "reload", {"never", "safe", "always"}) >= 0) driver.reload = *parse_reload(n.text);
          }}});
  if (node.kind == YamlNode::Kind::map) check_driver(r, node, driver);
}

}  // namespace fabricgate
