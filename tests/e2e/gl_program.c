/* SPDX-License-Identifier: MIT */
/*
 * An OpenGL program as others write them: it knows EGL and OpenGL, and nothing of a card. It draws to a framebuffer
 * object of its own, so that it needs no display.
 *
 * gl_program frames N WORK   draws N frames of equal work, each with a texture that it changes before; prints "frame"
 *                            behind each 10th, then a sum of the picture
 * gl_program flood N WORK    draws N frames and never waits; prints as above
 * gl_program textures N SIZE draws N textures again and again, one after the other; prints a sum of the picture
 * gl_program endless         draws with a shader that takes hours
 * gl_program hoard           makes textures until it cannot
 * gl_program wait            draws nothing, until it is ended
 *
 * Exit status: 0 done, 1 there is no OpenGL, 3 OpenGL reports an error or a lost context.
 */
#define GL_GLEXT_PROTOTYPES
#define EGL_EGLEXT_PROTOTYPES
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GLES2/gl2.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of the picture, and of the texture of a frame. */
#define SIZE   256
#define TEXELS 4
/* So that none is in use any more when it is changed. */
#define TEXTURES 64
/* What a frame has many of, so that a packet has few frames. */
#define TINTS 900

static const char vertex_text[] =
	"attribute vec2 place;\n"
	"varying vec2 at;\n"
	"void main() { at = place * 0.5 + 0.5; gl_Position = vec4(place, 0.0, 1.0); }\n";

/* Integers alone: every processor computes them alike. The texel says which frame it is. */
static const char frames_text[] =
	"precision highp float;\n"
	"varying vec2 at;\n"
	"uniform float number;\n"
	"uniform vec4 tints[900];\n"
	"uniform sampler2D image;\n"
	"void main() {\n"
	"  float frame = floor(texture2D(image, at).r * 255.0 + 0.5);\n"
	"  float x = floor(at.x * 256.0) + frame, y = floor(at.y * 256.0);\n"
	"  for (int i = 0; i < 1000000; i++) {\n"
	"    if (float(i) >= number) break;\n"
	"    x = mod(x * 5.0 + y + 1.0, 1024.0);\n"
	"  }\n"
	"  x = mod(x + tints[int(mod(x, 900.0))].x, 1024.0);\n"
	"  gl_FragColor = vec4(mod(x, 256.0) / 255.0, floor(x / 256.0) / 255.0, frame / 255.0, 1.0);\n"
	"}\n";

static const char textures_text[] = "precision highp float;\n"
				    "varying vec2 at;\n"
				    "uniform sampler2D image;\n"
				    "uniform float number;\n"
				    "void main() { gl_FragColor = texture2D(image, at); }\n";

static const char endless_text[] = "precision highp float;\n"
				   "varying vec2 at;\n"
				   "uniform float number;\n"
				   "void main() {\n"
				   "  float x = at.x;\n"
				   "  for (int i = 0; i < 60000; i++)\n"
				   "    for (int j = 0; j < 60000; j++)\n"
				   "      x = sin(x + number) + at.y;\n"
				   "  gl_FragColor = vec4(x);\n"
				   "}\n";

static bool start(void)
{
	static const EGLint attributes[] = {EGL_CONTEXT_CLIENT_VERSION, 2, EGL_NONE};
	static const EGLint kind[] = {EGL_RENDERABLE_TYPE, EGL_OPENGL_ES2_BIT, EGL_SURFACE_TYPE,
				      EGL_PBUFFER_BIT, EGL_NONE};
	const EGLDisplay display =
		eglGetPlatformDisplay(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL);
	EGLContext context;
	EGLConfig config;
	EGLint count = 0;

	if (!eglInitialize(display, NULL, NULL) || !eglBindAPI(EGL_OPENGL_ES_API) ||
	    !eglChooseConfig(display, kind, &config, 1, &count) || count == 0)
		return false;
	context = eglCreateContext(display, config, EGL_NO_CONTEXT, attributes);
	return context != EGL_NO_CONTEXT && eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context);
}

static GLuint compile(GLenum kind, const char *text)
{
	const GLuint shader = glCreateShader(kind);

	glShaderSource(shader, 1, &text, NULL);
	glCompileShader(shader);
	return shader;
}

/* A framebuffer, a program, and a rectangle over everything. @return where the program has its number */
static GLint prepare(const char *text)
{
	static const GLfloat places[] = {-1, -1, 1, -1, -1, 1, 1, 1};
	const GLuint program = glCreateProgram();
	GLuint framebuffer, picture;

	glGenTextures(1, &picture);
	glBindTexture(GL_TEXTURE_2D, picture);
	glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, SIZE, SIZE, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
	glGenFramebuffers(1, &framebuffer);
	glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
	glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, picture, 0);
	glViewport(0, 0, SIZE, SIZE);
	glAttachShader(program, compile(GL_VERTEX_SHADER, vertex_text));
	glAttachShader(program, compile(GL_FRAGMENT_SHADER, text));
	glBindAttribLocation(program, 0, "place");
	glLinkProgram(program);
	glUseProgram(program);
	glEnableVertexAttribArray(0);
	glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, places);
	return glGetUniformLocation(program, "number");
}

static void print_sum(void)
{
	static uint8_t pixels[SIZE * SIZE * 4];
	uint32_t sum = 2166136261u;

	glReadPixels(0, 0, SIZE, SIZE, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
	for (uint32_t i = 0; i < sizeof(pixels); i++)
		sum = (sum ^ pixels[i]) * 16777619u;
	printf("picture %08x\n", sum);
}

/* Fills the bound texture with what only its number says. */
static void fill(long number, long size)
{
	uint32_t *texels = malloc((size_t)(size * size) * sizeof(*texels));

	for (long i = 0; i < size * size; i++)
		texels[i] = (uint32_t)(i * 2654435761u + number * 40503u) | 0xff000000u;
	glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, (GLsizei)size, (GLsizei)size, 0, GL_RGBA, GL_UNSIGNED_BYTE,
		     texels);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
	free(texels);
}

static GLuint make_texture(long number, long size)
{
	GLuint texture;

	glGenTextures(1, &texture);
	glBindTexture(GL_TEXTURE_2D, texture);
	fill(number, size);
	return texture;
}

static void change_texture(long frame)
{
	uint32_t texels[TEXELS * TEXELS];

	for (uint32_t texel = 0; texel < TEXELS * TEXELS; texel++)
		texels[texel] = 0xff000000u | (uint32_t)frame % 256u;
	glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, TEXELS, TEXELS, GL_RGBA, GL_UNSIGNED_BYTE, texels);
}

/* Equal work in each. @param changes a texture before each: the program waits for the engine now and then */
static void draw_frames(long count, long work, bool changes)
{
	const GLint number = prepare(frames_text);
	GLfloat tints[TINTS * 4] = {0};
	GLint program, tint;
	GLuint textures[TEXTURES];

	glGetIntegerv(GL_CURRENT_PROGRAM, &program);
	tint = glGetUniformLocation((GLuint)program, "tints");
	glUniform1f(number, (GLfloat)work);
	for (long i = 0; i < TEXTURES; i++)
		textures[i] = make_texture(0, TEXELS);
	for (long i = 1; i <= count; i++) {
		if (changes) {
			glBindTexture(GL_TEXTURE_2D, textures[i % TEXTURES]);
			change_texture(i);
		}
		for (long j = 0; j < TINTS; j++)
			tints[4 * j] = (GLfloat)((i + j) % 1000);
		glUniform4fv(tint, TINTS, tints);
		glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
		glFlush();
		if (i % 10 == 0)
			puts("frame");
	}
	print_sum();
}

/* Each texture in a strip of its own, three times around; the sum of each round is printed. */
static void draw_textures(long count, long size)
{
	GLuint *textures = calloc((size_t)count, sizeof(*textures));

	(void)prepare(textures_text);
	for (long i = 0; i < count; i++)
		textures[i] = make_texture(i, size);
	glEnable(GL_SCISSOR_TEST);
	for (long round = 0; round < 3; round++) {
		for (long i = 0; i < count; i++) {
			const long strip = (i * 7 + round) % count;

			glScissor((GLint)(strip * SIZE / count), 0, (GLsizei)(SIZE / count) + 1, SIZE);
			glBindTexture(GL_TEXTURE_2D, textures[i]);
			glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
		}
		print_sum();
	}
	free(textures);
}

static void draw_without_end(void)
{
	const GLint number = prepare(endless_text);

	puts("endless");
	glUniform1f(number, 0.5f);
	glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
	glFinish();
	print_sum();
}

static void hoard(void)
{
	GLuint texture;

	(void)prepare(textures_text);
	for (long i = 0; glGetError() == GL_NO_ERROR; i++) {
		glGenTextures(1, &texture);
		glBindTexture(GL_TEXTURE_2D, texture);
		glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, 2048, 2048, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
		glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
		glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
		glFinish();
		printf("textures %ld\n", i);
	}
	exit(3);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	const long count = argc > 2 ? strtol(argv[2], NULL, 10) : 1;

	(void)setvbuf(stdout, NULL, _IOLBF, 0);
	if (!start())
		return 1;
	if (strcmp(what, "frames") == 0 || strcmp(what, "flood") == 0)
		draw_frames(count, argc > 3 ? strtol(argv[3], NULL, 10) : 200, what[1] == 'r');
	else if (strcmp(what, "textures") == 0)
		draw_textures(count, argc > 3 ? strtol(argv[3], NULL, 10) : 64);
	else if (strcmp(what, "endless") == 0)
		draw_without_end();
	else if (strcmp(what, "hoard") == 0)
		hoard();
	else
		(void)pause();
	return glGetError() == GL_NO_ERROR ? 0 : 3;
}
