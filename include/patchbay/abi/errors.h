/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The one list of errors, for firmware and host alike. Extend at the end of a
 * group only; a number is never used again for something else.
 */
#ifndef PB_FIRMWARE_ABI_ERRORS_H
#define PB_FIRMWARE_ABI_ERRORS_H

/* X(NAME, number, meaning) */
#define PB_ERRORS(X)                                                                                         \
	X(OK, 0, "no error")                                                                                 \
	/* commands and rings */                                                                             \
	X(UNSUPPORTED, 1, "this firmware does not do that; its capability table says what it does")          \
	X(BAD_VERSION, 2, "the interface versions of host and firmware do not fit")                          \
	X(BAD_COMMAND, 3, "unknown control command")                                                         \
	X(BAD_HANDLE, 4, "no such object, or it belongs to another channel")                                 \
	X(BUSY, 5, "in use by an in-flight submission or by another object")                                 \
	X(NO_SPACE, 6, "no free slot or memory of this kind")                                                \
	X(NO_PERMISSION, 7, "the channel lacks the privilege")                                               \
	X(BAD_ARGUMENT, 8, "an argument is out of its documented range")                                     \
	X(RING_FAULT, 9, "a ring index moved backward or past the ring")                                     \
	X(BAD_FORMAT, 10, "invalid patch format; result 0 holds the reason")                                 \
	X(NO_QUOTA, 11, "the channel's quota is used up; result 0 holds enum pb_resource")                   \
	/* one descriptor */                                                                                 \
	X(BAD_OPTIONS, 16, "unknown bits in the options word, or a reserved word is not 0")                  \
	X(BAD_CONTEXT, 17, "the submission's context does not exist in this channel")                        \
	X(CONTEXT_LOST, 18, "the context was lost by an earlier error and not cleared")                      \
	X(BAD_SEGMENT, 19, "the segment does not exist in this channel")                                     \
	X(BAD_BUFFER, 20, "the DMA buffer is not in backed memory of its segment, or not 4 KiB aligned")     \
	X(BAD_RANGE, 21, "submission start and end do not fit the DMA buffer, or are no multiples of 4")     \
	X(BAD_PRIVATE_DATA, 22, "private data is not in backed memory, or its range does not fit")           \
	X(BAD_ALLOCATION_LIST, 23, "the allocation list is not in backed memory, or is misaligned")          \
	X(BAD_PATCH_LIST, 24,                                                                                \
	  "the patch list is not in backed memory, misaligned, or start + length > size")                    \
	X(TOO_MANY_ALLOCATIONS, 25, "more allocations than the board holds at once")                         \
	X(TOO_MANY_PATCHES, 26, "more patch locations than the board accepts in one submission")             \
	X(BAD_TIMELINE, 27, "the timeline value is not greater than the last accepted one")                  \
	X(BAD_PAGING, 28, "a paging buffer with lists, or with a context")                                   \
	X(BAD_WAIT, 29, "the wait list is not in backed memory, too long, or a reserved word is not 0")      \
	/* one allocation-list entry */                                                                      \
	X(NOT_RESIDENT, 32, "the allocation is in segment 0 and not marked as unbind")                       \
	X(BAD_ALLOCATION, 33, "reserved bits are set, or the size is 0")                                     \
	X(ALLOCATION_OUTSIDE_SEGMENT, 34, "the allocation does not lie in its segment")                      \
	X(ALLOCATION_SEGMENT, 35, "the allocation names a segment that does not exist in this channel")      \
	/* one patch-location entry */                                                                       \
	X(PATCH_RESERVED, 48, "reserved bits of the patch location are not 0")                               \
	X(PATCH_FORMAT, 49, "DriverId names no patch format")                                                \
	X(PATCH_INDEX, 50, "AllocationIndex is not below the size of the allocation list")                   \
	X(PATCH_ALIGNMENT, 51, "PatchOffset is not a multiple of what the format asks")                      \
	X(PATCH_RANGE, 52, "PatchOffset, or its last byte, is outside the submission")                       \
	X(PATCH_OFFSET, 53, "AllocationOffset is outside the allocation")                                    \
	X(PATCH_WRITE, 54, "the format claims a write, the allocation has WriteOperation 0")                 \
	X(PATCH_VALUE, 55, "the address does not fit the width of the format")                               \
	X(PATCH_ENCODING, 56, "an entry of a compact list is cut off by the list's end")                     \
	X(PATCH_PAGE, 57, "the target word is in an aperture page that is not mapped")                       \
	/* running submissions */                                                                            \
	X(ENGINE_FAULT, 64, "the engine faulted: bad packet or access outside the channel's ranges")         \
	X(ENGINE_HANG, 65, "the engine made no progress and was reset")                                      \
	X(CANCELLED, 66, "cancelled because its queue or channel was closed")                                \
	X(HALTED, 67, "an earlier bad paging buffer halted the channel on this node")                        \
	X(DEP_FAILED, 68, "a queue that it waited for failed at or before the value, or is gone")            \
	X(DEADLOCK, 69, "its wait would have closed a cycle of waits")                                       \
	X(ENGINE_DEAD, 70, "the node's engine does not answer, not even a power cycle")                      \
	/* found by the host library */                                                                      \
	X(TIMEOUT, 80, "the time given ran out")                                                             \
	X(FIRMWARE_DEAD, 81, "the firmware stopped, or was restarted since this channel attached")           \
	X(NO_CARD, 82, "no card answers there")                                                              \
	X(PROTOCOL, 83, "the peer wrote a value that its contract excludes")                                 \
	X(DETACHED, 84, "the channel is not attached")                                                       \
	X(HOST_MEMORY, 85, "the host is out of memory")                                                      \
	X(SYSTEM, 86, "an operating system call failed")                                                     \
	X(RETURNED, 87, "returned without having completed: submit it again")                                \
	X(CARD_FULL, 88, "the card serves as many clients as it can: one of them must leave first")

/** Error numbers in replies, records and events. */
enum pb_error {
#define PB_ERROR_ENUM(name, number, meaning) PB_ERROR_##name = (number),
	PB_ERRORS(PB_ERROR_ENUM)
#undef PB_ERROR_ENUM
};

#endif
