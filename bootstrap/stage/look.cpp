#include "bootstrap/stage/look.hpp"

#include <cstdlib>
#include <sstream>

#include "inventory/observe/identity.hpp"

namespace fabricgate::bootstrap {
namespace {

/// $1 agent $2 spare $3 rank $4 link $5 agent's sha256 $6 nonce $7 the machine's short name. The clock comes last but
/// one so that little happens between reading it and the head hearing of it.
constexpr const char* script = R"sh(export LC_ALL=C
sum() { if [ -f "$1" ] && s=$(sha256sum < "$1"); then s=${s%% *}; else s=none; fi; }
sum "$3"; rank=$s; link=no; [ "$4" -ef "$1" ] && link=yes
host=$(uname -n); boot=$(cat /proc/sys/kernel/random/boot_id); uts=$(readlink /proc/self/ns/uts)
printf '\n%s look %s %s %s %s %s\n' "$6" "$rank" "$link" "$(date +%s.%N)" "$host" "$boot/$uts"
[ "${host%%.*}" = "$7" ] || exit 95
for a in "$1" "$2"; do [ -x "$a" ] && sum "$a" && [ "$s" = "$5" ] && exec "$a"; done
exit 94
)sh";

}  // namespace

Places places_of(const std::string& install_dir, const std::string& agent_sha256, const std::string& nonce,
                 const std::string& node) {
  const std::string name = "fabricgate-agent-" + agent_sha256.substr(0, 16);
  return {install_dir + "/agent/" + name, "/var/tmp/fabricgate-" + nonce + "/" + name,
          install_dir + "/bin/fabricgate-rank", install_dir + "/bin/fabricgate-agent", short_name(node)};
}

Command look_command(const Places& places, const std::string& agent_sha256, const std::string& nonce,
                     std::string input) {
  return Command{.argv = {"/bin/sh", "-c", script, "look", places.agent, places.spare, places.rank, places.agent_link,
                          agent_sha256, nonce, places.host},
                 .input = std::make_shared<const std::string>(std::move(input)),
                 .doing = "running " + places.agent};
}

std::optional<Look> parse_look(std::string_view text, std::string_view nonce) {
  const std::string mark = "\n" + std::string(nonce) + " look ";
  const auto at = text.find(mark);
  if (at == std::string_view::npos) return std::nullopt;
  const auto end = text.find('\n', at + 1);
  if (end == std::string_view::npos) return std::nullopt;
  std::istringstream words(std::string(text.substr(at + mark.size(), end - at - mark.size())));
  Look look;
  std::string link, clock;
  for (std::string* field : {&look.rank_sha256, &link, &clock, &look.hostname, &look.machine}) std::getline(words, *field, ' ');
  look.linked = link == "yes";
  char* stop = nullptr;
  const double value = std::strtod(clock.c_str(), &stop);
  if (!clock.empty() && *stop == '\0' && value > 0) look.clock_unix_s = value;
  return look;
}

}  // namespace fabricgate::bootstrap
