#include "fabric/pairs/localise.hpp"

namespace fabricgate::fabric {

const char* to_string(CulpritKind kind) {
  switch (kind) {
    case CulpritKind::node:
      return "node";
    case CulpritKind::rail:
      return "rail";
    case CulpritKind::direction:
      return "direction";
    case CulpritKind::crossed:
      return "crossed";
    case CulpritKind::duplicate_address:
      return "duplicate_address";
    case CulpritKind::misrouted:
      return "misrouted";
    case CulpritKind::between:
      return "between";
    case CulpritKind::pair:
      return "pair";
    case CulpritKind::fabric:
      return "fabric";
    case CulpritKind::unexplained:
      break;
  }
  return "unexplained";
}

const char* to_string(Way way) {
  return way == Way::both ? "both" : way == Way::tx ? "tx" : "rx";
}

const char* to_string(Effect effect) {
  switch (effect) {
    case Effect::slow:
      return "slow";
    case Effect::unreachable:
      return "unreachable";
    case Effect::down:
      return "down";
    case Effect::mtu:
      return "MTU";
    case Effect::loss:
      return "packet loss";
    case Effect::echo:
      return "no echo is answered, data passes";
    case Effect::unstable:
      return "unstable";
    case Effect::half_duplex:
      return "half duplex";
    case Effect::contention:
      return "slow with others running, good alone";
    case Effect::flows:
      return "TCP connections lost";
    case Effect::flows_blocked:
      return "TCP connections without full-size segments";
    case Effect::flows_late:
      return "TCP connections late";
    case Effect::stall:
      return "falls silent for a while";
    case Effect::flow_slow:
      return "TCP connections far slower than others";
    case Effect::segment:
      return "small TCP segments";
    case Effect::crossed:
      return "crossed";
    case Effect::route:
      return "route";
    case Effect::neighbour:
      return "neighbour entry";
    case Effect::duplicate:
      break;
  }
  return "duplicate";
}

}  // namespace fabricgate::fabric
