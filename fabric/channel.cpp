#include "fabric/channel.hpp"

namespace fabricgate::fabric {

Transfer& Channel::transfer() {
  return keep_->transfers.emplace_back();
}

std::byte* Channel::memory(std::size_t bytes) {
  return keep_->memory.emplace_back(std::make_unique<std::byte[]>(bytes)).get();
}

}  // namespace fabricgate::fabric
