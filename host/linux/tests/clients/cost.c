// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * pbd-cost: what the driver costs beside others of the same kernel; a line "cost KEY VALUE" for each figure. Times are those of
 * an emulated machine: only their ratios mean something elsewhere. The machine below counts the instructions of the card's
 * MCU: a line "HOST count" on the console asks for them.
 */
#include <drm/drm_fourcc.h>
#include <drm/drm_mode.h>
#include <drm/vgem_drm.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "guest.h"

/* Submissions that are measured, after some that are not. */
#define SUBMISSIONS 1000u
#define WARM 100u
/* Flips of a round, and rounds of each driver. */
#define FLIPS 300u
#define ROUNDS 5u

static void say(const char *key, uint64_t value)
{
	printf("cost %s %llu\n", key, (unsigned long long)value);
	fflush(stdout);
}

static int compare(const void *left, const void *right)
{
	const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

	return (a > b) - (a < b);
}

static int64_t median(int64_t *values, size_t count)
{
	qsort(values, count, sizeof(*values), compare);
	return values[count / 2];
}

/* ---- from the ioctl until the fence is signaled ---- */

/* A fill of 64 bytes, whose sync_file is waited for. */
static int64_t submit_once(int fd, const struct guest_object *object, uint32_t value)
{
	static struct guest_work work;
	int64_t start;

	guest_work_start(&work, 0);
	guest_allocation(&work, object->handle, true);
	guest_fill(&work, 0, 0, 64, value);
	work.args.flags = PATCHBAY_SUBMIT_FENCE_OUT;
	start = guest_now_ns();
	CHECK_EQ(guest_submit(fd, &work), 0);
	CHECK_EQ(guest_fence_wait(work.args.out_fence_fd), 0);
	start = guest_now_ns() - start;
	CHECK_EQ(guest_fence_status(work.args.out_fence_fd), 1);
	close(work.args.out_fence_fd);
	return start;
}

struct vgem {
	int fd, buffer;
	uint32_t handle;
};

static struct vgem open_vgem(void)
{
	struct drm_mode_create_dumb create = {.width = 16, .height = 16, .bpp = 32};
	struct drm_prime_handle prime = {.flags = DRM_CLOEXEC};
	struct vgem vgem = {.fd = guest_open_primary("vgem")};

	CHECK(vgem.fd >= 0);
	CHECK_EQ(guest_ioctl(vgem.fd, DRM_IOCTL_MODE_CREATE_DUMB, &create), 0);
	prime.handle = create.handle;
	CHECK_EQ(guest_ioctl(vgem.fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime), 0);
	vgem.handle = create.handle;
	vgem.buffer = prime.fd;
	return vgem;
}

/* A fence is made, put into a sync_file, signaled and waited for: no device takes part. */
static int64_t vgem_once(const struct vgem *vgem)
{
	struct drm_vgem_fence_attach attach = {.handle = vgem->handle, .flags = VGEM_FENCE_WRITE};
	struct dma_buf_export_sync_file sync = {.flags = DMA_BUF_SYNC_RW, .fd = -1};
	struct drm_vgem_fence_signal signal = {0};
	int64_t start = guest_now_ns();

	CHECK_EQ(guest_ioctl(vgem->fd, DRM_IOCTL_VGEM_FENCE_ATTACH, &attach), 0);
	CHECK_EQ(guest_ioctl(vgem->buffer, DMA_BUF_IOCTL_EXPORT_SYNC_FILE, &sync), 0);
	signal.fence = attach.out_fence;
	CHECK_EQ(guest_ioctl(vgem->fd, DRM_IOCTL_VGEM_FENCE_SIGNAL, &signal), 0);
	CHECK_EQ(guest_fence_wait(sync.fd), 0);
	start = guest_now_ns() - start;
	CHECK_EQ(guest_fence_status(sync.fd), 1);
	close(sync.fd);
	return start;
}

/* One of each in turn, so that what else the machine does costs both. */
static void submissions(void)
{
	static int64_t ours[SUBMISSIONS], theirs[SUBMISSIONS];
	int fd = guest_open();
	struct guest_object object = guest_object(fd, 4096, 0);
	struct vgem vgem = open_vgem();

	for (uint32_t i = 0; i < WARM + SUBMISSIONS; i++) {
		int64_t our = submit_once(fd, &object, i), their = vgem_once(&vgem);

		if (i >= WARM) {
			ours[i - WARM] = our;
			theirs[i - WARM] = their;
		}
	}
	CHECK_EQ(object.words[0], WARM + SUBMISSIONS - 1);
	say("submissions", SUBMISSIONS);
	say("submit_ns", (uint64_t)median(ours, SUBMISSIONS));
	say("vgem_ns", (uint64_t)median(theirs, SUBMISSIONS));
}

/* ---- flips ---- */

struct display {
	int fd;
	uint32_t connector, crtc, framebuffers[2];
	struct drm_mode_modeinfo mode;
};

static uint32_t framebuffer(int fd)
{
	struct drm_mode_create_dumb create = {.width = 640, .height = 480, .bpp = 32};
	struct drm_mode_fb_cmd2 add = {.width = 640, .height = 480, .pixel_format = DRM_FORMAT_XRGB8888};

	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_MODE_CREATE_DUMB, &create), 0);
	add.handles[0] = create.handle;
	add.pitches[0] = create.pitch;
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_MODE_ADDFB2, &add), 0);
	return add.fb_id;
}

/* A display of 640x480 that is on. */
static struct display open_display(const char *driver)
{
	struct display display = {.fd = guest_open_primary(driver)};
	static struct drm_mode_modeinfo modes[64];
	uint32_t encoders[4];
	struct drm_mode_card_res resources = {.crtc_id_ptr = (uintptr_t)&display.crtc,
					      .count_crtcs = 1,
					      .connector_id_ptr = (uintptr_t)&display.connector,
					      .count_connectors = 1};
	struct drm_mode_get_connector connector = {0};
	struct drm_mode_crtc crtc = {.set_connectors_ptr = (uintptr_t)&display.connector, .count_connectors = 1,
				     .mode_valid = 1};

	CHECK(display.fd >= 0);
	CHECK_EQ(guest_ioctl(display.fd, DRM_IOCTL_MODE_GETRESOURCES, &resources), 0);
	connector.connector_id = display.connector;
	CHECK_EQ(guest_ioctl(display.fd, DRM_IOCTL_MODE_GETCONNECTOR, &connector), 0);
	CHECK(connector.count_modes > 0 && connector.count_modes <= 64);
	connector.modes_ptr = (uintptr_t)modes;
	connector.encoders_ptr = (uintptr_t)encoders;
	connector.count_props = 0;
	CHECK_EQ(guest_ioctl(display.fd, DRM_IOCTL_MODE_GETCONNECTOR, &connector), 0);
	for (uint32_t i = 0; i < connector.count_modes; i++)
		if (modes[i].hdisplay == 640 && modes[i].vdisplay == 480)
			crtc.mode = modes[i];
	CHECK_EQ(crtc.mode.hdisplay, 640);
	display.framebuffers[0] = framebuffer(display.fd);
	display.framebuffers[1] = framebuffer(display.fd);
	crtc.crtc_id = display.crtc;
	crtc.fb_id = display.framebuffers[0];
	CHECK_EQ(guest_ioctl(display.fd, DRM_IOCTL_MODE_SETCRTC, &crtc), 0);
	return display;
}

static void flip_often(const struct display *display)
{
	for (uint32_t i = 1; i <= FLIPS; i++) {
		struct pollfd poller = {.fd = display->fd, .events = POLLIN};
		struct drm_event_vblank event;
		struct drm_mode_crtc_page_flip flip = {.crtc_id = display->crtc, .flags = DRM_MODE_PAGE_FLIP_EVENT,
						       .fb_id = display->framebuffers[i % 2]};

		CHECK_EQ(guest_ioctl(display->fd, DRM_IOCTL_MODE_PAGE_FLIP, &flip), 0);
		CHECK_EQ(poll(&poller, 1, 20000), 1);
		CHECK_EQ(read(display->fd, &event, sizeof(event)), sizeof(event));
	}
}

/* ns that the machine's processors had nothing to do. */
static int64_t idle_ns(void)
{
	long long user, nice, system, idle, wait;
	FILE *file = fopen("/proc/stat", "r");

	CHECK(file);
	CHECK_EQ(fscanf(file, "cpu %lld %lld %lld %lld %lld", &user, &nice, &system, &idle, &wait), 5);
	fclose(file);
	return (idle + wait) * (GUEST_SECOND / sysconf(_SC_CLK_TCK));
}

/* Instructions of the card's MCU so far, without those of its idle loop. */
static uint64_t mcu_instructions(void)
{
	char answer[32] = "";

	printf("HOST count\n");
	fflush(stdout);
	CHECK(read(0, answer, sizeof(answer) - 1) > 0);
	return strtoull(answer, NULL, 10);
}

struct cost {
	int64_t elapsed, busy;
	uint64_t instructions;
};

/* What happens while a display is flipped; while nothing is, for `rest` ns. */
static struct cost measure(const struct display *display, int64_t rest)
{
	uint64_t instructions = mcu_instructions();
	int64_t start = guest_now_ns(), idle = idle_ns();
	struct cost cost;

	if (display)
		flip_often(display);
	else
		guest_sleep_ms((unsigned int)(rest / 1000000));
	cost.elapsed = guest_now_ns() - start;
	cost.busy = cost.elapsed - (idle_ns() - idle);
	cost.instructions = mcu_instructions() - instructions;
	return cost;
}

/* The card, vkms and rest in turn; the machine has one processor. */
static void flips(void)
{
	struct display card = open_display("patchbay"), vkms = open_display("vkms");
	int64_t ours[ROUNDS], theirs[ROUNDS], rests[ROUNDS], instructions[ROUNDS], mcu_rests[ROUNDS];

	for (uint32_t i = 0; i < ROUNDS; i++) {
		struct cost our = measure(&card, 0), their = measure(&vkms, 0), rest = measure(NULL, our.elapsed);
		/* A rest is as long as the flips were, but for its start and end. */
		double part = (double)our.elapsed / (double)rest.elapsed;

		ours[i] = our.busy / FLIPS;
		theirs[i] = their.busy / FLIPS;
		rests[i] = (int64_t)((double)rest.busy * part) / FLIPS;
		instructions[i] = (int64_t)((double)our.instructions - (double)rest.instructions * part) / FLIPS;
		mcu_rests[i] = (int64_t)((double)rest.instructions * 1e9 / (double)rest.elapsed);
	}
	say("flips", FLIPS * ROUNDS);
	say("flip_cpu_ns", (uint64_t)median(ours, ROUNDS));
	say("vkms_flip_cpu_ns", (uint64_t)median(theirs, ROUNDS));
	say("rest_cpu_ns", (uint64_t)median(rests, ROUNDS));
	say("instructions_per_flip", (uint64_t)median(instructions, ROUNDS));
	say("instructions_at_rest_per_s", (uint64_t)median(mcu_rests, ROUNDS));
}

int main(int argc, char **argv)
{
	static const struct guest_test parts[] = {{"submissions_cost", submissions}, {"flips_cost", flips}};

	return guest_run(parts, sizeof(parts) / sizeof(parts[0]), argc, argv);
}
