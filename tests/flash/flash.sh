#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# flash.sh BOOTLOADER: scripts/flash, in dry runs and in real runs that cannot reach a board on this machine's USB:
# OpenOCD only reads its configuration and commands; stm32flash has a bootloader on a pseudo-terminal.
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../scripts/lib.sh"

bootloader=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
source_image=$root/build/mps2_an500/patchbay-mps2_an500.bin
need_built "$source_image"
cases=0
failures=0

wrong() {
	failures=$((failures + 1))
	echo "wrong: $*"
	sed 's/^/    out: /' out
	sed 's/^/    err: /' err
}

# flash ARGUMENT...: runs scripts/flash; sets out, err and status
flash() {
	cases=$((cases + 1))
	status=0
	"$root/scripts/flash" --built "$@" >out 2>err </dev/null || status=$?
}

# ends STATUS WORDS: checks the exit status and the messages of the last run
ends() {
	[[ $status == "$1" ]] || wrong "status $status instead of $1"
	grep -qF -- "$2" err || wrong "no message: $2"
}

# relabel BOARD LOAD_ADDRESS: an image for another board, made from the built one
relabel() {
	python3 - "$source_image" "$1.bin" "$1" "$2" <<'END'
import struct, sys, zlib
source, target, board, load = sys.argv[1:]
with open(source, 'rb') as file:
    image = bytearray(file.read())
struct.pack_into('<I', image, 0x208, int(load, 16))
struct.pack_into('<I', image, 0x210, 0)
struct.pack_into('32s', image, 0x240, board.encode())
struct.pack_into('<I', image, 0x210, zlib.crc32(image))
with open(target, 'wb') as file:
    file.write(image)
END
}

# ---- dry runs ----

dry_runs() {
	flash stm32f405 --image stm32f405.bin --dry-run
	ends 0 'board          stm32f405'
	diff - out <<END || wrong 'stm32f405 by OpenOCD'
run openocd -f boards/stm32f405/openocd.cfg -c program\\ \\{$work/stm32f405.bin\\}\\ 0x08000000\\ verify\\ reset\\ exit
END
	flash stm32f405 --method serial --port /dev/nowhere --image stm32f405.bin --dry-run
	ends 0 'board          stm32f405'
	diff - out <<END || wrong 'stm32f405 by its bootloader'
run stm32flash -b 115200 -w $work/stm32f405.bin -v -S 0x08000000 -g 0x08000000 /dev/nowhere
END
	flash mps2_an500 --image mps2_an500.bin --to card --dry-run
	ends 0 'board          mps2_an500'
	diff - out <<END || wrong 'the SD card of mps2_an500'
copy $work/mps2_an500.bin $work/card/SOFTWARE/PATCHBAY.BIN
write $work/card/MB/HBI0263C/AN500/images.txt
> TITLE: Versatile Express Images Configuration File
> 
> [IMAGES]
> TOTALIMAGES: 1
> 
> IMAGE0ADDRESS: 0x00000000
> IMAGE0FILE: \\SOFTWARE\\PATCHBAY.BIN
END
	[[ ! -e card ]] || wrong 'a dry run writes files'
}

# ---- refusals, before anything is written ----

refusals() {
	flash
	ends 2 "no board that can be flashed is called ''; there are: mps2_an500 stm32f405"
	flash ../boards/mps2_an500
	ends 2 "no board that can be flashed is called '../boards/mps2_an500'"
	flash mps2_an500 stm32f405
	ends 2 'one board at a time'
	flash mps2_an500 --fast
	ends 2 'unknown argument: --fast'
	flash mps2_an500 --to
	ends 2 '--to wants a value'
	flash mps2_an500 --method serial
	ends 2 'mps2_an500 is not flashed by serial, but by: sd'
	flash stm32f405 --method serial --image stm32f405.bin
	ends 2 '--method serial wants --port'
	flash mps2_an500 --image gone.bin --to card
	ends 1 'No such file or directory'
	flash mps2_an500 --image stm32f405.bin --to card
	ends 1 'the image is for board stm32f405, not mps2_an500'
	printf 'x' | dd of=damaged.bin bs=1 seek=20000 conv=notrunc status=none
	flash mps2_an500 --image damaged.bin --to card
	ends 1 'the image is damaged: its CRC-32 is 0x'
	grep -qF 'nothing has been flashed' err || wrong 'it does not say that nothing has been flashed'
	[[ ! -e card ]] || wrong 'files were written anyway'
}

# ---- the SD card ----

# sd_names FOLDER: every name below it is one that the board's controller can read.
sd_names() {
	local name
	while IFS= read -r name; do
		[[ $name =~ ^[A-Za-z0-9_]{1,8}(\.[A-Za-z0-9_]{1,3})?$ ]] || wrong "$name is no 8.3 name"
	done < <(find "$1" -mindepth 1 -printf '%f\n')
}

# sd_images FILE CARD: the files that it names are there, and are the image.
sd_images() {
	local key value named=0
	[[ $(grep -c $'\r$' "$1") == "$(wc -l <"$1")" ]] || wrong "$1 has lines that DOS does not end"
	while IFS=': ' read -r key value; do
		case $key in
		TOTALIMAGES) [[ $value == 1 ]] || wrong "$value images" ;;
		IMAGE0ADDRESS) [[ $((value)) == "$((16#$(xxd_word mps2_an500.bin 520)))" ]] || wrong "address $value" ;;
		IMAGE0FILE)
			named=$((named + 1))
			value=${value//\\//}
			cmp mps2_an500.bin "$2$value" || wrong "$value is not the image"
			;;
		esac
	done < <(tr -d '\r' <"$1")
	[[ $named == 1 ]] || wrong "$1 names $named files"
}

# xxd_word FILE OFFSET: a little-endian word, in hexadecimal
xxd_word() {
	od -An -tx4 -j "$2" -N 4 "$1" | tr -d ' '
}

sd_card() {
	flash mps2_an500 --image mps2_an500.bin --to card
	ends 0 'board          mps2_an500'
	diff - <(cd card && find . -type f | LC_ALL=C sort) <<'END' || wrong 'the files on the card'
./MB/HBI0263C/AN500/images.txt
./SOFTWARE/PATCHBAY.BIN
END
	sd_names card
	sd_images card/MB/HBI0263C/AN500/images.txt card
	# A card with files of its own revision: only Patchbay's files change.
	mkdir -p old/MB/HBI0263B/AN500
	echo kept | tee old/MB/HBI0263B/board.txt >old/CONFIG.TXT
	flash mps2_an500 --image mps2_an500.bin --to old
	ends 0 'HBI0263B'
	diff - <(cd old && find . -type f | LC_ALL=C sort) <<'END' || wrong 'the files on a card that was there'
./CONFIG.TXT
./MB/HBI0263B/AN500/images.txt
./MB/HBI0263B/board.txt
./SOFTWARE/PATCHBAY.BIN
END
	[[ $(cat old/CONFIG.TXT old/MB/HBI0263B/board.txt) == $'kept\nkept' ]] || wrong 'another file changed'
	sd_images old/MB/HBI0263B/AN500/images.txt old
	echo file >full
	flash mps2_an500 --image mps2_an500.bin --to full
	ends 1 'could not be written'
}

# ---- OpenOCD: its configuration and commands ----

openocd_parses() {
	local file board
	for file in "$root"/boards/*/openocd.cfg; do
		cases=$((cases + 1))
		board=$(basename "$(dirname "$file")")
		: >out
		openocd -f "$file" -c 'echo "banks [llength [flash list]]"; echo "targets [llength [target names]]"' \
			-c 'echo "commands [info commands program]"; shutdown' >err 2>&1 || wrong "$board: OpenOCD fails"
		grep -qE '^banks [1-9]' err || wrong "$board: no flash memory"
		grep -qx 'targets 1' err || wrong "$board: not one target"
		grep -qx 'commands program' err || wrong "$board: no command program"
	done
}

# Replaces openocd by the real one with a `program` command that prints its arguments.
pretend_openocd() {
	mkdir -p bin
	cat >bin/openocd <<END
#!/usr/bin/env bash
[[ \$# == 4 && \$1 == -f && \$3 == -c ]] || exit 9
exec $(command -v openocd) -f "\$2" -c 'proc program {file address args} {
	echo "file \$file"; echo "address \$address"; echo "then \$args"; shutdown }' -c "\$4"
END
	chmod +x bin/openocd
}

openocd_words() {
	pretend_openocd
	mkdir -p 'a folder'
	cp stm32f405.bin 'a folder/an image.bin'
	PATH=$work/bin:$PATH flash stm32f405 --image 'a folder/an image.bin'
	ends 0 'board          stm32f405'
	grep -qxF "file $work/a folder/an image.bin" err || wrong 'OpenOCD gets another file'
	grep -qxF 'address 0x08000000' err || wrong 'OpenOCD gets another address'
	grep -qxF 'then verify reset exit' err || wrong 'OpenOCD gets other orders'
	printf '#!/bin/sh\nexit 3\n' >bin/openocd
	PATH=$work/bin:$PATH flash stm32f405 --image stm32f405.bin
	ends 1 'openocd failed with status 3'
}

# ---- the serial bootloader ----

# A pseudo-terminal has no parity, which the real line needs: -m 8n1 turns it off in the real stm32flash.
pretend_stm32flash() {
	mkdir -p bin
	printf '#!/bin/sh\nexec %s -m 8n1 "$@"\n' "$(command -v stm32flash)" >bin/stm32flash
	chmod +x bin/stm32flash
}

serial() {
	local started length
	pretend_stm32flash
	"$bootloader" "$work/line" "$work/flash" >started &
	while [[ ! -L line ]] && kill -0 $! 2>/dev/null; do sleep 0.01; done
	PATH=$work/bin:$PATH flash stm32f405 --method serial --port "$work/line" --image stm32f405.bin
	ends 0 'board          stm32f405'
	[[ $status != 0 ]] && kill $! 2>/dev/null
	wait $! || wrong 'the bootloader got no order to start the program'
	started=$(<started)
	[[ $started == 'started at 0x08000000' ]] || wrong "the bootloader says: $started"
	length=$(stat -c %s stm32f405.bin)
	cmp -n "$length" stm32f405.bin flash || wrong 'flash memory holds something else'
	flash stm32f405 --method serial --port "$work/gone" --image stm32f405.bin
	ends 1 'stm32flash failed with status 1'
}

relabel mps2_an500 0
relabel stm32f405 08000000
cmp -s mps2_an500.bin "$source_image" || die 1 "an image that is labelled as it was has become another"
cp mps2_an500.bin damaged.bin
dry_runs
refusals
sd_card
openocd_parses
openocd_words
serial
echo "$cases cases, $failures wrong"
((failures == 0))
