// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Resources that several files have. Each file has a renderer of its own, and so a copy of the resource: what one of them
 * writes is read from its renderer, and written to that of another one, before the other one's next use. So a stream sees
 * what was written to the objects that it names by all that was submitted before it, in whatever file; and what one file
 * does to its renderer is still no other file's loss. What a stream may write is known from its commands, which host/gl
 * follows.
 */
#include <linux/slab.h>

#include "pbd_virtgpu.h"

/* Targets of a template, as virgl has them. */
#define PBD_VIRT_TEXTURE_2D 2
#define PBD_VIRT_TEXTURE_RECT 5
#define PBD_VIRT_STAGED_BYTES_MAX (256u << 20)

static struct pbd_virt_copy *pbd_virt_copy_of(const struct pbd_virt_bo *bo, const struct pbd_virt *virt)
{
	struct pbd_virt_copy *copy;

	lockdep_assert_held(&bo->lock);
	list_for_each_entry(copy, &bo->copies, link)
		if (copy->virt == virt)
			return copy;
	return NULL;
}

/* The transfer of all that a resource contains. @return its bytes; 0: only one file can have such a resource */
static size_t pbd_virt_whole(const struct pbd_virt_bo *bo, struct pb_gl_transfer_request *request)
{
	const u32 *words = bo->template_words;
	struct pb_gl_transfer transfer;
	const char *why;

	*request = (struct pb_gl_transfer_request){
		.template_words = words,
		.box = { 0, 0, 0, words[PB_GL_TEMPLATE_WIDTH], words[PB_GL_TEMPLATE_HEIGHT], 1 },
		.available = PBD_VIRT_STAGED_BYTES_MAX,
	};
	if (words[PB_GL_TEMPLATE_TARGET] != PBD_VIRT_TEXTURE_2D &&
	    words[PB_GL_TEMPLATE_TARGET] != PBD_VIRT_TEXTURE_RECT)
		return 0;
	if (words[PB_GL_TEMPLATE_LAST_LEVEL] != 0 || words[PB_GL_TEMPLATE_SAMPLES] > 1 ||
	    !pb_gl_transfer_plan(request, &transfer, &why))
		return 0;
	return (size_t)transfer.stride * transfer.rows;
}

/* Makes the resource known to the client. Pre: the client is the caller's. */
static int pbd_virt_create(const struct pbd_virt_bo *bo, struct pbd_virt *virt)
{
	struct pb_gl_resource *resource;

	if (virt->client->resources.free == 0)
		return -ENOMEM;
	resource = pb_gl_client_create(virt->client, bo->number, bo->template_words);
	if (resource) {
		resource->memory = bo->map.vaddr;
		resource->memory_bytes = bo->base.base.size;
	}
	return 0; /* pbd_virt_leave() has the error */
}

/* Gives the client a copy, with one handle. Pre: the client is the caller's, bo->lock. */
static int pbd_virt_copy_add(struct pbd_virt_bo *bo, struct pbd_virt *virt)
{
	struct pb_gl_transfer_request request;
	struct pbd_virt_copy *copy;
	int ret;

	if (bo->version != 0 && pbd_virt_whole(bo, &request) == 0)
		return -EOPNOTSUPP;
	copy = kzalloc(sizeof(*copy), GFP_KERNEL_ACCOUNT);
	if (!copy)
		return -ENOMEM;
	ret = pbd_virt_create(bo, virt);
	if (ret != 0) {
		kfree(copy);
		return ret;
	}
	copy->virt = virt;
	copy->handles = 1;
	if (bo->version == 0) {
		/* The file that makes it. */
		bo->writer = virt;
		bo->version = 1;
		copy->version = 1;
	} else {
		WRITE_ONCE(bo->shared, true);
	}
	list_add_tail(&copy->link, &bo->copies);
	return 0;
}

/* Counts a handle of the file's; the first one gives its client the resource. */
int pbd_virt_copy_open(struct pbd_virt_bo *bo, struct pbd_virt *virt)
{
	int ret = pbd_virt_enter(virt), left;
	struct pbd_virt_copy *copy;

	if (ret != 0)
		return ret;
	mutex_lock(&bo->lock);
	copy = pbd_virt_copy_of(bo, virt);
	if (copy)
		copy->handles++;
	else
		ret = pbd_virt_copy_add(bo, virt);
	mutex_unlock(&bo->lock);
	left = pbd_virt_leave(virt);
	if (ret == 0 && left != 0)
		pbd_virt_copy_close(bo, virt);
	return ret ?: left;
}

/* Reads the newest contents out of their writer's copy. Pre: the writer is the caller's, and works; bo->lock. */
static void pbd_virt_stage(struct pbd_virt_bo *bo)
{
	struct pb_gl_client *client = bo->writer->client;
	struct pb_gl_resource *resource = pb_gl_resources_find(&client->resources, bo->number);
	struct pb_gl_transfer_request request;
	size_t bytes = pbd_virt_whole(bo, &request);

	if (bo->staged_version == bo->version || bytes == 0 || !resource)
		return;
	if (!bo->staged)
		bo->staged = kvzalloc(bytes, GFP_KERNEL_ACCOUNT);
	if (!bo->staged)
		return;
	bo->staged_version = 0;
	if (pb_gl_client_transfer(client, resource, &request, false, bo->staged))
		bo->staged_version = bo->version;
}

/*
 * Takes a handle from a file; with the last one, the resource from its client. What only that one had stays, if another
 * file has the resource, or may get it by a file descriptor.
 */
void pbd_virt_copy_close(struct pbd_virt_bo *bo, struct pbd_virt *virt)
{
	bool works = pbd_virt_enter_last(virt), last = false;
	struct pbd_virt_copy *copy;

	mutex_lock(&bo->lock);
	copy = pbd_virt_copy_of(bo, virt);
	if (copy && --copy->handles == 0) {
		last = true;
		list_del(&copy->link);
		kfree(copy);
		if (bo->writer == virt) {
			if (works && (!list_empty(&bo->copies) || READ_ONCE(bo->base.base.dma_buf)))
				pbd_virt_stage(bo);
			bo->writer = NULL;
		}
	}
	mutex_unlock(&bo->lock);
	if (last && works && !virt->client->failure.what)
		(void)pb_gl_client_drop(virt->client, bo->number);
	pbd_virt_leave_last(virt, works);
}

/* The client whose copy is the newest, or NULL. @return a reference */
struct pbd_virt *pbd_virt_writer(struct pbd_virt_bo *bo)
{
	struct pbd_virt *writer;

	mutex_lock(&bo->lock);
	writer = bo->writer;
	if (writer)
		kref_get(&writer->refs);
	mutex_unlock(&bo->lock);
	return writer;
}

static bool pbd_virt_is_old(struct pbd_virt_bo *bo, const struct pbd_virt *virt)
{
	const struct pbd_virt_copy *copy;
	bool old;

	mutex_lock(&bo->lock);
	copy = pbd_virt_copy_of(bo, virt);
	old = copy && copy->version != bo->version && bo->staged_version != bo->version;
	mutex_unlock(&bo->lock);
	return old;
}

/*
 * Before a call of the client's: reads contents that are newer than its copy's from the renderer of the file that wrote them,
 * once all that this file has submitted has ended. A writer that has failed leaves the others what they have.
 * @return -EINTR: a signal came
 */
int pbd_virt_fetch(struct pbd_virt_bo *bo, struct pbd_virt *virt)
{
	struct pbd_virt *writer;
	int ret;

	if (!READ_ONCE(bo->shared) || !pbd_virt_is_old(bo, virt))
		return 0;
	writer = pbd_virt_writer(bo);
	if (!writer)
		return 0;
	ret = pbd_virt_enter(writer);
	if (ret == 0) {
		mutex_lock(&bo->lock);
		if (bo->writer == writer)
			pbd_virt_stage(bo);
		mutex_unlock(&bo->lock);
		(void)pbd_virt_leave(writer);
	}
	pbd_virt_put(writer);
	return ret == -EINTR ? ret : 0;
}

/* In a call of the client's: writes what was fetched to its copy. */
void pbd_virt_refresh(struct pbd_virt_bo *bo, struct pbd_virt *virt)
{
	struct pb_gl_transfer_request request;
	struct pb_gl_resource *resource;
	struct pbd_virt_copy *copy;

	if (!READ_ONCE(bo->shared))
		return;
	mutex_lock(&bo->lock);
	copy = pbd_virt_copy_of(bo, virt);
	resource = pb_gl_resources_find(&virt->client->resources, bo->number);
	if (copy && resource && copy->version < bo->staged_version && pbd_virt_whole(bo, &request) != 0 &&
	    pb_gl_client_transfer(virt->client, resource, &request, true, bo->staged))
		copy->version = bo->staged_version;
	if (resource)
		resource->written = false;
	mutex_unlock(&bo->lock);
}

/* At the end of a call of the client's: if it has written to the resource, its copy is the newest. */
void pbd_virt_note_written(struct pbd_virt_bo *bo, struct pbd_virt *virt)
{
	const struct pb_gl_resource *resource;
	struct pbd_virt_copy *copy;

	if (!READ_ONCE(bo->shared) || virt->client->failure.what)
		return;
	mutex_lock(&bo->lock);
	copy = pbd_virt_copy_of(bo, virt);
	resource = pb_gl_resources_find(&virt->client->resources, bo->number);
	if (copy && resource && resource->written) {
		copy->version = ++bo->version;
		bo->writer = virt;
	}
	mutex_unlock(&bo->lock);
}
