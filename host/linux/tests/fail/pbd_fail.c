// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Lets allocations of one thread fail, for tests of the driver: those with a function of the driver among their callers.
 * The n-th call of an allocator returns NULL, or the n-th and all that follow. In debugfs, folder pbd_fail:
 *
 *   pid     thread whose allocations are counted; 0: none
 *   nth     number of the first allocation that fails, from 0
 *   all     0: that one only; 1: all that follow as well
 *   calls   allocations counted so far
 *   failed  of them, how many failed
 *   late    allocations, of any thread, on the path on which fences are signaled
 *
 * For tests only: the module is never installed.
 */
#include <linux/debugfs.h>
#include <linux/gfp.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/linkage.h>
#include <linux/module.h>
#include <linux/objtool.h>
#include <linux/sched.h>
#include <linux/stacktrace.h>

#define PBD_FAIL_FRAMES 40

static u32 pbd_fail_pid, pbd_fail_nth, pbd_fail_all, pbd_fail_calls, pbd_fail_failed, pbd_fail_late;
static struct dentry *pbd_fail_folder;

/* Functions of the driver that nothing may allocate under: fences depend on them. */
static const char *const pbd_fail_signalling[] = {
	"pbd_publish+", "pbd_arm+", "pbd_push+", "pbd_push_work+", "pbd_carry_work+", "pbd_retire+", "pbd_end_all+",
};

/* Callers under which no allocation is made to fail. */
static const char *const pbd_fail_exempt[] = {
	/* A new slab: the call of the cache that needs it is made to fail already. */
	"allocate_slab+",
	/* Pages of vmalloc: a failure is a warning in the log; kvmalloc_node() is made to fail as a whole. */
	"__vmalloc_node_range+",
	/* Warns whenever the exporting driver has no memory. */
	"dma_buf_vmap+",
};

/* The function that is entered instead of an allocator. */
void pbd_fail_return(void);
asm(".pushsection .text\n"
    ".type pbd_fail_return, @function\n"
    ".globl pbd_fail_return\n"
    "pbd_fail_return:\n"
    ANNOTATE_NOENDBR
    ASM_RET
    ".size pbd_fail_return, .-pbd_fail_return\n"
    ".popsection\n");

/* An allocator, and which of its arguments says how: the register's place in struct pt_regs. */
struct pbd_fail_probe {
	const char *name;
	size_t flags_at;
	struct kprobe probe;
};

#define PBD_FAIL_PROBE(symbol, reg) { .name = #symbol, .flags_at = offsetof(struct pt_regs, reg) }
static struct pbd_fail_probe pbd_fail_probes[] = {
	PBD_FAIL_PROBE(__kmalloc, si),
	PBD_FAIL_PROBE(__kmalloc_node, si),
	PBD_FAIL_PROBE(__kmalloc_node_track_caller, si),
	PBD_FAIL_PROBE(kmalloc_trace, si),
	PBD_FAIL_PROBE(kmalloc_node_trace, si),
	PBD_FAIL_PROBE(kmalloc_large, si),
	PBD_FAIL_PROBE(kmalloc_large_node, si),
	PBD_FAIL_PROBE(kmem_cache_alloc, si),
	PBD_FAIL_PROBE(kmem_cache_alloc_node, si),
	PBD_FAIL_PROBE(kmem_cache_alloc_lru, dx),
	PBD_FAIL_PROBE(kvmalloc_node, si),
	PBD_FAIL_PROBE(__alloc_pages, di),
};

static bool pbd_fail_begins(const char *text, const char *const *list, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (strncmp(text, list[i], strlen(list[i])) == 0)
			return true;
	return false;
}

/* Who is among the callers. */
struct pbd_fail_callers {
	bool driver, signalling, exempt;
};

static struct pbd_fail_callers pbd_fail_look(void)
{
	unsigned long frames[PBD_FAIL_FRAMES];
	struct pbd_fail_callers callers = {};
	char text[KSYM_SYMBOL_LEN];
	unsigned int count = stack_trace_save(frames, PBD_FAIL_FRAMES, 0), i;

	for (i = 0; i < count; i++) {
		sprint_symbol(text, frames[i]);
		if (pbd_fail_begins(text, pbd_fail_exempt, ARRAY_SIZE(pbd_fail_exempt)))
			callers.exempt = true;
		if (!strstr(text, "[patchbay]"))
			continue;
		callers.driver = true;
		if (pbd_fail_begins(text, pbd_fail_signalling, ARRAY_SIZE(pbd_fail_signalling)))
			callers.signalling = true;
	}
	return callers;
}

static int pbd_fail_enter(struct kprobe *probe, struct pt_regs *regs)
{
	const struct pbd_fail_probe *own = container_of(probe, struct pbd_fail_probe, probe);
	const gfp_t flags = (__force gfp_t) *(unsigned long *)((u8 *)regs + own->flags_at);
	const bool chosen = in_task() && current->pid == READ_ONCE(pbd_fail_pid);
	struct pbd_fail_callers callers;
	u32 number;

	if (READ_ONCE(pbd_fail_pid) == 0 || (!chosen && in_task() && !(current->flags & PF_WQ_WORKER)))
		return 0;
	callers = pbd_fail_look();
	if (callers.signalling && pbd_fail_late++ == 0) {
		pr_err("pbd_fail: %s on the path on which fences are signaled\n", own->name);
		dump_stack();
	}
	if (!chosen || !callers.driver || callers.exempt || (flags & __GFP_NOFAIL))
		return 0;
	number = pbd_fail_calls++;
	if (number < pbd_fail_nth || (number > pbd_fail_nth && !pbd_fail_all))
		return 0;
	pbd_fail_failed++;
	regs->ax = 0;
	instruction_pointer_set(regs, (unsigned long)pbd_fail_return);
	return 1;
}

/* With a handler of this kind the kernel neither optimizes a probe nor shares its place with others who set the address. */
static void pbd_fail_after(struct kprobe *probe, struct pt_regs *regs, unsigned long flags)
{
}

static void pbd_fail_remove(unsigned int count)
{
	while (count-- > 0)
		unregister_kprobe(&pbd_fail_probes[count].probe);
}

static int __init pbd_fail_init(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(pbd_fail_probes); i++) {
		struct kprobe *probe = &pbd_fail_probes[i].probe;
		int ret;

		probe->symbol_name = pbd_fail_probes[i].name;
		probe->pre_handler = pbd_fail_enter;
		probe->post_handler = pbd_fail_after;
		ret = register_kprobe(probe);
		if (ret != 0) {
			pr_err("pbd_fail: no probe of %s: %d\n", pbd_fail_probes[i].name, ret);
			pbd_fail_remove(i);
			return ret;
		}
	}
	pbd_fail_folder = debugfs_create_dir("pbd_fail", NULL);
	debugfs_create_u32("pid", 0600, pbd_fail_folder, &pbd_fail_pid);
	debugfs_create_u32("nth", 0600, pbd_fail_folder, &pbd_fail_nth);
	debugfs_create_u32("all", 0600, pbd_fail_folder, &pbd_fail_all);
	debugfs_create_u32("calls", 0600, pbd_fail_folder, &pbd_fail_calls);
	debugfs_create_u32("failed", 0600, pbd_fail_folder, &pbd_fail_failed);
	debugfs_create_u32("late", 0600, pbd_fail_folder, &pbd_fail_late);
	return 0;
}

static void __exit pbd_fail_exit(void)
{
	debugfs_remove_recursive(pbd_fail_folder);
	pbd_fail_remove(ARRAY_SIZE(pbd_fail_probes));
}

module_init(pbd_fail_init);
module_exit(pbd_fail_exit);

MODULE_DESCRIPTION("Failing allocations, for tests of the Patchbay driver");
MODULE_AUTHOR("The Patchbay authors");
MODULE_LICENSE("Dual MIT/GPL");
