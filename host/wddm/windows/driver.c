/* SPDX-License-Identifier: MIT */
/*
 * Each function passes its argument on as it is: layout.c and host/wddm/layout.c compare the WDK's structs and ours with
 * one table.
 */
#include "host/wddm/windows/driver.h"

#include "patchbay/render.h"

/* ---- from the OS ---- */

static NTSTATUS APIENTRY query_adapter_info(CONST HANDLE adapter, CONST DXGKARG_QUERYADAPTERINFO *arguments)
{
	return (NTSTATUS)pb_wddm_query_adapter_info(adapter,
						    (const struct pb_dxgkarg_queryadapterinfo *)arguments);
}

static NTSTATUS APIENTRY describe_allocation(CONST HANDLE adapter, DXGKARG_DESCRIBEALLOCATION *arguments)
{
	(void)adapter;
	return (NTSTATUS)pb_wddm_describe_allocation((struct pb_dxgkarg_describeallocation *)arguments);
}

static NTSTATUS APIENTRY collect_dbg_info(CONST HANDLE adapter, CONST DXGKARG_COLLECTDBGINFO *arguments)
{
	return (NTSTATUS)pb_wddm_collect_dbg_info(adapter,
						  (const struct pb_dxgkarg_collectdbginfo *)arguments);
}

/**
 * pCommand and pPatchLocationListIn lie in memory of the process, which may end during the call: an access then raises an
 * exception. pb_wddm_render() reads that memory before it writes any output, and holds no lock while it reads.
 */
static NTSTATUS APIENTRY render(CONST HANDLE context, DXGKARG_RENDER *arguments)
{
	NTSTATUS status;

	__try {
		status = (NTSTATUS)pb_wddm_render(context, (struct pb_dxgkarg_render *)arguments);
	} __except (EXCEPTION_EXECUTE_HANDLER) {
		status = (NTSTATUS)pb_render_ntstatus(PB_RENDER_INVALID_USER_BUFFER);
	}
	return status;
}

static NTSTATUS APIENTRY present(CONST HANDLE context, DXGKARG_PRESENT *arguments)
{
	return (NTSTATUS)pb_wddm_present(context, (struct pb_dxgkarg_present *)arguments);
}

static NTSTATUS APIENTRY patch(CONST HANDLE adapter, CONST DXGKARG_PATCH *arguments)
{
	return (NTSTATUS)pb_wddm_patch(adapter, (const struct pb_dxgkarg_patch *)arguments);
}

static NTSTATUS APIENTRY submit_command(CONST HANDLE adapter, CONST DXGKARG_SUBMITCOMMAND *arguments)
{
	return (NTSTATUS)pb_wddm_submit_command(adapter, (const struct pb_dxgkarg_submitcommand *)arguments);
}

static NTSTATUS APIENTRY preempt_command(CONST HANDLE adapter, CONST DXGKARG_PREEMPTCOMMAND *arguments)
{
	return (NTSTATUS)pb_wddm_preempt_command(adapter,
						 (const struct pb_dxgkarg_preemptcommand *)arguments);
}

static NTSTATUS APIENTRY build_paging_buffer(CONST HANDLE adapter, DXGKARG_BUILDPAGINGBUFFER *arguments)
{
	return (NTSTATUS)pb_wddm_build_paging_buffer(adapter,
						     (struct pb_dxgkarg_buildpagingbuffer *)arguments);
}

static NTSTATUS APIENTRY query_current_fence(CONST HANDLE adapter, DXGKARG_QUERYCURRENTFENCE *arguments)
{
	return (NTSTATUS)pb_wddm_query_current_fence(adapter,
						     (struct pb_dxgkarg_querycurrentfence *)arguments);
}

static NTSTATUS APIENTRY reset_from_timeout(CONST HANDLE adapter)
{
	return (NTSTATUS)pb_wddm_reset_from_timeout(adapter);
}

static NTSTATUS APIENTRY restart_from_timeout(CONST HANDLE adapter)
{
	return (NTSTATUS)pb_wddm_restart_from_timeout(adapter);
}

#if PB_DDI_VERSION >= PB_DXGKDDI_WIN7
static NTSTATUS APIENTRY render_km(CONST HANDLE context, DXGKARG_RENDER *arguments)
{
	return (NTSTATUS)pb_wddm_render_km(context, (struct pb_dxgkarg_render *)arguments);
}
#endif

#if PB_DDI_VERSION >= PB_DXGKDDI_WIN8
static NTSTATUS APIENTRY query_dependent_engine_group(CONST HANDLE adapter,
						      DXGKARG_QUERYDEPENDENTENGINEGROUP *arguments)
{
	return (NTSTATUS)pb_wddm_query_dependent_engine_group(
		adapter, (struct pb_dxgkarg_querydependentenginegroup *)arguments);
}

static NTSTATUS APIENTRY query_engine_status(CONST HANDLE adapter, DXGKARG_QUERYENGINESTATUS *arguments)
{
	return (NTSTATUS)pb_wddm_query_engine_status(adapter,
						     (struct pb_dxgkarg_queryenginestatus *)arguments);
}

static NTSTATUS APIENTRY reset_engine(CONST HANDLE adapter, DXGKARG_RESETENGINE *arguments)
{
	return (NTSTATUS)pb_wddm_reset_engine(adapter, (struct pb_dxgkarg_resetengine *)arguments);
}
#endif

/** The card's interrupts are messages, which no other device sends. */
static BOOLEAN APIENTRY interrupt_routine(CONST PVOID adapter, ULONG message)
{
	(void)message;
	pb_wddm_interrupt_routine(adapter);
	return TRUE;
}

static VOID APIENTRY dpc_routine(CONST PVOID adapter)
{
	pb_wddm_dpc(adapter);
}

void pb_wddm_windows_functions(DRIVER_INITIALIZATION_DATA *data)
{
	data->Version = DXGKDDI_INTERFACE_VERSION;
	data->DxgkDdiInterruptRoutine = interrupt_routine;
	data->DxgkDdiDpcRoutine = dpc_routine;
	data->DxgkDdiQueryAdapterInfo = query_adapter_info;
	data->DxgkDdiDescribeAllocation = describe_allocation;
	data->DxgkDdiCollectDbgInfo = collect_dbg_info;
	data->DxgkDdiRender = render;
	data->DxgkDdiPresent = present;
	data->DxgkDdiPatch = patch;
	data->DxgkDdiSubmitCommand = submit_command;
	data->DxgkDdiPreemptCommand = preempt_command;
	data->DxgkDdiBuildPagingBuffer = build_paging_buffer;
	data->DxgkDdiQueryCurrentFence = query_current_fence;
	data->DxgkDdiResetFromTimeout = reset_from_timeout;
	data->DxgkDdiRestartFromTimeout = restart_from_timeout;
#if PB_DDI_VERSION >= PB_DXGKDDI_WIN7
	data->DxgkDdiRenderKm = render_km;
#endif
#if PB_DDI_VERSION >= PB_DXGKDDI_WIN8
	data->DxgkDdiQueryDependentEngineGroup = query_dependent_engine_group;
	data->DxgkDdiQueryEngineStatus = query_engine_status;
	data->DxgkDdiResetEngine = reset_engine;
#endif
}

/* ---- to the OS ---- */

/** What is done at the interrupt's own level. */
struct notification {
	DXGKRNL_INTERFACE *os;
	const struct pb_dxgkargcb_notify_interrupt_data *data;
};

static BOOLEAN notify_at_interrupt(PVOID context)
{
	const struct notification *notification = context;
	DXGKRNL_INTERFACE *os = notification->os;

	os->DxgkCbNotifyInterrupt(os->DeviceHandle,
				  (const DXGKARGCB_NOTIFY_INTERRUPT_DATA *)notification->data);
	return TRUE;
}

/** Notifies the OS at the interrupt's level, as DxgkCbNotifyInterrupt requires. The card has one message, number 0. */
static void notify_interrupt(void *context, const struct pb_dxgkargcb_notify_interrupt_data *data)
{
	struct notification notification = {context, data};
	BOOLEAN done = FALSE;

	(void)notification.os->DxgkCbSynchronizeExecution(notification.os->DeviceHandle, notify_at_interrupt,
							  &notification, 0, &done);
}

static void queue_dpc(void *context)
{
	DXGKRNL_INTERFACE *os = context;

	(void)os->DxgkCbQueueDpc(os->DeviceHandle);
}

static void notify_dpc(void *context)
{
	DXGKRNL_INTERFACE *os = context;

	os->DxgkCbNotifyDpc(os->DeviceHandle);
}

/* ---- locks ---- */

static void acquire(struct pb_lock *base)
{
	struct pb_wddm_windows_lock *lock = (struct pb_wddm_windows_lock *)base;
	KIRQL level;

	KeAcquireSpinLock(&lock->spin, &level);
	lock->level = level;
}

static void release(struct pb_lock *base)
{
	struct pb_wddm_windows_lock *lock = (struct pb_wddm_windows_lock *)base;

	KeReleaseSpinLock(&lock->spin, lock->level);
}

void pb_wddm_windows_lock_init(struct pb_wddm_windows_lock *lock)
{
	lock->base.acquire = acquire;
	lock->base.release = release;
	KeInitializeSpinLock(&lock->spin);
}

uint32_t pb_wddm_windows_version(const DXGKRNL_INTERFACE *os)
{
	return os->Version < DXGKDDI_INTERFACE_VERSION ? (uint32_t)os->Version : DXGKDDI_INTERFACE_VERSION;
}

struct pb_wddm_callbacks pb_wddm_windows_callbacks(DXGKRNL_INTERFACE *os)
{
	return (struct pb_wddm_callbacks){
		.notify_interrupt = notify_interrupt,
		.queue_dpc = queue_dpc,
		.notify_dpc = notify_dpc,
		.context = os,
	};
}
