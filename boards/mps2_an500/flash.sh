# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034,SC2154
# How this board is flashed; scripts/flash reads it. docs/flashing.md says where each fact is from.
#
# Its motherboard configuration controller loads the image from the SD card at each start. Names on the card are 8.3.
flash_methods=(sd)

# The folder of the motherboard's revision that the card has, or that of the MPS2+.
flash_sd_revision() {
	local folder
	for folder in "$to"/MB/HBI0263?; do
		[[ ! -d $folder ]] || basename "$folder"
	done
}

flash_sd() {
	local revision revisions
	revisions=$(flash_sd_revision)
	copy "$image" "$to/SOFTWARE/PATCHBAY.BIN"
	for revision in ${revisions:-HBI0263C}; do
		put "$to/MB/$revision/AN500/images.txt" \
			'TITLE: Versatile Express Images Configuration File' \
			'' \
			'[IMAGES]' \
			'TOTALIMAGES: 1' \
			'' \
			"IMAGE0ADDRESS: $load_address" \
			'IMAGE0FILE: \SOFTWARE\PATCHBAY.BIN'
	done
}
