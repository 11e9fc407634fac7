/* SPDX-License-Identifier: MIT */
/* RenderKm: the kernel's drawing commands reach memory, or are refused before anything is written. */
#include <string.h>

#include "patchbay/wddm/ddi_gdi.h"
#include "tests/wddm/wddm_world.h"

#define REFUSED  0xc000000du
#define CUT      0xc00000e8u
#define COLUMNS  16
#define ROWS     64
#define PARTS    4u
#define COMMANDS 6u
/** DXGK_RENDERKM_COMMAND with BitBlt and with ColorFill, on 64-bit and on 32-bit Windows. */
#define BLT_BYTES  (sizeof(void *) == 8 ? 80u : 68u)
#define FILL_BYTES (sizeof(void *) == 8 ? 48u : 44u)

static struct vm vm;

/** The command buffer, and the rectangles that its commands point to. */
static union {
	uint8_t bytes[1024];
	uint64_t align;
} buffer;
static uint32_t length;
static struct pb_rect parts[COMMANDS][PARTS];

static uint32_t some(uint32_t bound)
{
	return vm_random(&vm, bound);
}

/** A command whose unused bytes hold anything. */
static struct pb_dxgk_renderkm_command garbage(void)
{
	struct pb_dxgk_renderkm_command command;
	uint8_t bytes[sizeof(command)];

	for (uint32_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)some(256);
	memcpy(&command, bytes, sizeof(command));
	return command;
}

/** Appends a command of `size` bytes, of which `bytes` are its own. */
static void append(struct pb_dxgk_renderkm_command *command, uint32_t bytes, uint32_t size)
{
	command->CommandSize = size;
	assert_true(length + size <= sizeof(buffer));
	memset(buffer.bytes + length, 0xa5, size);
	memcpy(buffer.bytes + length, command, bytes < size ? bytes : size);
	length += size;
}

static void append_fill(struct pb_rect rect, uint32_t color)
{
	struct pb_dxgk_renderkm_command command = garbage();

	command.OpCode = PB_DXGK_GDIOP_COLORFILL;
	command.Command.ColorFill.DstRect = rect;
	command.Command.ColorFill.DstAllocationIndex = 1;
	command.Command.ColorFill.NumSubRects = 0;
	command.Command.ColorFill.Color = color;
	command.Command.ColorFill.Rop = 1;
	append(&command, FILL_BYTES, FILL_BYTES);
}

static struct pb_dxgkarg_render arguments_of(struct vm_buffer *dma, struct vm_context *context)
{
	struct pb_dxgkarg_render render = vm_render_arguments(&vm, context, dma);

	render.pCommand = buffer.bytes;
	render.CommandLength = length;
	/* Nothing reads these. */
	render.pPatchLocationListIn = (const void *)(uintptr_t)3;
	render.PatchLocationListInSize = 77;
	render.DmaBufferSegmentId = 0xa5a5a5a5;
	render.DmaBufferPhysicalAddress = UINT64_C(0xa5a5a5a5a5a5a5a5);
	return render;
}

/** Queues a buffer, at times in two parts. */
static void queue(struct vm_buffer *dma, const struct pb_dxgkarg_render *render)
{
	uint32_t split = 0;
	struct os_packet packet;

	dma->bytes = (uint32_t)((uint8_t *)render->pDmaBuffer - dma->memory.bytes_host);
	dma->patch_count = (uint32_t)(render->pPatchLocationListOut - dma->patches);
	dma->private_end =
		(uint32_t)((uint8_t *)render->pDmaBufferPrivateData - (uint8_t *)dma->private_data);
	if (dma->patch_count != 0 && some(2) == 0)
		split = dma->patches[some(dma->patch_count)].split_offset;
	if (split != 0) {
		packet = vm_packet(dma, 0, 0, split);
		vm_queue(&vm, &packet);
	}
	packet = vm_packet(dma, 0, split, dma->bytes);
	vm_queue(&vm, &packet);
}

/** Renders the command buffer into DMA buffers of up to `most` bytes each, and queues them. @return their number */
static uint32_t draw(struct vm_context *context, uint32_t most)
{
	uint32_t offset = 0;

	for (uint32_t buffers = 1;; buffers++) {
		struct vm_buffer *dma = vm_buffer(&vm, context);
		struct pb_dxgkarg_render render;
		uint32_t status;

		assert_non_null(dma);
		render = arguments_of(dma, context);
		render.DmaSize = 64 + some(most - 63);
		render.PatchLocationListOutSize = 3 + some(VM_PATCHES - 2);
		render.MultipassOffset = offset;
		status = pb_wddm_render_km(&context->shim, &render);
		queue(dma, &render);
		if (status == PB_STATUS_SUCCESS)
			return buffers;
		assert_int_equal(status, PB_STATUS_INSUFFICIENT_DMA_BUFFER);
		assert_true(render.MultipassOffset > offset);
		offset = render.MultipassOffset;
		if (buffers % 16 == 0)
			vm_finish(&vm);
	}
}

static uint32_t *pixel(struct vm_context *context, uint32_t index, int32_t x, int32_t y)
{
	return &context->allocations[index - 1].model[y * COLUMNS + x];
}

/** A fill whose words, taken for commands of this project, are two NOPs: SUCCESS without a pixel would lose it. */
static void a_color_fill_is_never_lost(void **state)
{
	const int32_t left = (int32_t)FILL_BYTES / 4 - 2;
	struct vm_context *context = &vm.contexts[0];

	(void)state;
	vm_start(&vm, 100);
	length = 0;
	append_fill((struct pb_rect){left, 1, 14, 5}, 0x11223344);
	for (int32_t y = 1; y < 5; y++)
		for (int32_t x = left; x < 14; x++)
			*pixel(context, 1, x, y) = 0x11223344;
	assert_int_equal(draw(context, VM_BUFFER), 1);
	vm_finish(&vm);
	vm_compare(&vm, "fill");
	vm_stop(&vm);
}

/* ---- what is refused ---- */

/** One command, and what is wrong with it. */
static const struct {
	const char *name;
	uint32_t operation;
	uint32_t rop; /**< Rop, or SourceConstantAlpha and SourceHasAlpha, or Flags */
	uint32_t rop3;
	struct pb_rect source;
	struct pb_rect destination;
	uint32_t from;
	uint32_t to;
	uint32_t status;
} rows[] = {
	{"copy", 1, 1, 7, {0, 0, 4, 4}, {4, 4, 8, 8}, 1, 2, 0},
	{"copy by ROP3", 1, 5, 0xcc, {0, 0, 4, 4}, {4, 4, 8, 8}, 1, 2, 0},
	{"xor by ROP3", 1, 5, 0x66, {0, 0, 4, 4}, {4, 4, 8, 8}, 1, 2, REFUSED},
	{"no ROP", 1, 0, 0xcc, {0, 0, 4, 4}, {4, 4, 8, 8}, 1, 2, REFUSED},
	{"SRCINVERT", 1, 2, 0xcc, {0, 0, 4, 4}, {4, 4, 8, 8}, 1, 2, REFUSED},
	{"SRCAND", 1, 3, 0xcc, {0, 0, 4, 4}, {4, 4, 8, 8}, 1, 2, REFUSED},
	{"SRCOR", 1, 4, 0xcc, {0, 0, 4, 4}, {4, 4, 8, 8}, 1, 2, REFUSED},
	{"unknown ROP", 1, 6, 0xcc, {0, 0, 4, 4}, {4, 4, 8, 8}, 1, 2, REFUSED},
	{"scaled copy", 1, 1, 0, {0, 0, 4, 4}, {4, 4, 9, 8}, 1, 2, REFUSED},
	{"copy to the NULL allocation", 1, 1, 0, {0, 0, 4, 4}, {4, 4, 8, 8}, 1, 0, REFUSED},
	{"copy from the NULL allocation", 1, 1, 0, {0, 0, 4, 4}, {4, 4, 8, 8}, 0, 1, REFUSED},
	{"copy to no allocation", 1, 1, 0, {0, 0, 4, 4}, {4, 4, 8, 8}, 1, 5, REFUSED},
	{"copy from no allocation", 1, 1, 0, {0, 0, 4, 4}, {4, 4, 8, 8}, 0xffffffff, 1, REFUSED},
	{"source left of 0", 1, 1, 0, {-1, 0, 3, 4}, {4, 4, 8, 8}, 1, 2, REFUSED},
	{"destination above 0", 1, 1, 0, {0, 0, 4, 4}, {4, -1, 8, 3}, 1, 2, REFUSED},
	{"upside down", 1, 1, 0, {0, 4, 4, 0}, {4, 8, 8, 4}, 1, 2, REFUSED},
	{"right of the surface", 1, 1, 0, {0, 0, 4, 4}, {13, 4, 17, 8}, 1, 2, REFUSED},
	{"below the surface", 1, 1, 0, {0, 0, 4, 4}, {4, 61, 8, 65}, 1, 2, REFUSED},
	{"below the source", 1, 1, 0, {0, 61, 4, 65}, {4, 4, 8, 8}, 1, 2, REFUSED},
	{"far below", 1, 1, 0, {0, 0, 4, 4}, {0, 0x7ffffff0, 4, 0x7ffffff4}, 1, 2, REFUSED},
	{"extremes", 1, 1, 0, {0, 0, 0x7fffffff, 0x7fffffff}, {0, 0, 0x7fffffff, 0x7fffffff}, 1, 2, REFUSED},
	{"least and most",
	 1,
	 1,
	 0,
	 {INT32_MIN, 0, INT32_MAX, 1},
	 {INT32_MIN, 0, INT32_MAX, 1},
	 1,
	 2,
	 REFUSED},
	{"within a surface", 1, 1, 0, {0, 0, 4, 4}, {4, 0, 8, 4}, 1, 1, 0},
	{"onto itself", 1, 1, 0, {0, 0, 4, 4}, {3, 3, 7, 7}, 1, 1, REFUSED},
	{"nothing", 1, 1, 0, {2, 2, 2, 6}, {5, 5, 5, 9}, 1, 2, 0},
	{"fill", 2, 1, 7, {0}, {4, 4, 8, 8}, 0, 2, 0},
	{"fill by ROP3", 2, 7, 0xf0, {0}, {4, 4, 8, 8}, 0, 2, 0},
	{"invert by ROP3", 2, 7, 0x55, {0}, {4, 4, 8, 8}, 0, 2, REFUSED},
	{"PATINVERT", 2, 2, 0xf0, {0}, {4, 4, 8, 8}, 0, 2, REFUSED},
	{"PATOR", 2, 6, 0xf0, {0}, {4, 4, 8, 8}, 0, 2, REFUSED},
	{"fill no allocation", 2, 1, 0, {0}, {4, 4, 8, 8}, 0, 5, REFUSED},
	{"fill right of the surface", 2, 1, 0, {0}, {4, 4, 17, 8}, 0, 2, REFUSED},
	{"fill below the surface", 2, 1, 0, {0}, {4, 4, 8, 65}, 0, 2, REFUSED},
	{"opaque blend", 3, 0x00ff, 0, {0, 0, 4, 4}, {4, 4, 8, 8}, 1, 2, 0},
	{"translucent blend", 3, 0x00fe, 0, {0, 0, 4, 4}, {4, 4, 8, 8}, 1, 2, REFUSED},
	{"blend by pixel", 3, 0x01ff, 0, {0, 0, 4, 4}, {4, 4, 8, 8}, 1, 2, REFUSED},
	{"stretch to the same size", 4, 3, 0, {0, 0, 4, 4}, {4, 4, 8, 8}, 1, 2, 0},
	{"stretch", 4, 3, 0, {0, 0, 4, 4}, {4, 4, 8, 12}, 1, 2, REFUSED},
	{"mirrored", 4, 0x10003, 0, {0, 0, 4, 4}, {4, 4, 8, 8}, 1, 2, REFUSED},
	{"upside down by mirror", 4, 0x20003, 0, {0, 0, 4, 4}, {4, 4, 8, 8}, 1, 2, REFUSED},
	{"escape", 5, 0, 0, {0}, {0}, 0, 0, 0},
	{"transparent", 6, 0, 0, {0, 0, 4, 4}, {4, 4, 8, 8}, 1, 2, REFUSED},
	{"ClearType", 7, 0, 0, {0, 0, 4, 4}, {4, 4, 8, 8}, 1, 2, REFUSED},
	{"unknown", 8, 0, 0, {0}, {0}, 0, 0, REFUSED},
	{"zero", 0, 0, 0, {0}, {0}, 0, 0, REFUSED},
};

static struct pb_dxgk_renderkm_command command_of(size_t r)
{
	struct pb_dxgk_renderkm_command command = garbage();

	command.OpCode = rows[r].operation;
	switch (rows[r].operation) {
	case 1:
		command.Command.BitBlt = (struct pb_dxgk_gdiarg_bitblt){
			rows[r].source, rows[r].destination,   rows[r].from,           rows[r].to, 0,
			NULL,           (uint16_t)rows[r].rop, (uint16_t)rows[r].rop3, VM_PITCH,   VM_PITCH};
		break;
	case 2:
		command.Command.ColorFill = (struct pb_dxgk_gdiarg_colorfill){
			rows[r].destination,   rows[r].to, 0, NULL, 5, (uint16_t)rows[r].rop,
			(uint16_t)rows[r].rop3};
		break;
	case 3:
		command.Command.AlphaBlend = (struct pb_dxgk_gdiarg_alphablend){
			rows[r].source,       rows[r].destination,         rows[r].from, rows[r].to, 0, NULL,
			(uint8_t)rows[r].rop, (uint8_t)(rows[r].rop >> 8), VM_PITCH};
		break;
	case 4:
		command.Command.StretchBlt = (struct pb_dxgk_gdiarg_stretchblt){
			rows[r].source, rows[r].destination, rows[r].to, rows[r].from, 0,
			NULL,           rows[r].rop,         VM_PITCH};
		break;
	default:
		break;
	}
	return command;
}

/** Each row alone, and behind a good command, which then is not drawn either. */
static void each_command_is_drawn_or_refused(void **state)
{
	struct vm_context *context = &vm.contexts[0];
	struct vm_buffer *dma;

	(void)state;
	vm_start(&vm, 100);
	dma = vm_buffer(&vm, context);
	for (size_t i = 0; i < 2 * sizeof(rows) / sizeof(rows[0]); i++) {
		const size_t r = i / 2;
		struct pb_dxgk_renderkm_command command = command_of(r);
		struct pb_dxgkarg_render render;
		struct pb_dxgkarg_render before;

		length = 0;
		if (i % 2 != 0)
			append_fill((struct pb_rect){0, 0, 2, 2}, 9);
		append(&command, sizeof(command), (uint32_t)sizeof(command));
		render = arguments_of(dma, context);
		before = render;
		card_equal(rows[r].name, pb_wddm_render_km(&context->shim, &render), rows[r].status);
		if (rows[r].status != 0)
			assert_memory_equal(&render, &before, sizeof(render));
		assert_false(context->shim.lost);
	}
	vm_stop(&vm);
}

/** Sizes of commands: the last byte of the buffer belongs to a whole command. */
static const struct {
	const char *name;
	uint32_t operation;
	uint32_t less; /**< CommandSize is that of a BitBlt, less this */
	uint32_t cut;  /**< CommandLength is less by this */
	uint32_t status;
} sizes[] = {
	{"whole", 1, 0, 0, 0},
	{"a byte short", 1, 1, 0, CUT},
	{"cut off", 1, 0, 1, CUT},
	{"empty command", 1, BLT_BYTES, 0, CUT},
	{"empty escape", 5, BLT_BYTES, 0, CUT},
	{"escape of a head", 5, BLT_BYTES - 8, 0, 0},
	{"half a head", 5, BLT_BYTES - 8, 4, CUT},
	{"more than there is", 5, (uint32_t)-8, 0, CUT},
	{"as much as a word holds", 5, BLT_BYTES + 1, 0, CUT},
};

static void sizes_of_commands_are_checked(void **state)
{
	struct vm_context *context = &vm.contexts[0];
	struct vm_buffer *dma;

	(void)state;
	vm_start(&vm, 100);
	dma = vm_buffer(&vm, context);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		const uint32_t size = BLT_BYTES - sizes[i].less;
		struct pb_dxgk_renderkm_command command = command_of(0);
		struct pb_dxgkarg_render render;

		length = 0;
		command.OpCode = sizes[i].operation;
		append(&command, BLT_BYTES, BLT_BYTES);
		memcpy(buffer.bytes + 4, &size, sizeof(size));
		length = (size <= BLT_BYTES && size != 0 ? size : BLT_BYTES) - sizes[i].cut;
		render = arguments_of(dma, context);
		card_equal(sizes[i].name, pb_wddm_render_km(&context->shim, &render), sizes[i].status);
	}
	vm_stop(&vm);
}

static void other_limits(void **state)
{
	static const struct pb_rect outside[] = {{4, 4, 8, 8}, {4, 4, 8, 9}};
	struct vm_context *context = &vm.contexts[0];
	struct pb_dxgk_renderkm_command command;
	struct pb_dxgkarg_render render;
	struct vm_buffer *dma;

	(void)state;
	vm_start(&vm, 100);
	dma = vm_buffer(&vm, context);
	/* The second part does not lie in its destination, and parts that are not there. */
	command = command_of(0);
	command.Command.BitBlt.NumSubRects = 2;
	for (uint32_t i = 0; i < 3; i++) {
		command.Command.BitBlt.pSubRects = i == 0 ? NULL : outside;
		command.Command.BitBlt.NumSubRects = i == 2 ? 1 : 2;
		length = 0;
		append(&command, BLT_BYTES, BLT_BYTES);
		render = arguments_of(dma, context);
		assert_int_equal(pb_wddm_render_km(&context->shim, &render), i == 2 ? 0 : REFUSED);
	}
	/* Pitches that are no multiple of 4, or shorter than a row, or missing. */
	for (uint32_t i = 0; i < 4; i++) {
		static const uint32_t pitches[4] = {66, 28, 0, 64};

		command.Command.BitBlt.DstPitch = pitches[i];
		length = 0;
		append(&command, BLT_BYTES, BLT_BYTES);
		render = arguments_of(dma, context);
		assert_int_equal(pb_wddm_render_km(&context->shim, &render), i == 3 ? 0 : REFUSED);
	}
	/* A pass behind the last, an allocation that may not be written to, staging memory for no part, no room for one. */
	render = arguments_of(dma, context);
	render.MultipassOffset = 2;
	assert_int_equal(pb_wddm_render_km(&context->shim, &render), REFUSED);
	render = arguments_of(dma, context);
	dma->rendered[2].Value &= ~1u;
	assert_int_equal(pb_wddm_render_km(&context->shim, &render), REFUSED);
	render = arguments_of(dma, context);
	context->shim.staging_size = (uint32_t)pb_wddm_staging_bytes(56, VM_LIST, 0) - 1;
	assert_int_equal(pb_wddm_render_km(&context->shim, &render), 0xc0000017);
	context->shim.staging_size++;
	render.DmaSize = 63;
	assert_int_equal(pb_wddm_render_km(&context->shim, &render), PB_STATUS_INSUFFICIENT_DMA_BUFFER);
	assert_int_equal(render.MultipassOffset, 0);
	assert_ptr_equal(render.pDmaBuffer, dma->memory.bytes_host);
	render.DmaSize = 64;
	assert_int_equal(pb_wddm_render_km(&context->shim, &render), PB_STATUS_SUCCESS);
	vm_stop(&vm);
}

/* ---- random drawings ---- */

static struct pb_rect random_rect(int32_t width, int32_t height)
{
	const int32_t left = (int32_t)some((uint32_t)(COLUMNS - width + 1));
	const int32_t top = (int32_t)some((uint32_t)(ROWS - height + 1));

	return (struct pb_rect){left, top, left + width, top + height};
}

/** Parts of a rectangle, some of them empty. @return their number; 0: the whole rectangle */
static uint32_t random_parts(struct pb_rect *to, const struct pb_rect *whole)
{
	const uint32_t count = some(PARTS + 1);

	for (uint32_t i = 0; i < count; i++) {
		const int32_t x = (int32_t)some((uint32_t)(whole->right - whole->left + 1));
		const int32_t y = (int32_t)some((uint32_t)(whole->bottom - whole->top + 1));

		to[i] = *whole;
		to[i].left += x;
		to[i].top += y;
		if (some(2) == 0)
			to[i].right = to[i].left + (int32_t)some((uint32_t)(whole->right - to[i].left + 1));
		if (some(2) == 0)
			to[i].bottom = to[i].top + (int32_t)some((uint32_t)(whole->bottom - to[i].top + 1));
	}
	return count;
}

/** What a copy or a fill does to the model. @param from 0: a fill */
static void model(struct vm_context *context, uint32_t from, const struct pb_rect *source, uint32_t to,
		  const struct pb_rect *whole, const struct pb_rect *part, uint32_t color)
{
	for (int32_t y = part->top; y < part->bottom; y++)
		for (int32_t x = part->left; x < part->right; x++)
			*pixel(context, to, x, y) =
				from == 0 ? color
					  : *pixel(context, from, source->left + x - whole->left,
						   source->top + y - whole->top);
}

static void add_random(struct vm_context *context, struct pb_rect *subs)
{
	const uint32_t from = 1 + some(VM_ALLOCATIONS);
	const uint32_t to = 1 + (from + some(VM_ALLOCATIONS - 1)) % VM_ALLOCATIONS;
	const int32_t width = 1 + (int32_t)some(COLUMNS);
	const int32_t height = 1 + (int32_t)some(ROWS);
	const struct pb_rect source = random_rect(width, height);
	const struct pb_rect whole = random_rect(width, height);
	const uint32_t count = random_parts(subs, &whole);
	const struct pb_rect *given = count != 0 ? subs : (const void *)(uintptr_t)5;
	const uint32_t operation = 1 + some(5);
	const uint32_t color = some(UINT32_MAX);
	struct pb_dxgk_renderkm_command command = garbage();

	command.OpCode = operation;
	if (operation == 1)
		command.Command.BitBlt = (struct pb_dxgk_gdiarg_bitblt){
			source, whole, from, to, count, given, 1, (uint16_t)color, VM_PITCH, VM_PITCH};
	else if (operation == 2)
		command.Command.ColorFill =
			(struct pb_dxgk_gdiarg_colorfill){whole, to, count, given, color, 1, (uint16_t)color};
	else if (operation == 3)
		command.Command.AlphaBlend = (struct pb_dxgk_gdiarg_alphablend){
			source, whole, from, to, count, given, 255, 0, VM_PITCH};
	else if (operation == 4)
		command.Command.StretchBlt = (struct pb_dxgk_gdiarg_stretchblt){
			source, whole, to, from, count, given, color & 0xffff, VM_PITCH};
	append(&command, sizeof(command), (uint32_t)sizeof(command) + 4 * some(5));
	for (uint32_t i = 0; operation != 5 && i < (count != 0 ? count : 1); i++)
		model(context, operation == 2 ? 0 : from, &source, to, &whole, count != 0 ? &subs[i] : &whole,
		      color);
}

/** In DMA buffers of all sizes, with patch lists of all lengths, while allocations move. */
static void drawings_are_right_in_any_number_of_buffers(void **state)
{
	uint32_t several = 0;

	(void)state;
	vm_start(&vm, 100);
	for (uint32_t i = 0; i < 300; i++) {
		struct vm_context *context = &vm.contexts[i % VM_CONTEXTS];
		const uint32_t commands = some(COMMANDS + 1);

		length = 0;
		for (uint32_t c = 0; c < commands; c++)
			add_random(context, parts[c]);
		several += draw(context, some(2) == 0 ? 100 : VM_BUFFER) > 1;
		if (i % 3 == 0) {
			vm_finish(&vm);
			vm_compare(&vm, "drawings");
			vm_move(&vm, &context->allocations[some(VM_ALLOCATIONS)]);
		}
	}
	vm_finish(&vm);
	vm_compare(&vm, "the last drawings");
	assert_true(several > 30);
	assert_int_equal(vm.leaks, 0);
	vm_stop(&vm);
}

UNIT_SUITE(test_wddm_gdi)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_color_fill_is_never_lost),
		cmocka_unit_test(each_command_is_drawn_or_refused),
		cmocka_unit_test(sizes_of_commands_are_checked),
		cmocka_unit_test(other_limits),
		cmocka_unit_test(drawings_are_right_in_any_number_of_buffers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
