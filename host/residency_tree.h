/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A tree of ranges that do not overlap, in order of their offsets, that knows its largest gap. It is a treap: a binary
 * search tree by offset whose nodes are also a heap by pseudo-random weights, so that its expected height is O(log n)
 * whatever the order of insertions.
 */
#ifndef PB_HOST_RESIDENCY_TREE_H
#define PB_HOST_RESIDENCY_TREE_H

#include "patchbay/residency.h"

/**
 * Inserts the range [offset, end). O(log n). Pre: the node is in no tree, and no range in the tree overlaps.
 * @param weight any number; the nodes of a tree should have different ones
 */
void pb_residency_tree_insert(struct pb_residency_node **root, struct pb_residency_node *node,
			      uint64_t offset, uint64_t end, uint32_t weight);
/** Removes a node. O(log n). Pre: the node is in the tree. */
void pb_residency_tree_remove(struct pb_residency_node **root, struct pb_residency_node *node);
/**
 * Returns the node with the lowest offset that has a gap of at least `bytes` in front of it. O(log n).
 * @param after only nodes behind this one; NULL: all
 * @return NULL: there is none
 */
const struct pb_residency_node *pb_residency_tree_gap(const struct pb_residency_node *root,
						      const struct pb_residency_node *after, uint64_t bytes);
/** Returns the end of the last range; 0 for an empty tree. O(log n). */
uint64_t pb_residency_tree_end(const struct pb_residency_node *root);

#endif
