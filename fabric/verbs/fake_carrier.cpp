#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "fabric/verbs/fake_objects.hpp"

namespace fabricgate::fabric::fake {

bool fails(VerbsCall call) {
  const auto found = fake_verbs().fail.find(call);
  if (found == fake_verbs().fail.end()) return false;
  errno = found->second;
  return true;
}

int misuse(const std::string& what, int code) {
  if (fake_verbs().misuse++ == 0) fake_verbs().misused = what;
  return code;
}

namespace {

void push(FakeCq& cq, const ibv_wc& wc, std::uint64_t retires) {
  if (cq.entries.size() >= static_cast<std::size_t>(cq.cqe)) misuse("completion queue overrun", 0);
  cq.entries.emplace_back(wc, retires);
}

ibv_wc completion(const FakeQp& qp, std::uint64_t id, ibv_wc_status status) {
  ibv_wc wc{};
  wc.wr_id = id;
  wc.status = status;
  wc.qp_num = qp.qp_num;
  wc.vendor_err = status == IBV_WC_SUCCESS ? 0 : 0x80u + static_cast<unsigned>(status);
  return wc;
}

/// The rest of both queues is flushed.
void break_queue_pair(FakeQp& qp) {
  qp.state = IBV_QPS_ERR;
  for (const auto& request : qp.sends) push(qp.send_queue(), completion(qp, request.wr.wr_id, IBV_WC_WR_FLUSH_ERR), 1);
  for (const auto& wr : qp.receives) push(qp.receive_queue(), completion(qp, wr.wr_id, IBV_WC_WR_FLUSH_ERR), 0);
  qp.sends.clear();
  qp.receives.clear();
  qp.receive_sges.clear();
}

bool covers(std::uint32_t key, std::uint64_t address, std::size_t bytes, bool remote) {
  const auto found = regions.find(key);
  if (found == regions.end() || (remote && found->second->rkey != key)) return false;
  const auto begin = reinterpret_cast<std::uint64_t>(found->second->addr);
  return address >= begin && address + bytes <= begin + found->second->length;
}

bool takes_receive(const Request& request) {
  return request.wr.opcode == IBV_WR_SEND || request.wr.opcode == IBV_WR_SEND_WITH_IMM ||
         request.wr.opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}

bool is_send(const Request& request) {
  return request.wr.opcode == IBV_WR_SEND || request.wr.opcode == IBV_WR_SEND_WITH_IMM;
}

void* pointer(std::uint64_t address) {
  return reinterpret_cast<void*>(address);
}

/// The last byte last, as an adapter writes it: the engine polls it.
void write(std::uint64_t address, const std::vector<std::byte>& data) {
  auto* const to = static_cast<std::byte*>(pointer(address));
  std::memcpy(to, data.data(), data.size() - 1);
  std::atomic_ref<std::byte>(to[data.size() - 1]).store(data.back(), std::memory_order_release);
}

/// Into the peer's next receive.
ibv_wc_status deliver(const Request& request, FakeQp& peer, const std::byte* data) {
  const ibv_recv_wr wr = peer.receives.front();
  const ibv_sge sge = peer.receive_sges.front();
  peer.receives.pop_front();
  peer.receive_sges.pop_front();
  ibv_wc wc = completion(peer, wr.wr_id, IBV_WC_SUCCESS);
  wc.byte_len = request.sge.length;
  if (request.wr.opcode != IBV_WR_SEND) {
    wc.wc_flags = IBV_WC_WITH_IMM;
    wc.imm_data = request.wr.imm_data;
  }
  if (is_send(request) && sge.length < request.sge.length) {
    wc.status = IBV_WC_LOC_LEN_ERR;
    push(peer.receive_queue(), wc, 0);
    break_queue_pair(peer);
    return IBV_WC_REM_INV_REQ_ERR;
  }
  if (is_send(request)) std::memcpy(pointer(sge.addr), data, request.sge.length);
  push(peer.receive_queue(), wc, 0);
  return IBV_WC_SUCCESS;
}

ibv_wc_status carry(const Request& request, FakeQp& qp, FakeQp& peer) {
  const std::size_t bytes = request.sge.length;
  const bool in_line = (request.wr.send_flags & IBV_SEND_INLINE) != 0, reads = request.wr.opcode == IBV_WR_RDMA_READ;
  if (!in_line && !covers(request.sge.lkey, request.sge.addr, bytes, false)) return IBV_WC_LOC_PROT_ERR;
  const auto& rdma = request.wr.wr.rdma;
  if (!is_send(request) && !covers(rdma.rkey, rdma.remote_addr, bytes, true)) return IBV_WC_REM_ACCESS_ERR;
  const auto* from = in_line ? request.in_line.data()
                             : static_cast<const std::byte*>(pointer(reads ? rdma.remote_addr : request.sge.addr));
  std::vector<std::byte> data(from, from + bytes);
  FakeVerbs& fake = fake_verbs();
  const FakeMessage message{qp.context, request.wr.opcode, data.data(), bytes, fake.messages++};
  if (const auto status = fake.on_message ? fake.on_message(message) : IBV_WC_SUCCESS; status != IBV_WC_SUCCESS)
    return status;
  if (!is_send(request)) write(reads ? request.sge.addr : rdma.remote_addr, data);
  return takes_receive(request) ? deliver(request, peer, data.data()) : IBV_WC_SUCCESS;
}

/// Sends what can be sent; a receiver that is not ready is waited for.
void move(FakeQp& qp) {
  while (qp.state == IBV_QPS_RTS && !qp.sends.empty()) {
    const auto found = qps.find(qp.peer);
    FakeQp* const peer = found == qps.end() ? nullptr : found->second;
    const bool there = peer != nullptr && (peer->state == IBV_QPS_RTR || peer->state == IBV_QPS_RTS);
    if (there && takes_receive(qp.sends.front()) && peer->receives.empty()) return;
    const Request request = qp.sends.front();
    qp.sends.pop_front();
    const ibv_wc_status status = there ? carry(request, qp, *peer) : IBV_WC_RETRY_EXC_ERR;
    ++qp.unsignaled;
    if (status == IBV_WC_SUCCESS && (request.wr.send_flags & IBV_SEND_SIGNALED) == 0) continue;
    push(qp.send_queue(), completion(qp, request.wr.wr_id, status), qp.unsignaled);
    qp.unsignaled = 0;
    if (status != IBV_WC_SUCCESS) break_queue_pair(qp);
  }
}

}  // namespace

int post_send(ibv_qp* base, ibv_send_wr* wr, ibv_send_wr** bad) {
  const std::lock_guard lock(mutex);
  auto& qp = static_cast<FakeQp&>(*base);
  if (fails(VerbsCall::post_send)) return errno;
  ++fake_verbs().posts;
  for (; wr != nullptr; wr = wr->next) {
    *bad = wr;
    const bool in_line = (wr->send_flags & IBV_SEND_INLINE) != 0;
    if (++qp.unretired > qp.max_send) return misuse("send queue overrun", ENOMEM);
    if (in_line && wr->sg_list->length > qp.most_inline) return misuse("more inline than allowed", ENOMEM);
    Request request{*wr, {}, *wr->sg_list};
    const auto* data = static_cast<const std::byte*>(pointer(wr->sg_list->addr));
    if (in_line) request.in_line.assign(data, data + wr->sg_list->length);
    qp.sends.push_back(std::move(request));
  }
  if (qp.state == IBV_QPS_ERR) break_queue_pair(qp);
  move(qp);
  return 0;
}

int post_receive(ibv_qp* base, ibv_recv_wr* wr, ibv_recv_wr** bad) {
  const std::lock_guard lock(mutex);
  auto& qp = static_cast<FakeQp&>(*base);
  if (fails(VerbsCall::post_recv)) return errno;
  for (; wr != nullptr; wr = wr->next) {
    *bad = wr;
    if (qp.receives.size() >= qp.max_receive) return misuse("receive queue overrun", ENOMEM);
    qp.receives.push_back(*wr);
    qp.receive_sges.push_back(*wr->sg_list);
  }
  return 0;
}

int poll(ibv_cq* base, int most, ibv_wc* wc) {
  const std::lock_guard lock(mutex);
  auto& cq = static_cast<FakeCq&>(*base);
  for (auto& [number, qp] : qps)
    if (qp->send_cq == base) move(*qp);
  int count = 0;
  for (; count < most && !cq.entries.empty(); ++count) {
    wc[count] = cq.entries.front().first;
    if (const auto found = qps.find(wc[count].qp_num); found != qps.end())
      found->second->unretired -= std::min(found->second->unretired, cq.entries.front().second);
    cq.entries.pop_front();
    ++fake_verbs().completions;
  }
  return count;
}

}  // namespace fabricgate::fabric::fake
