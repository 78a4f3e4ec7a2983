#pragma once
/// UCP on host memory over one interface. A UcxRail is one end: a context bound to the interface, a worker, and its
/// address, which travels to the peer over the Rendezvous; connect() makes a Channel to a peer's address.
///
/// Only API that UCX 1.12 (Ubuntu 22.04) has. The transport is chosen in the configuration object, never by
/// environment.
#include <ucp/api/ucp.h>

#include <memory>
#include <string>
#include <vector>

#include "fabric/channel.hpp"
#include "results/deadline.hpp"

namespace fabricgate::fabric {

class UcxChannel;

/// Used by one thread at a time. Channels must be destroyed before their rail.
class UcxRail {
 public:
  /// Kind unavailable when UCX finds no usable TCP transport on `netdev` (absent, down, without address).
  static Result<std::unique_ptr<UcxRail>> open(const std::string& netdev);
  ~UcxRail();
  UcxRail(const UcxRail&) = delete;
  UcxRail& operator=(const UcxRail&) = delete;

  /// Opaque bytes.
  const std::string& address() const { return address_; }

  /// Numbers tell senders apart on one worker: `self` marks what this end sends, `peer` what it expects.
  /// The connection itself is made by the first message.
  Result<std::unique_ptr<UcxChannel>> connect(const std::string& peer_address, unsigned self, unsigned peer);

  /// Moves all channels of the rail on.
  Status progress(Patience patience);

 private:
  friend class UcxChannel;
  UcxRail() = default;
  Status start(const std::string& netdev);
  Status start_worker();

  ucp_context_h context_ = nullptr;
  ucp_worker_h worker_ = nullptr;
  int wake_fd_ = -1;
  std::string address_, netdev_;
  std::vector<std::shared_ptr<void>> kept_;  ///< memory of closed channels, freed after the worker
};

class UcxChannel final : public Channel {
 public:
  /// Closes by force, within a second or two whatever the peer does.
  ~UcxChannel() override;

  Status send(Lane lane, const void* data, std::size_t bytes, Transfer& transfer) override;
  Status receive(Lane lane, void* data, std::size_t bytes, Transfer& transfer) override;
  Status progress(Patience patience) override;

 private:
  friend class UcxRail;
  UcxChannel(UcxRail& rail, unsigned self, unsigned peer) : rail_(rail), self_(self), peer_(peer) {}
  static void on_error(void* channel, ucp_ep_h endpoint, ucs_status_t status);
  Status state() const;
  bool any_busy() const;

  UcxRail& rail_;
  ucp_ep_h endpoint_ = nullptr;
  const unsigned self_, peer_;
  ucs_status_t failed_ = UCS_OK;
  std::string failure_;
};

}  // namespace fabricgate::fabric
