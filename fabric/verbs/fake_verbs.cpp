#include "fabric/verbs/fake_verbs.hpp"

#include <cerrno>
#include <cstring>

#include "fabric/verbs/fake_objects.hpp"

#undef ibv_reg_mr
#undef ibv_query_port

namespace fabricgate::fabric::fake {
namespace {

/// The states in the order in which a queue pair may go through them.
bool may_go(ibv_qp_state from, ibv_qp_state to) {
  if (to == IBV_QPS_RESET || to == IBV_QPS_ERR) return true;
  return (to == IBV_QPS_INIT && from == IBV_QPS_RESET) || (to == IBV_QPS_RTR && from == IBV_QPS_INIT) ||
         (to == IBV_QPS_RTS && from == IBV_QPS_RTR);
}

int destroyed(int& parent_children) {
  --parent_children;
  --fake_verbs().live;
  return 0;
}

}  // namespace
}  // namespace fabricgate::fabric::fake

namespace fabricgate::fabric {

FakeVerbs& fake_verbs() {
  static FakeVerbs fake;
  return fake;
}

void FakeVerbs::reset() {
  *this = {};
  devices = {{.name = "fake0"}, {.name = "fake1"}};
}

}  // namespace fabricgate::fabric

using namespace fabricgate::fabric;
using namespace fabricgate::fabric::fake;

extern "C" {

ibv_device** ibv_get_device_list(int* count) {
  const std::lock_guard lock(mutex);
  if (fails(VerbsCall::get_device_list)) return nullptr;
  const auto& devices = fake_verbs().devices;
  auto** list = new ibv_device*[devices.size() + 1];
  for (std::size_t i = 0; i < devices.size(); ++i) {
    list[i] = new ibv_device{};
    std::strncpy(list[i]->name, devices[i].name.c_str(), sizeof list[i]->name - 1);
    std::strcpy(list[i]->ibdev_path, "/nowhere");
  }
  list[devices.size()] = nullptr;
  *count = static_cast<int>(devices.size());
  return list;
}

void ibv_free_device_list(ibv_device** list) {
  for (ibv_device** one = list; *one != nullptr; ++one) delete *one;
  delete[] list;
}

const char* ibv_get_device_name(ibv_device* device) {
  return device->name;
}

ibv_context* ibv_open_device(ibv_device* device) {
  const std::lock_guard lock(mutex);
  if (fails(VerbsCall::open_device)) return nullptr;
  auto* context = new FakeContext{};
  for (auto& one : fake_verbs().devices)
    if (one.name == device->name) context->fake = &one;
  context->ops.post_send = post_send;
  context->ops.post_recv = post_receive;
  context->ops.poll_cq = poll;
  ++fake_verbs().live;
  return context;
}

int ibv_close_device(ibv_context* base) {
  const std::lock_guard lock(mutex);
  auto* context = static_cast<FakeContext*>(base);
  if (context->children > 0) return misuse("context closed before what was made from it", EBUSY);
  --fake_verbs().live;
  delete context;
  return 0;
}

int ibv_query_device(ibv_context*, ibv_device_attr* attributes) {
  if (fails(VerbsCall::query_device)) return errno;
  *attributes = {};
  attributes->max_qp_rd_atom = attributes->max_qp_init_rd_atom = 16;
  return 0;
}

int ibv_query_port(ibv_context* context, std::uint8_t port, _compat_ibv_port_attr* compat) {
  if (fails(VerbsCall::query_port)) return errno;
  if (port != 1) return EINVAL;
  auto* attributes = reinterpret_cast<ibv_port_attr*>(compat);  // as the header passes it
  const FakeDevice& fake = *static_cast<FakeContext*>(context)->fake;
  attributes->state = fake.state;
  attributes->active_mtu = fake.mtu;
  attributes->link_layer = fake.link_layer;
  attributes->lid = fake.link_layer == IBV_LINK_LAYER_INFINIBAND ? 7 : 0;
  return 0;
}

int ibv_query_gid(ibv_context* context, std::uint8_t, int index, ibv_gid* gid) {
  if (fails(VerbsCall::query_gid)) return -1;
  *gid = {};
  if (index == static_cast<FakeContext*>(context)->fake->gid_index) gid->raw[10] = gid->raw[11] = 0xff;
  return 0;
}

ibv_pd* ibv_alloc_pd(ibv_context* context) {
  const std::lock_guard lock(mutex);
  if (fails(VerbsCall::alloc_pd)) return nullptr;
  auto* pd = new FakePd{};
  pd->context = context;
  ++static_cast<FakeContext*>(context)->children;
  ++fake_verbs().live;
  return pd;
}

int ibv_dealloc_pd(ibv_pd* base) {
  const std::lock_guard lock(mutex);
  auto* pd = static_cast<FakePd*>(base);
  if (pd->children > 0) return misuse("protection domain freed before what was made from it", EBUSY);
  destroyed(static_cast<FakeContext*>(pd->context)->children);
  delete pd;
  return 0;
}

ibv_mr* ibv_reg_mr_iova2(ibv_pd* pd, void* address, std::size_t bytes, std::uint64_t, unsigned) {
  const std::lock_guard lock(mutex);
  if (fails(VerbsCall::reg_mr)) return nullptr;
  auto* mr = new ibv_mr{};
  mr->context = pd->context;
  mr->pd = pd;
  mr->addr = address;
  mr->length = bytes;
  mr->lkey = ++last_number;
  mr->rkey = ++last_number;
  regions[mr->lkey] = regions[mr->rkey] = mr;
  ++static_cast<FakePd*>(pd)->children;
  ++fake_verbs().live;
  return mr;
}

ibv_mr* ibv_reg_mr(ibv_pd* pd, void* address, std::size_t bytes, int) {
  return ibv_reg_mr_iova2(pd, address, bytes, 0, 0);
}

int ibv_dereg_mr(ibv_mr* mr) {
  const std::lock_guard lock(mutex);
  regions.erase(mr->lkey);
  regions.erase(mr->rkey);
  destroyed(static_cast<FakePd*>(mr->pd)->children);
  delete mr;
  return 0;
}

ibv_cq* ibv_create_cq(ibv_context* context, int entries, void*, ibv_comp_channel*, int) {
  const std::lock_guard lock(mutex);
  if (fails(VerbsCall::create_cq)) return nullptr;
  auto* cq = new FakeCq{};
  cq->context = context;
  cq->cqe = entries;
  ++static_cast<FakeContext*>(context)->children;
  ++fake_verbs().live;
  return cq;
}

int ibv_destroy_cq(ibv_cq* base) {
  const std::lock_guard lock(mutex);
  auto* cq = static_cast<FakeCq*>(base);
  if (cq->users > 0) return misuse("completion queue destroyed before its queue pairs", EBUSY);
  destroyed(static_cast<FakeContext*>(cq->context)->children);
  delete cq;
  return 0;
}

ibv_qp* ibv_create_qp(ibv_pd* pd, ibv_qp_init_attr* wanted) {
  const std::lock_guard lock(mutex);
  if (fails(VerbsCall::create_qp)) return nullptr;
  auto* qp = new FakeQp{};
  qp->context = pd->context;
  qp->pd = pd;
  qp->send_cq = wanted->send_cq;
  qp->recv_cq = wanted->recv_cq;
  qp->max_send = wanted->cap.max_send_wr;
  qp->max_receive = wanted->cap.max_recv_wr;
  qp->most_inline = wanted->cap.max_inline_data;
  qp->qp_num = ++last_number;
  qp->state = IBV_QPS_RESET;
  if (qp->most_inline > static_cast<FakeContext*>(pd->context)->fake->most_inline) {
    delete qp;
    errno = EINVAL;
    return nullptr;
  }
  qps[qp->qp_num] = qp;
  ++qp->send_queue().users;
  ++qp->receive_queue().users;
  ++static_cast<FakePd*>(pd)->children;
  ++fake_verbs().live;
  return qp;
}

int ibv_destroy_qp(ibv_qp* base) {
  const std::lock_guard lock(mutex);
  auto* qp = static_cast<FakeQp*>(base);
  qps.erase(qp->qp_num);
  --qp->send_queue().users;
  --qp->receive_queue().users;
  destroyed(static_cast<FakePd*>(qp->pd)->children);
  delete qp;
  return 0;
}

int ibv_modify_qp(ibv_qp* base, ibv_qp_attr* attributes, int) {
  const std::lock_guard lock(mutex);
  auto& qp = static_cast<FakeQp&>(*base);
  const std::map<ibv_qp_state, VerbsCall> calls{{IBV_QPS_RESET, VerbsCall::to_reset},
                                                {IBV_QPS_INIT, VerbsCall::to_init},
                                                {IBV_QPS_RTR, VerbsCall::to_rtr},
                                                {IBV_QPS_RTS, VerbsCall::to_rts}};
  if (fails(calls.at(attributes->qp_state))) return errno;
  if (!may_go(qp.state, attributes->qp_state)) return misuse("transition out of order", EINVAL);
  qp.state = attributes->qp_state;
  if (qp.state == IBV_QPS_RTR) qp.peer = attributes->dest_qp_num;
  if (qp.state != IBV_QPS_RESET) return 0;
  qp.sends.clear();
  qp.receives.clear();
  qp.receive_sges.clear();
  qp.unretired = qp.unsignaled = 0;
  return 0;
}

const char* ibv_wc_status_str(ibv_wc_status status) {
  return status == IBV_WC_SUCCESS ? "success" : "an error";
}

}  // extern "C"
