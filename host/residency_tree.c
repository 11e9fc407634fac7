/* SPDX-License-Identifier: MIT */
#include "host/residency_tree.h"

#include <stddef.h>

/** Indices of `child`. */
enum side { LOW, HIGH };

static enum side side_of(const struct pb_residency_node *node)
{
	return node->parent->child[HIGH] == node ? HIGH : LOW;
}

/** Returns whether a subtree, which may be empty, has a gap of at least `bytes`. */
static bool has_gap(const struct pb_residency_node *node, uint64_t bytes)
{
	return node != NULL && node->largest >= bytes;
}

/** Computes the largest gap of a subtree from those of its children. */
static void update(struct pb_residency_node *node)
{
	node->largest = node->gap;
	for (uint32_t side = LOW; side <= HIGH; side++) {
		if (node->child[side] != NULL && node->child[side]->largest > node->largest)
			node->largest = node->child[side]->largest;
	}
}

/** Computes the largest gaps from a node up to the root. */
static void update_up(struct pb_residency_node *node)
{
	for (; node != NULL; node = node->parent)
		update(node);
}

/** Puts `child`, which may be NULL, where `node` hangs. */
static void replace(struct pb_residency_node **root, const struct pb_residency_node *node,
		    struct pb_residency_node *child)
{
	if (node->parent == NULL)
		*root = child;
	else
		node->parent->child[side_of(node)] = child;
	if (child != NULL)
		child->parent = node->parent;
}

/** Rotates a node above its parent. Pre: it has one. */
static void rotate_up(struct pb_residency_node **root, struct pb_residency_node *node)
{
	struct pb_residency_node *parent = node->parent;
	const enum side side = side_of(node);

	replace(root, parent, node);
	parent->child[side] = node->child[!side];
	if (parent->child[side] != NULL)
		parent->child[side]->parent = parent;
	node->child[!side] = parent;
	parent->parent = node;
	update(parent);
	update(node);
}

/** Returns the node that follows in order of offsets, or NULL. */
static struct pb_residency_node *next(struct pb_residency_node *node)
{
	struct pb_residency_node *at = node->child[HIGH];

	if (at == NULL) {
		while (node->parent != NULL && side_of(node) == HIGH)
			node = node->parent;
		return node->parent;
	}
	while (at->child[LOW] != NULL)
		at = at->child[LOW];
	return at;
}

/** Sets a node's gap: the bytes between `end` and its offset. */
static void set_gap(struct pb_residency_node *node, uint64_t end)
{
	node->gap = node->offset - end;
	update_up(node);
}

/** Spreads a number over 32 bits, so that weights of neighbours are not in order. */
static uint32_t spread(uint32_t number)
{
	number = (number ^ number >> 16) * 0x7feb352du;
	number = (number ^ number >> 15) * 0x846ca68bu;
	return number ^ number >> 16;
}

void pb_residency_tree_insert(struct pb_residency_node **root, struct pb_residency_node *node,
			      uint64_t offset, uint64_t end, uint32_t weight)
{
	struct pb_residency_node **link = root;
	struct pb_residency_node *follower;
	uint64_t before = 0;

	*node = (struct pb_residency_node){.offset = offset, .end = end, .weight = spread(weight)};
	while (*link != NULL) {
		node->parent = *link;
		if (offset > node->parent->offset)
			before = node->parent->end;
		link = &node->parent->child[offset > node->parent->offset ? HIGH : LOW];
	}
	*link = node;
	set_gap(node, before);
	follower = next(node);
	if (follower != NULL)
		set_gap(follower, end);
	while (node->parent != NULL && node->parent->weight < node->weight)
		rotate_up(root, node);
}

void pb_residency_tree_remove(struct pb_residency_node **root, struct pb_residency_node *node)
{
	struct pb_residency_node *follower = next(node);

	if (follower != NULL)
		set_gap(follower, node->offset - node->gap);
	while (node->child[LOW] != NULL && node->child[HIGH] != NULL)
		rotate_up(root, node->child[node->child[HIGH]->weight > node->child[LOW]->weight]);
	replace(root, node, node->child[node->child[LOW] == NULL]);
	update_up(node->parent);
}

/** Returns the first node of a subtree with a gap of at least `bytes`. Pre: has_gap(). */
static const struct pb_residency_node *first_gap(const struct pb_residency_node *node, uint64_t bytes)
{
	for (;;) {
		if (has_gap(node->child[LOW], bytes))
			node = node->child[LOW];
		else if (node->gap >= bytes)
			return node;
		else
			node = node->child[HIGH];
	}
}

const struct pb_residency_node *pb_residency_tree_gap(const struct pb_residency_node *root,
						      const struct pb_residency_node *after, uint64_t bytes)
{
	if (after == NULL)
		return has_gap(root, bytes) ? first_gap(root, bytes) : NULL;
	/* Behind `after`: its higher child; then each ancestor that it is lower than, and that one's higher child. */
	while (!has_gap(after->child[HIGH], bytes)) {
		while (after->parent != NULL && side_of(after) == HIGH)
			after = after->parent;
		after = after->parent;
		if (after == NULL || after->gap >= bytes)
			return after;
	}
	return first_gap(after->child[HIGH], bytes);
}

uint64_t pb_residency_tree_end(const struct pb_residency_node *root)
{
	if (root == NULL)
		return 0;
	while (root->child[HIGH] != NULL)
		root = root->child[HIGH];
	return root->end;
}
