/* SPDX-License-Identifier: MIT */
/*
 * A camera for OpenGL programs: a library that is loaded into a program which stays as it is (LD_PRELOAD). Each time
 * the program shows a frame, its picture is stored; the program's own clock advances by a tenth of a second for each
 * frame, so that an animation shows the same pictures at any speed.
 *
 * PATCHBAY_CAMERA_FOLDER   pictures go to FOLDER/NNNN.ppm; without it the camera does nothing
 * PATCHBAY_CAMERA_FRAMES   so many are taken
 * PATCHBAY_CAMERA_UNTIL    a file: behind them the program goes on until the file exists; without it, it ends
 * PATCHBAY_CAMERA_PAUSE    milliseconds of rest behind each frame, so that a program is slow
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
/* Of OpenGL, GLX and EGL. */
#define GL_RGBA                      0x1908u
#define GL_UNSIGNED_BYTE             0x1401u
#define GL_PIXEL_PACK_BUFFER_BINDING 0x88edu
#define GLX_WIDTH                    0x801d
#define GLX_HEIGHT                   0x801e
#define EGL_HEIGHT                   0x3056
#define EGL_WIDTH                    0x3057
#define SIDE_MAX                     4096u
/* The program's clock at its first frame, and between two frames. */
#define FIRST_NS  1000000000000u
#define FRAME_NS  100000000u
#define SECOND_NS 1000000000u

typedef void (*any_function)(void);
typedef void *(*lookup)(void *handle, const char *name);
typedef void (*read_pixels)(int x, int y, int width, int height, unsigned format, unsigned type,
			    void *pixels);
typedef void (*get_integer)(unsigned name, int *value);
typedef void (*glx_swap)(void *display, unsigned long drawable);
typedef void (*glx_query)(void *display, unsigned long drawable, int attribute, unsigned *value);
typedef unsigned (*egl_swap)(void *display, void *surface);
typedef unsigned (*egl_query)(void *display, void *surface, int attribute, int *value);
typedef any_function (*find_function)(const char *name);
typedef int (*read_clock)(clockid_t clock, struct timespec *time);

/* What the program is to call instead of a function of GLX or EGL. */
EXPORT void glXSwapBuffers(void *display, unsigned long drawable);
EXPORT unsigned eglSwapBuffers(void *display, void *surface);
EXPORT any_function glXGetProcAddressARB(const char *name);

static uint64_t frames;

/* ---- functions that the camera stands before ---- */

/* C has no cast between pointers to objects and to functions; the linker's results are both. */
static any_function function_of(void *object)
{
	any_function function;

	memcpy(&function, &object, sizeof(function));
	return function;
}

static void *object_of(any_function function)
{
	void *object;

	memcpy(&object, &function, sizeof(object));
	return object;
}

/* The linker's own dlsym, whose name the camera takes. It has had several versions. */
static void *find(void *handle, const char *name)
{
	static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.17", "GLIBC_2.2.5"};
	static lookup linker;

	for (size_t i = 0; linker == NULL && i < sizeof(versions) / sizeof(versions[0]); i++)
		linker = (lookup)function_of(dlvsym(RTLD_NEXT, "dlsym", versions[i]));
	return linker(handle, name);
}

/* Finds a function of the OpenGL that the program has loaded, by itself or because it is linked with it. */
static any_function real(const char *name)
{
	static const char *const libraries[] = {"libGL.so.1", "libGLX.so.0", "libEGL.so.1", "libGLESv2.so.2"};
	void *function = NULL;

	for (size_t i = 0; function == NULL && i < sizeof(libraries) / sizeof(libraries[0]); i++) {
		void *library = dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD);

		if (library != NULL)
			function = find(library, name);
	}
	if (function == NULL) {
		fprintf(stderr, "camera: there is no %s\n", name);
		_exit(1);
	}
	return function_of(function);
}

/* Finds the camera's own function of that name. NULL: it stands before none. */
static any_function own(const char *name)
{
	if (strcmp(name, "glXSwapBuffers") == 0)
		return (any_function)glXSwapBuffers;
	if (strcmp(name, "eglSwapBuffers") == 0)
		return (any_function)eglSwapBuffers;
	if (strcmp(name, "glXGetProcAddressARB") == 0 || strcmp(name, "glXGetProcAddress") == 0)
		return (any_function)glXGetProcAddressARB;
	return NULL;
}

/* ---- pictures ---- */

static uint32_t number_of(const char *name)
{
	const char *text = getenv(name);

	return text != NULL ? (uint32_t)strtoul(text, NULL, 10) : 0;
}

/* Stores a picture, whose rows OpenGL has from the bottom up. */
static void store(const uint8_t *pixels, uint32_t width, uint32_t height)
{
	char path[PATH_MAX];
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/%04u.ppm", getenv("PATCHBAY_CAMERA_FOLDER"), (unsigned)frames);
	file = fopen(path, "wb");
	if (file == NULL) {
		perror(path);
		_exit(1);
	}
	fprintf(file, "P6\n%u %u\n255\n", (unsigned)width, (unsigned)height);
	for (uint32_t y = height; y-- != 0;) {
		for (uint32_t x = 0; x < width; x++)
			(void)fwrite(&pixels[4u * ((size_t)y * width + x)], 1, 3, file);
	}
	if (fclose(file) != 0) {
		perror(path);
		_exit(1);
	}
}

static void take_picture(uint32_t width, uint32_t height)
{
	uint8_t *pixels;
	int pack = 0;

	((get_integer)real("glGetIntegerv"))(GL_PIXEL_PACK_BUFFER_BINDING, &pack);
	pixels = width <= SIDE_MAX && height <= SIDE_MAX ? malloc((size_t)width * height * 4u) : NULL;
	if (pixels == NULL || pack != 0) {
		fprintf(stderr, "camera: a frame of %u x %u cannot be read\n", (unsigned)width,
			(unsigned)height);
		_exit(1);
	}
	((read_pixels)real("glReadPixels"))(0, 0, (int)width, (int)height, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
	store(pixels, width, height);
	free(pixels);
}

static bool is_wanted(void)
{
	return getenv("PATCHBAY_CAMERA_FOLDER") != NULL && frames < number_of("PATCHBAY_CAMERA_FRAMES");
}

/* A frame has been shown. */
static void count_frame(void)
{
	const uint32_t pause = number_of("PATCHBAY_CAMERA_PAUSE");
	const struct timespec rest = {.tv_sec = pause / 1000u, .tv_nsec = (long)(pause % 1000u) * 1000000L};
	const char *until = getenv("PATCHBAY_CAMERA_UNTIL");

	frames++;
	if (getenv("PATCHBAY_CAMERA_FOLDER") == NULL)
		return;
	if (frames >= number_of("PATCHBAY_CAMERA_FRAMES") && (until == NULL || access(until, F_OK) == 0))
		exit(0);
	if (pause != 0)
		(void)nanosleep(&rest, NULL);
}

void glXSwapBuffers(void *display, unsigned long drawable)
{
	unsigned width = 0, height = 0;

	if (is_wanted()) {
		((glx_query)real("glXQueryDrawable"))(display, drawable, GLX_WIDTH, &width);
		((glx_query)real("glXQueryDrawable"))(display, drawable, GLX_HEIGHT, &height);
		take_picture(width, height);
	}
	((glx_swap)real("glXSwapBuffers"))(display, drawable);
	count_frame();
}

unsigned eglSwapBuffers(void *display, void *surface)
{
	int width = 0, height = 0;
	unsigned result;

	if (is_wanted()) {
		(void)((egl_query)real("eglQuerySurface"))(display, surface, EGL_WIDTH, &width);
		(void)((egl_query)real("eglQuerySurface"))(display, surface, EGL_HEIGHT, &height);
		take_picture((uint32_t)width, (uint32_t)height);
	}
	result = ((egl_swap)real("eglSwapBuffers"))(display, surface);
	count_frame();
	return result;
}

/* ---- the program's clock ---- */

/* Whether an address is in the program itself: libraries have their own time. */
static bool is_program(const void *address)
{
	Dl_info place;

	return dladdr(address, &place) != 0 && place.dli_fname != NULL &&
	       strcmp(place.dli_fname, program_invocation_name) == 0;
}

/* ---- what programs that look functions up find ---- */

any_function glXGetProcAddressARB(const char *name)
{
	const any_function function = own(name);

	return function != NULL ? function : ((find_function)real("glXGetProcAddressARB"))(name);
}

EXPORT void *dlsym(void *restrict handle, const char *restrict name)
{
	const any_function function = is_program(__builtin_return_address(0)) ? own(name) : NULL;

	return function != NULL ? object_of(function) : find(handle, name);
}

static uint64_t program_time(void)
{
	return FIRST_NS + frames * FRAME_NS;
}

EXPORT int clock_gettime(clockid_t clock, struct timespec *time)
{
	if (!is_program(__builtin_return_address(0)))
		return ((read_clock)function_of(find(RTLD_NEXT, "clock_gettime")))(clock, time);
	time->tv_sec = (time_t)(program_time() / SECOND_NS);
	time->tv_nsec = (long)(program_time() % SECOND_NS);
	return 0;
}

EXPORT int gettimeofday(struct timeval *restrict time, void *restrict zone)
{
	struct timespec now;

	(void)zone;
	if (is_program(__builtin_return_address(0))) {
		time->tv_sec = (time_t)(program_time() / SECOND_NS);
		time->tv_usec = (suseconds_t)(program_time() % SECOND_NS / 1000u);
		return 0;
	}
	if (((read_clock)function_of(find(RTLD_NEXT, "clock_gettime")))(CLOCK_REALTIME, &now) != 0)
		return -1;
	time->tv_sec = now.tv_sec;
	time->tv_usec = now.tv_nsec / 1000;
	return 0;
}
