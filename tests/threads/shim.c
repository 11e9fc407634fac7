/* SPDX-License-Identifier: MIT */
/*
 * The WDDM shim under Microsoft's threading model. Threads 0 and 1 call the GPU scheduler class, one at a time, and
 * recovery, alone; threads 2 and 3 call functions of level zero; the interrupt routine and the DPC come at any time. The
 * judge is the OS: each fence is reported once, in the order of its node, and none after it was aborted.
 */
#include "tests/threads/shim.h"

#include <string.h>

#include "hal/engine/packets.h"
#include "patchbay/render.h"
#include "tests/threads/card.h"
#include "tests/threads/fibers.h"

#define NODES         2u
#define ENTRIES       16u
#define FENCES        64u /**< of a node in a schedule */
#define CALLS         10u
#define SYSTEM_BYTES  0x40000u
#define SYSTEM_OS     UINT64_C(0x10000000)
#define SYSTEM_GPU    UINT64_C(0x40000000)
#define PATIENCE_US   1000000u
#define STAGING_WORDS 256u
#define LISTS         8u
#define BUSY_MICROS   60u

/** What the OS knows of a node: under the interrupt's lock, as far as notifications write it. */
struct ledger {
	uint32_t submitted;      /**< packets handed to SubmitCommand */
	uint32_t last;           /**< fence of the last packet that completed or was aborted; 0: none */
	uint32_t ended;          /**< packets that completed, were recalled or aborted */
	uint32_t preemptions;    /**< that were asked for */
	uint32_t answered;       /**< that were answered */
	uint32_t fences[FENCES]; /**< by packet */
	struct pb_wddm_context *of[FENCES]; /**< by packet */
};

static struct {
	struct pb_fiber_lock adapter, rings, scheduler, interrupt;
	struct pb_channel_locks locks;
	struct pb_channel channel, admin;
	struct pb_segment system;
	struct pb_memory buffer;
	struct pb_wddm_adapter shim;
	struct pb_wddm_context contexts[PB_FIBERS]; /**< those of threads 2 and 3 come and go */
	uint64_t staging[PB_FIBERS][STAGING_WORDS];
	struct ledger nodes[NODES];
	uint64_t private_data[STAGING_WORDS]; /**< as Render leaves it; constant */
	uint32_t private_bytes;
	bool ends; /**< in this schedule an impossible operation may end the adapter: then no fence is reported */
	const char *removed;
} world;

/** The DPC that is asked for. Any level may ask: an atomic word. */
static uint32_t dpc_wanted;

static const struct pb_fiber_lock_row locks[] = {
	{"adapter", &world.adapter, PB_FIBER_OUTER},
	{"rings", &world.rings, PB_FIBER_SHORT},
	{"scheduler", &world.scheduler, PB_FIBER_MUTEX},
	{"interrupt", &world.interrupt, PB_FIBER_SHORT},
};

#define LOCKS (sizeof(locks) / sizeof(locks[0]))

bool pb_shim_remove(const char *name)
{
	world.removed = name;
	return pb_fiber_locks_have(locks, LOCKS, name);
}

/* ---- the OS ---- */

static void completed(struct ledger *ledger, uint32_t node, uint32_t fence)
{
	if (ledger->ended == ledger->submitted || ledger->fences[ledger->ended] != fence)
		pb_fibers_fail("node %u: fence %u completes, %u of %u have ended", node, fence, ledger->ended,
			       ledger->submitted);
	ledger->ended++;
	ledger->last = fence;
}

/** What was submitted before the request and has not completed is recalled. */
static void preempted(struct ledger *ledger, uint32_t node,
		      const struct pb_dxgkargcb_notify_interrupt_data *data)
{
	const uint32_t last = data->DmaPreempted.LastCompletedFenceId;

	if (data->DmaPreempted.PreemptionFenceId != ledger->preemptions ||
	    ledger->answered == ledger->preemptions)
		pb_fibers_fail("node %u: preemption %u is answered", node,
			       data->DmaPreempted.PreemptionFenceId);
	if (ledger->last != 0 && last != ledger->last)
		pb_fibers_fail("node %u: fence %u was the last to complete", node, last);
	ledger->answered++;
	ledger->ended = world.shim.nodes[node].reported;
}

/** DxgkCbNotifyInterrupt, as DxgkCbSynchronizeExecution calls it. */
static void notify_interrupt(void *context, const struct pb_dxgkargcb_notify_interrupt_data *data)
{
	const uint32_t completion = data->InterruptType == PB_DXGK_INTERRUPT_DMA_COMPLETED;
	const uint32_t node = completion ? data->DmaCompleted.NodeOrdinal : data->DmaPreempted.NodeOrdinal;

	(void)context;
	pb_fiber_take(&world.interrupt);
	if (completion)
		completed(&world.nodes[node], node, data->DmaCompleted.SubmissionFenceId);
	else
		preempted(&world.nodes[node], node, data);
	pb_fiber_give(&world.interrupt);
}

static void queue_dpc(void *context)
{
	(void)context;
	__atomic_store_n(&dpc_wanted, 1, __ATOMIC_RELAXED);
}

static void notify_dpc(void *context)
{
	(void)context;
}

/** Reads the ledger as the OS does: in step with notifications. */
static struct ledger look(uint32_t node)
{
	struct ledger ledger;

	pb_fiber_take(&world.interrupt);
	ledger = world.nodes[node];
	pb_fiber_give(&world.interrupt);
	return ledger;
}

/* ---- GPU scheduler class ---- */

static void submit(uint32_t self, uint32_t node)
{
	struct pb_wddm_context *context = &world.contexts[pb_fiber_choose(2)];
	const struct ledger now = look(node);
	const uint32_t bytes = pb_fiber_choose(2) * PB_PACKET_BUSY_WORDS * 4u;
	struct pb_dxgkarg_submitcommand submit = {
		.hContext = context,
		.DmaBufferPhysicalAddress = world.buffer.os_address,
		.DmaBufferSize = PB_PAGE_BYTES,
		.DmaBufferSubmissionEndOffset = bytes,
		.pDmaBufferPrivateData = world.private_data,
		.DmaBufferPrivateDataSize = sizeof(world.private_data),
		.DmaBufferPrivateDataSubmissionEndOffset = world.private_bytes,
		.SubmissionFenceId = now.submitted + 1u,
		.NodeOrdinal = node,
	};

	(void)self;
	node = context->node;
	if (node != submit.NodeOrdinal || now.submitted == FENCES || now.submitted - now.ended >= ENTRIES ||
	    now.answered != now.preemptions)
		return;
	pb_fiber_take(&world.interrupt);
	world.nodes[node].fences[now.submitted] = submit.SubmissionFenceId;
	world.nodes[node].of[now.submitted] = context;
	world.nodes[node].submitted++;
	pb_fiber_give(&world.interrupt);
	(void)pb_wddm_submit_command(&world.shim, &submit);
}

static void preempt(uint32_t self, uint32_t node)
{
	const struct ledger now = look(node);
	const struct pb_dxgkarg_preemptcommand preempt = {.PreemptionFenceId = now.preemptions + 1u,
							  .NodeOrdinal = node};

	(void)self;
	if (now.answered != now.preemptions)
		return;
	pb_fiber_take(&world.interrupt);
	world.nodes[node].preemptions++;
	pb_fiber_give(&world.interrupt);
	(void)pb_wddm_preempt_command(&world.shim, &preempt);
}

static void status(uint32_t self, uint32_t node)
{
	struct pb_dxgkarg_queryenginestatus query = {.NodeOrdinal = node};

	(void)self;
	(void)pb_wddm_query_engine_status(&world.shim, &query);
}

/** What a reset leaves: all packets have ended, and no preemption is asked for. */
static void forget(uint32_t node)
{
	pb_fiber_take(&world.interrupt);
	world.nodes[node].ended = world.nodes[node].submitted;
	world.nodes[node].answered = world.nodes[node].preemptions;
	world.nodes[node].last = 0; /* any fence from here on */
	pb_fiber_give(&world.interrupt);
}

static void reset_engine(uint32_t self, uint32_t node)
{
	struct pb_dxgkarg_resetengine reset = {.NodeOrdinal = node};
	const struct ledger before = look(node);

	(void)self;
	if (pb_wddm_reset_engine(&world.shim, &reset) != PB_STATUS_SUCCESS) {
		if (!world.ends)
			pb_fibers_fail("node %u is not reset", node);
		return;
	}
	if ((before.last != 0 && reset.LastAbortedFenceId < before.last) ||
	    reset.LastAbortedFenceId > before.submitted)
		pb_fibers_fail("node %u: the last aborted fence is %u", node, reset.LastAbortedFenceId);
	forget(node);
}

/** Under the scheduler's lock no other function of the scheduler or of recovery runs. */
static void reset_adapter(uint32_t self, uint32_t node)
{
	(void)self;
	(void)node;
	if (pb_wddm_reset_from_timeout(&world.shim) != PB_STATUS_SUCCESS) {
		if (!world.ends)
			pb_fibers_fail("the adapter is not reset");
		return;
	}
	for (uint32_t n = 0; n < NODES; n++)
		forget(n);
	if (pb_wddm_restart_from_timeout(&world.shim) != PB_STATUS_SUCCESS && !world.ends)
		pb_fibers_fail("the adapter does not start again");
}

/** The card cannot do it, and BuildPagingBuffer cannot say so: the adapter ends. */
static void build_impossible(uint32_t self, uint32_t node)
{
	struct pb_dxgkarg_buildpagingbuffer build = {.Operation = PB_DXGK_OPERATION_SPECIAL_LOCK_TRANSFER};

	(void)self;
	(void)node;
	if (world.ends)
		(void)pb_wddm_build_paging_buffer(&world.shim, &build);
}

static void (*const scheduler_calls[])(uint32_t self, uint32_t node) = {
	submit, submit,  submit,  submit, submit,       submit,        submit,
	submit, preempt, preempt, status, reset_engine, reset_adapter, build_impossible,
};

/* ---- level zero ---- */

static void query_fence(uint32_t self, uint32_t node)
{
	struct pb_dxgkarg_querycurrentfence query = {.NodeOrdinal = node};

	(void)self;
	(void)pb_wddm_query_current_fence(&world.shim, &query);
	if (query.CurrentFence != UINT32_MAX && query.CurrentFence > look(node).submitted)
		pb_fibers_fail("node %u: fence %u is the current one", node, query.CurrentFence);
}

static void debug(uint32_t self, uint32_t node)
{
	struct pb_wddm_debug report;
	const struct pb_dxgkarg_collectdbginfo collect = {.pBuffer = &report, .BufferSize = sizeof(report)};

	(void)self;
	(void)pb_wddm_collect_dbg_info(&world.shim, &collect);
	if ((report.error != PB_ERROR_OK && !world.ends) || report.nodes[node].submitted > FENCES)
		pb_fibers_fail("node %u: error %u, %u submitted", node, report.error,
			       report.nodes[node].submitted);
}

/** A context of its own, which renders nothing valid. */
static void use_context(uint32_t self, uint32_t node)
{
	struct pb_wddm_context *context = &world.contexts[self];
	struct pb_dxgk_allocationlist list = {NULL, 0, 0};
	struct pb_dxgkarg_render render = {.pAllocationList = &list, .AllocationListSize = 1};
	enum pb_error error = pb_wddm_context_create(&world.shim, context, node, world.staging[self],
						     sizeof(world.staging[self]));

	if (error != PB_ERROR_OK)
		pb_fibers_fail("a context is created: %s", pb_error_name(error));
	(void)pb_wddm_render(context, &render);
	error = pb_wddm_context_destroy(context);
	if (error != PB_ERROR_OK && error != PB_ERROR_BUSY)
		pb_fibers_fail("a context is destroyed: %s", pb_error_name(error));
}

/** Render looks whether a context that others submit to is lost. */
static void render(uint32_t self, uint32_t node)
{
	struct pb_dxgkarg_present present = {.Flags = 0};

	(void)self;
	(void)pb_wddm_present(&world.contexts[node], &present);
}

static void (*const zero_calls[])(uint32_t self, uint32_t node) = {query_fence, query_fence, debug,
								   debug,       use_context, render};

/* ---- interrupt and DPC ---- */

/** The routine comes at its own level: no lock of the schedule keeps it away. */
static void interrupt(void)
{
	while (pb_fibers_running() > 1) {
		if (pb_threads_interrupt())
			pb_wddm_interrupt_routine(&world.shim);
		if (__atomic_exchange_n(&dpc_wanted, 0, __ATOMIC_RELAXED) != 0)
			pb_wddm_dpc(&world.shim);
		pb_fiber_wait();
	}
}

/* ---- one schedule ---- */

static void run(uint32_t self)
{
	if (self == PB_FIBER_INTERRUPT) {
		interrupt();
		return;
	}
	for (uint32_t i = 0; i < CALLS; i++) {
		const uint32_t node = pb_fiber_choose(NODES);

		if (self >= 2u) {
			zero_calls[pb_fiber_choose(sizeof(zero_calls) / sizeof(zero_calls[0]))](self, node);
			continue;
		}
		pb_fiber_take(&world.scheduler);
		scheduler_calls[pb_fiber_choose(sizeof(scheduler_calls) / sizeof(scheduler_calls[0]))](self,
												       node);
		pb_fiber_give(&world.scheduler);
		pb_fiber_wait();
	}
}

static void must(enum pb_error error, const char *what)
{
	if (error != PB_ERROR_OK)
		pb_fibers_fail("%s: %s", what, pb_error_name(error));
}

static void start_adapter(void)
{
	const struct pb_wddm_config config = {
		.channel = &world.channel,
		.segments = {[PB_SEGMENT_SYSTEM] = &world.system},
		.interface_version = PB_DXGKDDI_WDDM1_3,
		.node_count = NODES,
		.queue_entries = ENTRIES,
		.allocations = LISTS,
		.patches = LISTS,
		.callbacks = {.notify_interrupt = notify_interrupt,
			      .queue_dpc = queue_dpc,
			      .notify_dpc = notify_dpc},
		.lock = &world.adapter.lock,
	};

	must(pb_wddm_start(&world.shim, &config), "start");
	for (uint32_t c = 0; c < NODES; c++)
		must(pb_wddm_context_create(&world.shim, &world.contexts[c], c, world.staging[c],
					    sizeof(world.staging[c])),
		     "context");
}

/** A buffer that takes some time, as Render leaves it. */
static void write_buffer(void)
{
	const uint32_t busy[] = {PB_PACKET(PB_PACKET_BUSY, PB_PACKET_BUSY_WORDS), BUSY_MICROS};
	uint8_t *bytes = (uint8_t *)world.private_data;

	memcpy(world.buffer.bytes_host, busy, sizeof(busy));
	world.private_bytes = (uint32_t)((uint8_t *)pb_wddm_block_start(
						 bytes + sizeof(struct pb_render_record), LISTS, LISTS) -
					 bytes);
}

static void prepare(void)
{
	const struct pb_segment_request system = {PB_SEGMENT_SYSTEM, SYSTEM_OS,    SYSTEM_GPU,
						  SYSTEM_BYTES,      SYSTEM_BYTES, PB_SEGMENT_LINEAR};
	const struct pb_node_request ordered = {.mode = PB_NODE_HOST_ORDERED};
	const char *removed = world.removed;

	memset(&world, 0, sizeof(world));
	world.removed = removed;
	pb_fiber_locks_init(locks, LOCKS, removed);
	/* One spinlock for all short locks of the library, as a Windows driver may have. */
	world.locks = (struct pb_channel_locks){&world.rings.lock, &world.rings.lock, &world.rings.lock};
	pb_threads_card();
	must(pb_channel_attach(&world.admin, pb_threads_link(PB_CHANNEL_ADMIN, NULL), PATIENCE_US), "admin");
	for (uint32_t n = 0; n < NODES; n++)
		must(pb_node_set(&world.admin, n, &ordered), "node");
	must(pb_channel_attach(&world.channel, pb_threads_link(1, &world.locks), PATIENCE_US), "attach");
	must(pb_segment_create(&world.system, &world.channel, &system), "segment");
	must(pb_memory_allocate(&world.system, PB_PAGE_BYTES, PB_PAGE_BYTES, &world.buffer), "buffer");
	write_buffer();
	start_adapter();
}

/** All packets end, and all preemptions are answered. */
static void judge(void)
{
	const uint64_t deadline = world.channel.link->ops->now(world.channel.link) + PATIENCE_US;

	for (uint32_t n = 0; n < NODES;) {
		const struct ledger *ledger = &world.nodes[n];

		if (ledger->ended == ledger->submitted && ledger->answered == ledger->preemptions) {
			n++;
			continue;
		}
		if (world.channel.link->ops->now(world.channel.link) > deadline ||
		    world.shim.error != PB_ERROR_OK)
			pb_fibers_fail("node %u: %u of %u packets end, error %u", n, ledger->ended,
				       ledger->submitted, world.shim.error);
		(void)world.channel.link->ops->wait(world.channel.link, 100);
		pb_wddm_dpc(&world.shim);
	}
}

void pb_shim_schedule(uint64_t seed)
{
	prepare();
	world.ends = seed % 16u == 0;
	pb_fibers_run(seed, run, pb_threads_step);
	if (!world.ends)
		judge();
	must(pb_wddm_stop(&world.shim), "stop");
	(void)pb_channel_detach(&world.channel);
	must(pb_channel_detach(&world.admin), "detach of the admin");
}
