// SPDX-License-Identifier: GPL-2.0 OR MIT
/* What the driver shows of clients of the GL engine: memory for fdinfo, a line of debugfs for each. */
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "patchbay/names.h"
#include "pbd_virtgpu.h"

/* Clients that debugfs shows at once; the card has no memory for more. */
#define PBD_VIRT_SHOWN_MAX 64

/* Adds the staging memory that a file's client has in VRAM. */
void pbd_virt_count_memory(const struct pbd_virt *virt, u64 *vram)
{
	spin_lock_irq(&virt->dev->state_lock);
	/* On the list, it has its memory. */
	if (!list_empty(&virt->link))
		*vram += virt->staging->size;
	spin_unlock_irq(&virt->dev->state_lock);
}

/* A line for a client, unless it has ended meanwhile. Pre: card for reading, commands: its queue is there meanwhile. */
static void pbd_virt_show(struct seq_file *m, struct pbd_virt *virt)
{
	struct pbd_device *dev = virt->dev;
	struct pbd_virt_fence *fence;
	struct pb_fence record = {};
	u32 fences = 0;
	bool there;

	spin_lock_irq(&dev->state_lock);
	there = !list_empty(&virt->link);
	list_for_each_entry(fence, &virt->fences, link)
		fences++;
	spin_unlock_irq(&dev->state_lock);
	if (!there)
		return;
	there = READ_ONCE(dev->state) == PBD_UP && READ_ONCE(virt->epoch) == dev->epoch;
	seq_printf(m, "gl=0x%x file=%llu node=%u context=0x%x value=%llu", virt->queue.handle,
		   virt->account ? virt->account->id : 0, pbd_virt_node(dev), virt->setup.context,
		   READ_ONCE(virt->queue.timeline));
	if (there && pb_queue_fence_now(&virt->queue, &record) == PB_ERROR_OK)
		seq_printf(m, " completed=%llu error=%s", record.timeline, pb_error_name(record.error));
	seq_printf(m, " fences=%u", fences);
	pbd_show_why(m, &virt->queue, there);
	seq_putc(m, '\n');
}

/* A line for each client that has been started. None of their locks is taken: one that hangs shows what it is. */
void pbd_virt_show_clients(struct seq_file *m, struct pbd_device *dev)
{
	struct pbd_virt **seen = kcalloc(PBD_VIRT_SHOWN_MAX, sizeof(*seen), GFP_KERNEL);
	struct pbd_virt *virt;
	u32 count = 0, i;

	if (!seen)
		return;
	spin_lock_irq(&dev->state_lock);
	list_for_each_entry(virt, &dev->virt.clients, link) {
		if (count == PBD_VIRT_SHOWN_MAX)
			break;
		kref_get(&virt->refs);
		seen[count++] = virt;
	}
	spin_unlock_irq(&dev->state_lock);
	for (i = 0; i < count; i++) {
		mutex_lock(&dev->commands);
		pbd_virt_show(m, seen[i]);
		mutex_unlock(&dev->commands);
		pbd_virt_put(seen[i]);
	}
	kfree(seen);
}
