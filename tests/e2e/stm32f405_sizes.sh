#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# shellcheck source=scripts/lib.sh
# The sizes of the board's image, card memory included, against their limits.
source "$(dirname "${BASH_SOURCE[0]}")/../../scripts/lib.sh"

folder=$root/build/stm32f405
image=$folder/patchbay-stm32f405.elf
read -r text data bss < <(arm-none-eabi-size "$image" | tail -n 1 | cut -f 1-3)
card=$((16#$(arm-none-eabi-nm "$image" | sed -n 's/ A pb_card_memory_bytes$//p')))
stack=$(python3 "$root/scripts/stack.py" "$folder" 2>/dev/null)
reserved=$((16#$(arm-none-eabi-nm "$image" | sed -n 's/ A PB_STACK_BYTES$//p')))
failed=0

# check KEY VALUE MOST
check() {
	printf '%-12s %6d of %6d\n' "$1" "$2" "$3"
	(($2 <= $3)) || failed=1
}

check flash_bytes $((text + data)) 73728
check sram_bytes $((data + bss + card)) 98304
check stack_bytes "$stack" "$reserved"
exit $failed
