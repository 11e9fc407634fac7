/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A machine: the shim on a simulated card, under an OS that checks what the
 * driver does. The parts have one state each:
 *
 *   garbage.h   chance, and the contents of what a driver may not rely on
 *   map.h       where the CPU sees DMA buffers
 *   memory.h    physical memory and what it must hold
 *   vidmm.c     residency, eviction, splits
 *   lists.c     allocation and patch lists
 *   paging.c    paging buffers
 *   vidsch.h    queues, fences, preemption, timeouts
 *   client.c    processes and their contexts
 *   call.h      calls of Render and Present
 *   drawing.c   presents, and drawing commands of the kernel
 *   judge.c     what memory must hold
 *   power.c     power states
 *   faults.c    engines that break, debug reports
 *   driver.c    the driver's functions; a puppet replaces some of them
 *
 * A machine lives for OS_LIFE schedules. A schedule depends on its number and on the life's schedules before it.
 */
#ifndef PB_TESTS_WDDM_OS_MACHINE_H
#define PB_TESTS_WDDM_OS_MACHINE_H

#include "patchbay/patchbay.h"
#include "patchbay/render.h"
#include "patchbay/wddm/ddi_gdi.h"
#include "patchbay/wddm/wddm.h"
#include "qemu/engine.h"
#include "qemu/sim.h"
#include "tests/wddm/os/garbage.h"
#include "tests/wddm/os/map.h"
#include "tests/wddm/os/memory.h"
#include "tests/wddm/os/vidsch.h"

#define OS_PAGING_BUFFERS 24u /**< that must be free before anything is paged in */
#define OS_BETWEEN_US     60u /**< device time between the halves of a reset of the adapter */
#define OS_LIFE           8u  /**< schedules of one machine */

#define OS_PROCESSES   5u
#define OS_CONTEXTS    3u                    /**< of each process, at most */
#define OS_PRIORITIES  3u                    /**< of contexts */
#define OS_PARTS_MAX   4u                    /**< rectangles of a drawing */
#define OS_ALLOCATIONS 4u                    /**< of each process */
#define OS_LIST        (OS_ALLOCATIONS + 1u) /**< allocation list: NULL, then these */
#define OS_PAGES_MAX   3u                    /**< of an allocation */
#define OS_PITCH       64u                   /**< of each, as a surface */
#define OS_BUFFERS     64u
#define OS_PATCHES     48u
#define OS_PRIVATE     1800u /**< private data of a DMA buffer */
#define OS_COMMANDS    72u   /**< words of a command buffer */
#define OS_FILL_MAX    32u   /**< words of a fill or a copy */
#define OS_OPERATIONS  512u  /**< paging operations under way */

/* Segments. 24 is an id that the misprinted mask would lose; its GPU addresses cross 4 GiB. */
#define OS_VIDEO        1u
#define OS_APERTURE     5u
#define OS_EDGE         24u
#define OS_SYSTEM_OS    UINT64_C(0x10000000)
#define OS_SYSTEM_GPU   UINT64_C(0x40000000)
#define OS_SYSTEM_BYTES 0x200000u
#define OS_VIDEO_OS     UINT64_C(0)
#define OS_VIDEO_GPU    UINT64_C(0x180000000)
#define OS_EDGE_OS      UINT64_C(0x800000000)
#define OS_EDGE_GPU     UINT64_C(0xffffc000)
#define OS_APERTURE_OS  UINT64_C(0x4000000)
#define OS_APERTURE_GPU UINT64_C(0x700000000)

/** An allocation: VidMm knows where it is, its process what is in it. */
struct os_allocation {
	struct pb_wddm_allocation object; /**< object of the OS's handle */
	uint32_t pages;
	uint32_t frames[OS_PAGES_MAX];                /**< cells of its system memory */
	uint32_t segment;                             /**< 0: paged out */
	uint32_t first;                               /**< page in the segment */
	uint32_t moving;                              /**< paging buffers under way that move it */
	uint32_t in_flight[OS_NODES];                 /**< submitted packets that name it */
	uint32_t words[OS_PAGES_MAX * OS_PAGE_WORDS]; /**< what it must hold */
};

struct os_process;

struct os_context {
	struct pb_wddm_context shim;
	struct os_process *process;
	uint64_t staging[512];
	uint32_t priority; /**< below OS_PRIORITIES; the greatest one first */
	bool faulted;      /**< one of its packets has faulted and ended: Render must refuse */
};

/** A process has one device: its contexts share the allocations. */
struct os_process {
	bool alive;
	struct os_context contexts[OS_CONTEXTS];
	uint32_t context_count;
	struct os_allocation allocations[OS_ALLOCATIONS];
	uint32_t queued;      /**< packets queued since it began: the next one's number */
	uint32_t outstanding; /**< packets that have not ended */
	uint32_t doomed;      /**< submitted packets that fault */
	bool tainted;         /**< what it must hold is not known any more */
};

/** What is wrong with a packet. */
enum os_wrong { OS_RIGHT, OS_WRONG_LIST, OS_WRONG_PACKET, OS_WRONG_ABSENT, OS_WRONGS };

/** One DMA buffer with its private data, and what Render returned for it. */
struct os_buffer {
	struct pb_memory memory;
	struct os_process *process; /**< NULL: a paging buffer */
	struct os_context *context; /**< of the process */
	uint64_t private_data[OS_PRIVATE / 8 + 16];
	uint32_t private_size;
	uint32_t private_end;
	struct pb_patch_location patches[OS_PATCHES];
	uint32_t patch_count;
	uint32_t bytes;
	struct pb_dxgk_allocationlist rendered[OS_LIST]; /**< allocation list at Render */
	uint32_t patched_until;                          /**< end of what Patch was called for since Render */
	uint32_t commands[OS_COMMANDS]; /**< the commands that it holds, as the process wrote them */
	uint32_t command_words;
	bool drawing;    /**< the commands are a drawing, of Present or RenderKm */
	bool unfinished; /**< another buffer ends the drawing */
	enum os_wrong wrong;
	bool faults;    /**< a command faults or hangs */
	bool reserved;  /**< handed out, not queued yet */
	uint32_t parts; /**< packets that have not ended */
};

/** A paging operation: what it does when its buffer has completed. */
struct os_operation {
	enum { OS_COPY, OS_FILL, OS_MAP, OS_UNMAP } kind;
	struct os_allocation *allocation;
	uint32_t segment;
	uint32_t first;
	uint32_t pages;
	bool in; /**< of COPY: to the segment */
	uint32_t value;
};

/* Words of os_packet.note. */
#define OS_NOTE_PLACES           0u               /**< place of each allocation when it was submitted */
#define OS_NOTE_NEEDED           (OS_ALLOCATIONS) /**< mask of the allocations that it names */
#define OS_NOTE_OPERATION        (OS_ALLOCATIONS + 1u)
#define OS_NOTE_COUNT            (OS_ALLOCATIONS + 2u)
#define OS_NOTE_DOOMED           (OS_ALLOCATIONS + 1u) /**< of a packet that is not paging: it faults */
#define OS_NOTE_NUMBER           (OS_ALLOCATIONS + 3u) /**< among the packets of its process */
#define OS_PLACE(segment, first) ((segment) << 16 | (first))

/** Words of the "commands" of a present, or of a drawing command of the kernel. */
enum os_drawing_word {
	OS_FROM,
	OS_TO,
	OS_FROM_X,
	OS_FROM_Y,
	OS_TO_X,
	OS_TO_Y,
	OS_WIDTH,
	OS_HEIGHT,
	OS_COLOR, /**< if OS_FROM is OS_ALLOCATIONS */
	OS_PARTS, /**< number of parts of the rectangle that are drawn; 0: all of it */
	OS_PART,  /**< of each part: its left, top, width and height in the rectangle */
	OS_DRAWING_WORDS = OS_PART + 4u * OS_PARTS_MAX
};

struct os_machine;

/** The driver's functions, as the OS calls them. A puppet replaces some. */
struct os_ddi {
	uint32_t (*render)(struct os_machine *m, struct pb_wddm_context *context,
			   struct pb_dxgkarg_render *render);
	uint32_t (*render_km)(struct os_machine *m, struct pb_wddm_context *context,
			      struct pb_dxgkarg_render *render);
	uint32_t (*present)(struct os_machine *m, struct pb_wddm_context *context,
			    struct pb_dxgkarg_present *present);
	uint32_t (*build_paging_buffer)(struct os_machine *m, struct pb_dxgkarg_buildpagingbuffer *build);
	uint32_t (*patch)(struct os_machine *m, const struct pb_dxgkarg_patch *patch);
	uint32_t (*submit_command)(struct os_machine *m, const struct pb_dxgkarg_submitcommand *submit);
	uint32_t (*preempt_command)(struct os_machine *m, const struct pb_dxgkarg_preemptcommand *preempt);
	uint32_t (*query_current_fence)(struct os_machine *m, struct pb_dxgkarg_querycurrentfence *query);
	uint32_t (*query_dependent_engine_group)(struct os_machine *m,
						 struct pb_dxgkarg_querydependentenginegroup *group);
	uint32_t (*query_engine_status)(struct os_machine *m, struct pb_dxgkarg_queryenginestatus *status);
	uint32_t (*reset_engine)(struct os_machine *m, struct pb_dxgkarg_resetengine *reset);
	uint32_t (*reset_from_timeout)(struct os_machine *m);
	uint32_t (*restart_from_timeout)(struct os_machine *m);
	uint32_t (*cancel_command)(struct os_machine *m, const struct pb_dxgkarg_submitcommand *packet);
	/** SetVidPnSourceAddressWithMultiPlaneOverlay; NULL: no display. */
	uint32_t (*set_overlay)(struct os_machine *m);
	uint32_t (*collect_dbg_info)(struct os_machine *m, const struct pb_dxgkarg_collectdbginfo *collect);
	uint32_t (*set_power_state)(struct os_machine *m, uint32_t device, uint32_t state);
	void (*caps)(struct os_machine *m, struct pb_dxgk_drivercaps *caps);
	void (*interrupt)(struct os_machine *m);
	void (*dpc)(struct os_machine *m);
	/** The driver's call of DxgkCbNotifyInterrupt. */
	void (*notify)(struct os_machine *m, const struct pb_dxgkargcb_notify_interrupt_data *data);
};

/** What happened. */
struct os_counts {
	uint64_t schedules;
	uint64_t packets;
	uint64_t preemptions;
	uint64_t recalled;
	uint64_t engine_resets;
	uint64_t adapter_resets;
	uint64_t aborted;
	uint64_t evictions;
	uint64_t page_ins;
	uint64_t splits;
	uint64_t patched;
	uint64_t unpatched;
	uint64_t faults;
	uint64_t presents;
	uint64_t powers;
	uint64_t suspended; /**< power transitions with packets that wait */
	uint64_t ordered;   /**< packets that have waited for one of another context of their process */
	uint64_t overtaken; /**< packets that one of a higher priority has overtaken, or has preempted */
	uint64_t deaf;
	uint64_t hosts; /**< schedules with system memory in host memory */
	uint64_t versions[4];
	uint64_t nodes[OS_NODES + 1];
};

struct os_machine {
	struct pb_sim *sim;
	struct pb_channel channel;
	struct pb_channel admin;
	struct pb_segment segments[4]; /**< system, video, edge, aperture */
	bool host;                     /**< system memory is host memory */
	struct pb_memory frames;       /**< frames of system memory */
	struct pb_wddm_adapter adapter;
	struct os_model os;
	struct os_ddi ddi;
	struct os_chance chance;
	struct os_map map;
	struct os_memory memory;
	struct os_process processes[OS_PROCESSES];
	uint32_t process_count;
	struct os_buffer buffers[OS_BUFFERS];
	uint32_t free_buffers[OS_BUFFERS]; /**< the one that ended last is used first */
	uint32_t free_count;
	/* vidmm.c */
	bool used_frames[OS_FRAMES];
	struct os_allocation *pages[3][OS_APERTURE_PAGES]; /**< owner of each page of video, edge, aperture */
	uint32_t paging_node;
	uint32_t pager; /**< 1 + the node that pages in for its head; 0: none */
	bool has_aperture;
	struct pb_dxgk_allocationlist list[OS_LIST]; /**< for Patch; filled anew for each call */
	struct pb_patch_location patches[OS_PATCHES];
	/* paging.c */
	struct os_buffer *paging; /**< the paging buffer being filled; NULL: none */
	uint32_t paging_start;    /**< first byte not queued */
	uint32_t paging_used;     /**< first byte free */
	uint32_t paging_private;  /**< the same of its private data: start, then used */
	uint32_t paging_private_used;
	uint32_t paging_room; /**< size that the OS says it has */
	struct os_operation operations[OS_OPERATIONS];
	uint32_t operation_count;  /**< operations begun, modulo OS_OPERATIONS */
	uint32_t operation_queued; /**< operations whose last buffer is queued */
	/* the schedule */
	uint64_t seed;
	bool talk;          /**< prints what happens */
	bool deaf;          /**< interrupts are lost */
	bool quiet;         /**< the driver is called at PASSIVE_LEVEL, and may not notify */
	bool asleep;        /**< the adapter is not in D0 */
	bool rough;         /**< engines are broken: any packet may hang */
	bool was_rough;     /**< in the last schedule */
	uint32_t resets;    /**< of the adapter that were handled */
	uint32_t wrongness; /**< one packet in so many is wrong; 0: none */
	bool limited;       /**< TdrLimitCount counts, and only what the driver does makes the OS recover */
	struct {
		uint32_t calls;
		uint32_t fence;
		uint32_t node;
		bool late;
		uint32_t *mapped;
	} puppet; /**< a puppet's own */
	struct os_counts counts;
};

/** The shim's functions. */
void os_driver(struct os_ddi *ddi);
/** The driver's functions for the scheduler. */
void os_driver_miniport(struct os_machine *m, struct os_miniport *miniport);

/**
 * Runs schedule number `seed` on a machine of its own: those of its life before it, too.
 * @param puppet functions in place of the driver's, NULL in it: the driver's; NULL: none
 */
void os_run(struct os_machine *m, uint64_t seed, bool talk, const struct os_ddi *puppet);
/** Runs schedules [first, first + count), each life from its beginning. @return false: the machine has stopped */
bool os_run_many(struct os_machine *m, uint64_t first, uint64_t count, const struct os_ddi *puppet);

/* ---- between the parts ---- */

/** Prints what happens, if `talk` is set. */
__attribute__((format(printf, 2, 3))) void os_say(const struct os_machine *m, const char *format, ...);
/** Runs until a condition holds. A packet that does not end breaks a rule. */
void os_run_until(struct os_machine *m, bool (*done)(const struct os_model *os));
/** The buffer of a packet; NULL: none. */
struct os_buffer *os_buffer_of(struct os_machine *m, const struct os_packet *packet);
/** Takes the buffer that ended last; NULL: none is free. @param context NULL: a paging buffer */
struct os_buffer *os_buffer_take(struct os_machine *m, struct os_context *context);
void os_buffer_free(struct os_machine *m, struct os_buffer *buffer);

/* vidmm.c */
void os_vidmm_start(struct os_machine *m);
/** Frames for an allocation: there are enough for all. */
void os_vidmm_frames(struct os_machine *m, struct os_allocation *allocation);
/** Releases all that an allocation has. Pre: nothing uses it. */
void os_vidmm_release(struct os_machine *m, struct os_allocation *allocation);
bool os_vidmm_ready(void *machine, uint32_t node);
void os_vidmm_prepare(void *machine, struct os_packet *packet);
/** The entries of the allocation list that a packet's patches name, a bit each. */
uint32_t os_vidmm_needed(const struct os_buffer *buffer, const struct os_packet *packet);
/** A packet is not in flight any more. */
void os_vidmm_left(struct os_machine *m, const struct os_packet *packet);
void os_vidmm_recalled(void *machine, const struct os_packet *packet);
/** Pages out an allocation, if it may be. @return whether it did */
bool os_vidmm_evict(struct os_machine *m, struct os_allocation *allocation);
/** The allocation list as it is now. */
void os_vidmm_list(const struct os_machine *m, const struct os_process *process,
		   struct pb_dxgk_allocationlist *list);
/** Checks what Render returned. */
void os_vidmm_check_render(struct os_machine *m, const struct os_buffer *buffer);
/** First address of a segment, as the OS names it. */
uint64_t os_vidmm_base(uint32_t segment);
/** Cell of a page of a segment; OS_NO_CELL: none. */
uint32_t os_vidmm_cell(const struct os_machine *m, uint32_t segment, uint32_t page);
/** Between the two halves of a reset of the adapter: tells the driver, and memory must stay as it is. */
void os_vidmm_between(void *machine);

/* paging.c */
/** Builds an operation. */
void os_paging_build(struct os_machine *m, const struct os_operation *operation);
/** Queues what was built. */
void os_paging_flush(struct os_machine *m);
/** Carries out the operations of a packet that has completed. */
void os_paging_done(struct os_machine *m, const struct os_packet *packet, bool completed);
/** Tells the driver of an operation without carrying it out. */
void os_paging_tell(struct os_machine *m, const struct os_operation *operation);
/** Drops the buffer being filled. */
void os_paging_reset(struct os_machine *m);

/* faults.c */
#define OS_HANG_US    2000u    /**< after which the firmware detects a hang, before the OS does */
#define OS_PATIENT_US 1000000u /**< after which the firmware detects a hang, long after the OS */
/** Sets how long a node may make no progress. */
void os_faults_times(struct os_machine *m, uint32_t node, uint32_t hang_us);
/** Breaks a node's engine by chance. */
void os_faults_inject(struct os_machine *m, uint32_t node);
/** Mends all engines and interrupts. */
void os_faults_mend(struct os_machine *m);
/** Asks for a debug report of any size. */
void os_faults_collect(struct os_machine *m);

/* client.c, drawing.c */
void os_client_start(struct os_machine *m, struct os_process *process, uint32_t number);
void os_client_stop(struct os_machine *m, struct os_process *process);
/** Renders and queues something, in any context; in one that has faulted, if memory may hold anything. */
void os_client_draw(struct os_machine *m, struct os_process *process);
/** The context of a handle; NULL: none. */
struct os_context *os_client_context(struct os_machine *m, const void *handle);
/** Whether the driver refuses one of the contexts. */
bool os_client_lost(const struct os_process *process);
/** Whether a packet must wait for one of another context of its process, which was queued before it. */
bool os_client_waits(void *machine, uint32_t node, const struct os_packet *packet);
/** Present. */
void os_drawing_present(struct os_machine *m, struct os_context *context);
/** RenderKm, since Windows 7. */
void os_drawing_of_kernel(struct os_machine *m, struct os_context *context);

/* judge.c */
/** Whether a packet faults. */
bool os_client_faults(const struct os_packet *packet, const struct os_buffer *buffer);
void os_client_retired(void *machine, const struct os_packet *packet, enum os_outcome outcome);
/** Compares all of memory with what it must hold. Pre: the machine is idle. */
void os_client_judge(struct os_machine *m);

/* power.c */
/** Puts the adapter to sleep, with packets that wait or without, and wakes it. */
void os_power_cycle(struct os_machine *m);
/** Puts a child of the adapter, perhaps one that is not connected any more, to sleep: nothing else may change. */
void os_power_child(struct os_machine *m);

#endif
