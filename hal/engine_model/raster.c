/* SPDX-License-Identifier: MIT */
#include "hal/engine_model/internal.h"

/*
 * Everything here is a linear function of the pixel: the three edge functions,
 * and the numerators of u and v, which are sums of edge functions. With
 * |x|, |y| <= 2^16 an edge function is below 2^36 on any pixel of a target, and
 * a numerator below 2^58, so that 64 bits hold all of it exactly.
 */
struct plane {
	int64_t value; /* at column 0 of the present row */
	int64_t dx;    /* to the next column */
	int64_t dy;    /* to the next row */
};

/* Columns or rows, both ends included. */
struct span {
	int64_t first;
	int64_t last;
};

/*
 * A texel coordinate, repeated into 0..size-1, that goes along a row. The
 * division is carried on from pixel to pixel: texel + remainder / divisor is
 * the exact coordinate.
 */
struct walker {
	int64_t remainder;
	int64_t remainder_step;
	int64_t divisor;
	uint32_t texel;
	uint32_t texel_step;
	uint32_t size;
};

/* Where the texels of the next pixels are, in pages. */
struct sampler {
	struct walker u;
	struct walker v;
	struct pb_model_piece piece; /* of the texture, the one used last; no bytes: none yet */
	uint32_t first;              /* its offset in the texture */
};

struct triangle {
	struct plane edges[3];
	struct plane u;
	struct plane v;
	int64_t area; /* S of the documentation, made positive */
};

static int64_t floor_div(int64_t a, int64_t b)
{
	int64_t quotient = a / b;

	return a % b < 0 ? quotient - 1 : quotient;
}

static uint32_t repeat(int64_t texel, uint32_t size)
{
	int64_t rest = texel % size;

	return (uint32_t)(rest < 0 ? rest + size : rest);
}

static int64_t edge_at(const struct pb_vertex *a, const struct pb_vertex *b, int64_t x, int64_t y)
{
	return ((int64_t)b->x - a->x) * (y - a->y) - ((int64_t)b->y - a->y) * (x - a->x);
}

static struct plane edge_plane(const struct pb_vertex *a, const struct pb_vertex *b)
{
	return (struct plane){
		.value = edge_at(a, b, 8, 8),
		.dx = -16 * ((int64_t)b->y - a->y),
		.dy = 16 * ((int64_t)b->x - a->x),
	};
}

static bool is_top_left(const struct pb_vertex *a, const struct pb_vertex *b)
{
	return b->y < a->y || (b->y == a->y && b->x > a->x);
}

static struct plane weighted(const struct plane edges[3], int64_t a, int64_t b, int64_t c)
{
	return (struct plane){
		.value = edges[0].value * a + edges[1].value * b + edges[2].value * c,
		.dx = edges[0].dx * a + edges[1].dx * b + edges[2].dx * c,
		.dy = edges[0].dy * a + edges[1].dy * b + edges[2].dy * c,
	};
}

/* false: no area, nothing to draw. */
static bool set_up(const struct pb_vertex vertices[3], struct triangle *triangle)
{
	int64_t area = edge_at(&vertices[0], &vertices[1], vertices[2].x, vertices[2].y);
	const struct pb_vertex *v0 = &vertices[0];
	const struct pb_vertex *v1 = &vertices[area < 0 ? 2 : 1];
	const struct pb_vertex *v2 = &vertices[area < 0 ? 1 : 2];
	const struct pb_vertex *ends[4] = {v1, v2, v0, v1};

	if (area == 0)
		return false;
	triangle->area = area < 0 ? -area : area;
	for (uint32_t i = 0; i < 3; i++)
		triangle->edges[i] = edge_plane(ends[i], ends[i + 1]);
	triangle->u = weighted(triangle->edges, v0->u, v1->u, v2->u);
	triangle->v = weighted(triangle->edges, v0->v, v1->v, v2->v);
	/* From here on covered means >= 0: w > 0 is w - 1 >= 0 in integers. */
	for (uint32_t i = 0; i < 3; i++)
		triangle->edges[i].value -= is_top_left(ends[i], ends[i + 1]) ? 0 : 1;
	return true;
}

/* The pixels of 0..size-1 whose centres lie between the least and the greatest of three positions. */
static struct span bounds(int32_t a, int32_t b, int32_t c, uint32_t size)
{
	int32_t least = a < b ? a : b;
	int32_t greatest = a > b ? a : b;
	struct span span;

	least = least < c ? least : c;
	greatest = greatest > c ? greatest : c;
	span.first = floor_div((int64_t)least + 7, 16);
	span.last = floor_div((int64_t)greatest - 8, 16);
	span.first = span.first < 0 ? 0 : span.first;
	span.last = span.last >= size ? (int64_t)size - 1 : span.last;
	return span;
}

/* Leaves the columns where the edge covers: value + column * dx >= 0. */
static void clip(struct span *span, const struct plane *edge)
{
	int64_t limit;

	if (edge->dx > 0) {
		limit = -floor_div(edge->value, edge->dx);
		span->first = limit > span->first ? limit : span->first;
	} else if (edge->dx < 0) {
		limit = floor_div(edge->value, -edge->dx);
		span->last = limit < span->last ? limit : span->last;
	} else if (edge->value < 0) {
		span->last = span->first - 1;
	}
}

/* floor(floor(n / S) / 256) is floor(n / (256 S)): one division does for both of the documentation. */
static struct walker walker_start(const struct plane *numerator, int64_t column, int64_t area, uint32_t size)
{
	int64_t divisor = 256 * area;
	int64_t value = numerator->value + column * numerator->dx;
	int64_t texel = floor_div(value, divisor);
	int64_t step = floor_div(numerator->dx, divisor);

	return (struct walker){
		.remainder = value - texel * divisor,
		.remainder_step = numerator->dx - step * divisor,
		.divisor = divisor,
		.texel = repeat(texel, size),
		.texel_step = repeat(step, size),
		.size = size,
	};
}

static inline void walker_advance(struct walker *walker)
{
	walker->texel += walker->texel_step;
	walker->remainder += walker->remainder_step;
	if (walker->remainder >= walker->divisor) {
		walker->remainder -= walker->divisor;
		walker->texel++;
	}
	if (walker->texel >= walker->size)
		walker->texel -= walker->size;
}

/* A row of pixels where target and texture are linear: most of what is drawn. */
static void draw_linear(uint32_t *row, struct span span, const struct triangle *triangle,
			const struct pb_model_surface *texture, const uint32_t *texels)
{
	struct walker u = walker_start(&triangle->u, span.first, triangle->area, texture->width);
	struct walker v = walker_start(&triangle->v, span.first, triangle->area, texture->height);
	const size_t pitch = texture->pitch / 4;

	for (int64_t column = span.first; column <= span.last; column++) {
		row[column] = texels[v.texel * pitch + u.texel];
		walker_advance(&u);
		walker_advance(&v);
	}
}

/* The texel at an offset of the texture; NULL: its page is not mapped. */
static const uint32_t *fetch(struct pb_engine_model *model, struct sampler *sampler, uint32_t offset)
{
	const struct pb_model_span *span = &model->texture.span;
	uint32_t in_page;

	if (offset - sampler->first >= sampler->piece.bytes) {
		in_page = (uint32_t)((span->address + offset) % PB_PAGE_BYTES);
		sampler->first = in_page < offset ? offset - in_page : 0;
		sampler->piece = pb_model_piece(model, span, sampler->first, span->bytes - sampler->first);
	}
	return sampler->piece.mapped ? &sampler->piece.words[(offset - sampler->first) / 4] : NULL;
}

static enum pb_model_status draw_pixels(struct pb_engine_model *model, struct sampler *sampler,
					const struct pb_model_piece *piece)
{
	for (uint32_t i = 0; i < piece->bytes / 4; i++) {
		uint32_t offset = sampler->v.texel * model->texture.pitch + 4 * sampler->u.texel;
		const uint32_t *texel = fetch(model, sampler, offset);

		if (texel == NULL)
			return pb_model_fault(model, PB_ENGINE_FAULT_PAGE,
					      model->texture.span.address + offset);
		piece->words[i] = *texel;
		walker_advance(&sampler->u);
		walker_advance(&sampler->v);
	}
	return PB_MODEL_DONE;
}

/* A row of pixels where either is in pages, or both. */
static enum pb_model_status draw_paged(struct pb_engine_model *model, struct sampler *sampler,
				       const struct triangle *triangle, struct span span, uint32_t offset)
{
	const struct pb_model_surface *texture = &model->texture;
	const struct pb_model_span *target = &model->target.span;
	uint32_t end = offset + 4 * (uint32_t)(span.last + 1);

	sampler->u = walker_start(&triangle->u, span.first, triangle->area, texture->width);
	sampler->v = walker_start(&triangle->v, span.first, triangle->area, texture->height);
	offset += 4 * (uint32_t)span.first;
	while (offset < end) {
		const struct pb_model_piece piece = pb_model_piece(model, target, offset, end - offset);

		if (draw_pixels(model, sampler, &piece) == PB_MODEL_FAULTED)
			return PB_MODEL_FAULTED;
		if (!piece.mapped)
			return pb_model_fault(model, PB_ENGINE_FAULT_PAGE, target->address + offset);
		offset += piece.bytes;
	}
	return PB_MODEL_DONE;
}

static void plane_skip_rows(struct plane *plane, int64_t rows)
{
	plane->value += rows * plane->dy;
}

static void skip_rows(struct triangle *triangle, int64_t rows)
{
	for (uint32_t i = 0; i < 3; i++)
		plane_skip_rows(&triangle->edges[i], rows);
	plane_skip_rows(&triangle->u, rows);
	plane_skip_rows(&triangle->v, rows);
}

/* A surface that lies in a row in card memory; NULL: it is in pages. */
static uint32_t *pixels_of(struct pb_engine_model *model, const struct pb_model_surface *surface)
{
	if (surface->span.window->paged)
		return NULL;
	return pb_model_piece(model, &surface->span, 0, surface->span.bytes).words;
}

static enum pb_model_status draw_rows(struct pb_engine_model *model, struct triangle *triangle,
				      struct span columns, struct span rows)
{
	const uint32_t pitch = model->target.pitch;
	uint32_t *pixels = pixels_of(model, &model->target);
	const uint32_t *texels = pixels_of(model, &model->texture);
	struct sampler sampler = {.first = 0};

	skip_rows(triangle, rows.first);
	for (int64_t row = rows.first; row <= rows.last; row++) {
		struct span span = columns;

		for (uint32_t i = 0; i < 3; i++)
			clip(&span, &triangle->edges[i]);
		if (span.first <= span.last) {
			if (pixels != NULL && texels != NULL)
				draw_linear(pixels + (size_t)row * (pitch / 4), span, triangle,
					    &model->texture, texels);
			else if (draw_paged(model, &sampler, triangle, span, (uint32_t)row * pitch) ==
				 PB_MODEL_FAULTED)
				return PB_MODEL_FAULTED;
			model->statistics.pixels += (uint64_t)(span.last - span.first + 1);
		}
		skip_rows(triangle, 1);
	}
	return PB_MODEL_DONE;
}

enum pb_model_status pb_model_triangle(struct pb_engine_model *model, const struct pb_vertex vertices[3],
				       uint64_t *walked)
{
	const struct pb_model_surface *target = &model->target;
	struct span columns = bounds(vertices[0].x, vertices[1].x, vertices[2].x, target->width);
	struct span rows = bounds(vertices[0].y, vertices[1].y, vertices[2].y, target->height);
	struct triangle triangle;

	*walked = 0;
	if (columns.first > columns.last || rows.first > rows.last)
		return PB_MODEL_DONE;
	*walked = (uint64_t)((columns.last - columns.first + 1) * (rows.last - rows.first + 1));
	if (!set_up(vertices, &triangle))
		return PB_MODEL_DONE;
	return draw_rows(model, &triangle, columns, rows);
}
