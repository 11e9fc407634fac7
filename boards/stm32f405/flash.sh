# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034,SC2154
# How this board is flashed; scripts/flash reads it. docs/flashing.md has the wiring.
flash_methods=(openocd serial)
flash_packages=([openocd]=openocd [serial]=stm32flash)
flash_wants=([serial]=port)

# Through an ST-LINK on the debug pins.
flash_openocd() {
	run openocd -f "$board_folder/openocd.cfg" -c "program {$image} $load_address verify reset exit"
}

# Through the bootloader in the part's ROM, which runs after a reset with BOOT0 high.
flash_serial() {
	run stm32flash -b 115200 -w "$image" -v -S "$load_address" -g "$load_address" "$port"
}
