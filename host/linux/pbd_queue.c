// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Queues of files: each has a context of the firmware, so that what one does wrong costs no other. */
#include <linux/capability.h>
#include <linux/slab.h>

#include "patchbay/names.h"
#include "pbd_drv.h"
#include "pbd_live.h"

/* Numbers of queues that QUEUE_CREATE makes. Lower ones are those of the nodes. */
#define PBD_QUEUE_FIRST 16
#define PBD_QUEUE_LAST 1039

static u32 pbd_nodes(const struct pbd_device *dev)
{
	return min_t(u32, dev->info.capabilities[PB_CAPABILITY_NODES], PBD_QUEUE_FIRST);
}

/* ---- accounts ---- */

static struct pbd_account *pbd_account_make(u64 id)
{
	struct pbd_account *account = kzalloc(sizeof(*account), GFP_KERNEL);

	if (!account)
		return NULL;
	kref_init(&account->refs);
	init_waitqueue_head(&account->wait);
	account->id = id;
	return account;
}

static void pbd_account_free(struct kref *refs)
{
	kfree(container_of(refs, struct pbd_account, refs));
}

void pbd_account_put(struct pbd_account *account)
{
	kref_put(&account->refs, pbd_account_free);
}

/* ---- queues ---- */

static struct pbd_queue *pbd_queue_alloc(struct pbd_device *dev, struct pbd_account *account, u32 node, u32 priority,
					 u32 quantum_us)
{
	struct pbd_queue *queue = kzalloc(sizeof(*queue), GFP_KERNEL);

	if (!queue)
		return NULL;
	atomic_inc(&pbd_live[PBD_LIVE_QUEUES]);
	kref_init(&queue->refs);
	queue->dev = dev;
	kref_get(&account->refs);
	queue->account = account;
	queue->node = node;
	queue->priority = priority;
	queue->quantum_us = quantum_us;
	queue->fence_context = dma_fence_context_alloc(1);
	queue->error_index = PB_INDEX_NONE;
	pbd_lock_init(&queue->lock);
	init_waitqueue_head(&queue->wait);
	INIT_LIST_HEAD(&queue->link);
	INIT_LIST_HEAD(&queue->pending);
	INIT_LIST_HEAD(&queue->running);
	INIT_LIST_HEAD(&queue->hungry);
	INIT_WORK(&queue->push, pbd_push_work);
	INIT_WORK(&queue->carry, pbd_carry_work);
	return queue;
}

/* Frees a queue without references. */
static void pbd_queue_free(struct pbd_queue *queue)
{
	atomic_dec(&pbd_live[PBD_LIVE_QUEUES]);
	pbd_account_put(queue->account);
	kfree(queue);
}

/* Returns a queue of the driver's own. */
struct pbd_queue *pbd_queue_of_kernel(struct pbd_device *dev, u32 node)
{
	struct pbd_account *account = pbd_account_make(0);
	struct pbd_queue *queue = NULL;

	if (account) {
		queue = pbd_queue_alloc(dev, account, node, PB_PRIORITY_NORMAL, 0);
		pbd_account_put(account);
	}
	return queue;
}

/* ---- the firmware's objects ---- */

/* Takes a context that another queue has left, or creates one. Pre: commands. */
static enum pb_error pbd_context_take(struct pbd_device *dev, u32 *context)
{
	if (dev->spare_count == 0)
		return pb_context_create(&dev->channel, context);
	*context = dev->spare[--dev->spare_count];
	return pb_context_clear(&dev->channel, *context);
}

/* Destroys a context, or keeps it for the next queue. Pre: commands; no queue uses it. */
static void pbd_context_leave(struct pbd_device *dev, u32 context)
{
	enum pb_error error = pb_context_destroy(&dev->channel, context);

	if (error == PB_ERROR_BUSY && dev->spare_count < PBD_CONTEXTS_MAX)
		dev->spare[dev->spare_count++] = context;
	else if (error != PB_ERROR_OK)
		drm_dbg(&dev->drm, "a context is left: %s\n", pb_error_name(error));
}

/* Creates the firmware's queue and context. Pre: commands. */
static enum pb_error pbd_queue_objects(struct pbd_queue *queue)
{
	struct pbd_device *dev = queue->dev;
	const struct pb_queue_request request = {
		.node = queue->node,
		.entries = PBD_RING_ENTRIES,
		.priority = queue->priority,
		.quantum_us = queue->quantum_us,
		.lock = &queue->lock.base,
	};
	enum pb_error error = pbd_context_take(dev, &queue->context);

	if (error != PB_ERROR_OK)
		return error;
	error = pb_queue_create_with(&queue->queue, &dev->channel, &dev->system, &request);
	if (error != PB_ERROR_OK)
		pbd_context_leave(dev, queue->context);
	return error;
}

/*
 * The same; if the card has no more of them, when the worker has freed the submissions that have ended: each one has its
 * queue until then. Pre: validate, and card for reading; no reservation, since the worker takes them.
 */
static enum pb_error pbd_queue_objects_soon(struct pbd_queue *queue)
{
	struct pbd_device *dev = queue->dev;
	enum pb_error error = PB_ERROR_OK;
	int round;

	for (round = 0; round < 2; round++) {
		mutex_lock(&dev->commands);
		error = pbd_queue_objects(queue);
		mutex_unlock(&dev->commands);
		if (error != PB_ERROR_NO_SPACE && error != PB_ERROR_NO_QUOTA)
			break;
		flush_work(&dev->clean);
	}
	return error;
}

/*
 * Makes the firmware's queue and context, if they have not been made. Pre: validate, and card for reading.
 * @return -EIO: the card was lost since; -ENODEV: the card is not there; -ENOSPC: it has no more
 */
int pbd_queue_make(struct pbd_queue *queue)
{
	struct pbd_device *dev = queue->dev;
	enum pb_error error;

	if (READ_ONCE(dev->state) != PBD_UP)
		return -ENODEV;
	/* The driver's own queues lose nothing with the card, and are made anew without a word. */
	if (queue->epoch != 0 && (queue->epoch == dev->epoch || queue->account->id != 0))
		return queue->epoch == dev->epoch ? 0 : -EIO;
	error = pbd_queue_objects_soon(queue);
	if (error != PB_ERROR_OK) {
		drm_dbg(&dev->drm, "no queue on node %u: %s\n", queue->node, pb_error_name(error));
		return pbd_errno(error);
	}
	spin_lock_irq(&dev->state_lock);
	queue->epoch = dev->epoch;
	queue->put = 0;
	queue->lost = false;
	if (dev->state == PBD_UP)
		list_add_tail(&queue->link, &dev->queues);
	spin_unlock_irq(&dev->state_lock);
	return 0;
}

static void pbd_queue_release(struct kref *refs)
{
	struct pbd_queue *queue = container_of(refs, struct pbd_queue, refs);
	struct pbd_device *dev = queue->dev;
	bool ours;

	cancel_work_sync(&queue->push);
	cancel_work_sync(&queue->carry);
	mutex_lock(&dev->commands);
	spin_lock_irq(&dev->state_lock);
	list_del_init(&queue->link);
	ours = dev->state == PBD_UP && queue->epoch == dev->epoch;
	spin_unlock_irq(&dev->state_lock);
	if (ours) {
		enum pb_error error = pb_queue_destroy(&queue->queue);

		if (error == PB_ERROR_OK)
			pbd_context_leave(dev, queue->context);
		else
			drm_dbg(&dev->drm, "a queue is left: %s\n", pb_error_name(error));
	}
	mutex_unlock(&dev->commands);
	pbd_queue_free(queue);
}

void pbd_queue_put(struct pbd_queue *queue)
{
	kref_put(&queue->refs, pbd_queue_release);
}

/* ---- files ---- */

int pbd_file_open(struct drm_device *drm, struct drm_file *drm_file)
{
	struct pbd_device *dev = pbd_device(drm);
	struct pbd_file *file = kzalloc(sizeof(*file), GFP_KERNEL);

	if (!file)
		return -ENOMEM;
	file->dev = dev;
	file->account = pbd_account_make((u64)atomic64_inc_return(&dev->file_ids));
	if (!file->account) {
		kfree(file);
		return -ENOMEM;
	}
	mutex_init(&file->lock);
	xa_init_flags(&file->queues, XA_FLAGS_ALLOC);
	if (pbd_virtgpu && pbd_virt_file_open(file) != 0) {
		pbd_account_put(file->account);
		kfree(file);
		return -ENOMEM;
	}
	drm_file->driver_priv = file;
	return 0;
}

void pbd_file_close(struct drm_device *drm, struct drm_file *drm_file)
{
	struct pbd_file *file = drm_file->driver_priv;
	struct pbd_queue *queue;
	unsigned long number;

	pbd_virt_file_close(file);
	xa_for_each(&file->queues, number, queue)
		pbd_queue_put(queue);
	xa_destroy(&file->queues);
	mutex_destroy(&file->lock);
	pbd_account_put(file->account);
	kfree(file);
}

/*
 * Returns a reference to a queue of the file; NULL: there is none. @create: that of a node is made, or the error -ENOMEM is
 * returned
 */
struct pbd_queue *pbd_queue_get(struct pbd_file *file, u32 number, bool create)
{
	struct pbd_queue *queue;

	mutex_lock(&file->lock);
	queue = xa_load(&file->queues, number);
	if (!queue && create && number < pbd_nodes(file->dev)) {
		queue = pbd_queue_alloc(file->dev, file->account, number, PB_PRIORITY_NORMAL, 0);
		if (queue && xa_err(xa_store(&file->queues, number, queue, GFP_KERNEL))) {
			pbd_queue_free(queue);
			queue = NULL;
		}
		if (!queue)
			queue = ERR_PTR(-ENOMEM);
	}
	if (!IS_ERR_OR_NULL(queue))
		kref_get(&queue->refs);
	mutex_unlock(&file->lock);
	return queue;
}

/* ---- ioctls ---- */

/* Makes the firmware's objects of a queue that is asked for by itself, so that the caller learns whether it can be. */
static int pbd_queue_make_now(struct pbd_queue *queue)
{
	struct pbd_device *dev = queue->dev;
	int ret = mutex_lock_interruptible(&dev->validate);

	if (ret != 0)
		return ret;
	down_read(&dev->card);
	ret = pbd_queue_make(queue);
	up_read(&dev->card);
	mutex_unlock(&dev->validate);
	return ret;
}

int pbd_queue_create_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct pbd_device *dev = pbd_device(drm);
	struct drm_patchbay_queue_create *args = data;
	struct pbd_file *file = drm_file->driver_priv;
	struct pbd_queue *queue;
	int ret, idx;

	if (args->node >= pbd_nodes(dev) || args->priority > PATCHBAY_PRIORITY_REALTIME)
		return -EINVAL;
	if (args->priority > PATCHBAY_PRIORITY_NORMAL && !capable(CAP_SYS_NICE))
		return -EPERM;
	queue = pbd_queue_alloc(dev, file->account, args->node, args->priority, args->quantum_us);
	if (!queue)
		return -ENOMEM;
	ret = drm_dev_enter(drm, &idx) ? 0 : -ENODEV;
	if (ret == 0) {
		ret = pbd_queue_make_now(queue);
		drm_dev_exit(idx);
	}
	if (ret == 0) {
		mutex_lock(&file->lock);
		ret = xa_alloc(&file->queues, &args->queue, queue, XA_LIMIT(PBD_QUEUE_FIRST, PBD_QUEUE_LAST),
			       GFP_KERNEL);
		mutex_unlock(&file->lock);
		if (ret == -EBUSY)
			ret = -ENOSPC;
	}
	if (ret != 0)
		pbd_queue_put(queue);
	return ret;
}

int pbd_queue_destroy_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	const struct drm_patchbay_queue *args = data;
	struct pbd_file *file = drm_file->driver_priv;
	struct pbd_queue *queue;

	if (args->pad)
		return -EINVAL;
	mutex_lock(&file->lock);
	queue = xa_erase(&file->queues, args->queue);
	mutex_unlock(&file->lock);
	if (!queue)
		return -ENOENT;
	pbd_queue_put(queue);
	return 0;
}

int pbd_queue_query_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct pbd_device *dev = pbd_device(drm);
	struct drm_patchbay_queue_query *args = data;
	struct pbd_queue *queue;

	if (args->flags)
		return -EINVAL;
	queue = pbd_queue_get(drm_file->driver_priv, args->queue, true);
	if (IS_ERR_OR_NULL(queue))
		return queue ? PTR_ERR(queue) : -ENOENT;
	spin_lock_irq(&dev->state_lock);
	args->flags = queue->lost ? PATCHBAY_QUEUE_LOST : 0;
	if (queue->epoch != 0 && (queue->epoch != dev->epoch || dev->state != PBD_UP))
		args->flags |= PATCHBAY_QUEUE_CARD_LOST;
	args->submitted = queue->value;
	args->completed = queue->completed;
	args->error_value = queue->error_value;
	args->error = queue->error;
	args->error_index = queue->error_index;
	args->errors = queue->errors;
	spin_unlock_irq(&dev->state_lock);
	args->node = queue->node;
	strscpy_pad(args->error_name, pb_error_name(args->error), sizeof(args->error_name));
	pbd_queue_put(queue);
	return 0;
}

/* Clears what the firmware keeps of a failure. Pre: validate, and card for reading. */
static int pbd_queue_clear(struct pbd_queue *queue)
{
	struct pbd_device *dev = queue->dev;
	enum pb_error error = PB_ERROR_OK;

	if (queue->epoch == dev->epoch) {
		mutex_lock(&dev->commands);
		error = pb_queue_clear(&queue->queue);
		if (error == PB_ERROR_OK)
			error = pb_context_clear(&dev->channel, queue->context);
		mutex_unlock(&dev->commands);
	} else {
		queue->epoch = 0; /* the next submission makes it anew */
	}
	if (error != PB_ERROR_OK)
		return pbd_errno(error);
	spin_lock_irq(&dev->state_lock);
	queue->lost = false;
	queue->error_value = 0;
	queue->error = PB_ERROR_OK;
	queue->error_index = PB_INDEX_NONE;
	spin_unlock_irq(&dev->state_lock);
	return 0;
}

int pbd_queue_clear_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct pbd_device *dev = pbd_device(drm);
	const struct drm_patchbay_queue *args = data;
	struct pbd_queue *queue;
	int ret, idx;

	if (args->pad)
		return -EINVAL;
	queue = pbd_queue_get(drm_file->driver_priv, args->queue, false);
	if (!queue)
		return -ENOENT;
	ret = drm_dev_enter(drm, &idx) ? 0 : -ENODEV;
	if (ret == 0) {
		ret = mutex_lock_interruptible(&dev->validate);
		if (ret == 0) {
			down_read(&dev->card);
			ret = READ_ONCE(dev->state) == PBD_UP ? pbd_queue_clear(queue) : -ENODEV;
			up_read(&dev->card);
			mutex_unlock(&dev->validate);
		}
		drm_dev_exit(idx);
	}
	pbd_queue_put(queue);
	return ret;
}

static u64 pbd_queue_completed(struct pbd_queue *queue)
{
	u64 completed;

	spin_lock_irq(&queue->dev->state_lock);
	completed = queue->completed;
	spin_unlock_irq(&queue->dev->state_lock);
	return completed;
}

int pbd_wait_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	const struct drm_patchbay_wait *args = data;
	struct pbd_queue *queue;
	long left;

	if (args->pad)
		return -EINVAL;
	queue = pbd_queue_get(drm_file->driver_priv, args->queue, false);
	if (!queue)
		return -ENOENT;
	if (args->value > READ_ONCE(queue->value)) {
		pbd_queue_put(queue);
		return -EINVAL;
	}
	left = wait_event_interruptible_timeout(queue->wait, pbd_queue_completed(queue) >= args->value,
						pbd_timeout(args->timeout_ns));
	pbd_queue_put(queue);
	return left < 0 ? (int)left : left == 0 ? -ETIME : 0;
}
