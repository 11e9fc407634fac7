/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Flash and reset of a board through its debug probe. The probe's server knows how to program the flash (gdb remote serial
 * protocol, vFlashErase, vFlashWrite, vFlashDone); a server that does not, such as QEMU's stub, answers UNSUPPORTED.
 */
#ifndef PB_HOST_LINK_GDB_FLASH_H
#define PB_HOST_LINK_GDB_FLASH_H

#include "host/link_gdb_remote.h"

/**
 * Erases sectors. Pre: the MCU is halted.
 * @param bytes a multiple of what one erase erases
 * @retval PB_ERROR_UNSUPPORTED the stub programs no flash
 * @retval PB_ERROR_BAD_RANGE the stub reports an error
 */
enum pb_error pb_gdb_flash_erase(struct pb_gdb *gdb, uint32_t address, uint32_t bytes);
/** Programs erased bytes; returns when that is permanent. Pre: the MCU is halted. Errors as for pb_gdb_flash_erase(). */
enum pb_error pb_gdb_flash_program(struct pb_gdb *gdb, uint32_t address, const void *from, uint32_t bytes);
/** Resets the MCU, which is halted then, before its first instruction. Errors as for pb_gdb_flash_erase(). */
enum pb_error pb_gdb_reset(struct pb_gdb *gdb);

#endif
