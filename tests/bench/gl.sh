# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Sourced by scripts/bench: OpenGL programs through the firmware, beside virglrenderer's own server, in one run. Frames a
# second are wall time, so no gate; instructions of the MCU and patches are counted in the same runs.

# The first scenes of glmark2, each with so many frames; and so many rounds, of which the median counts.
gl_scenes=(build texture shading)
gl_frames=300
gl_rounds=5
# All processes of a run share these.
gl_cores=0,1
# What gl_fps_ratio is to be at least.
gl_ratio_least=0.60

# gl_programs: what runs on either side; its standard output is that of glmark2 and glxgears.
gl_programs() {
	local scene benches=()
	for scene in "${gl_scenes[@]}"; do
		benches+=(-b "$scene:nframes=$gl_frames:duration=120")
	done
	printf '%s\n' "stdbuf -oL glmark2-es2 -s 800x600 ${benches[*]}" "timeout 6 stdbuf -oL glxgears"
}

# gl_rates LOG: "NAME FRAMES_A_SECOND" of each scene, and of glxgears.
gl_rates() {
	sed -nE -e 's/^\[([a-z]+)\].* FPS: ([0-9]+) .*/\1 \2/p' \
		-e 's/^([0-9]+) frames in ([0-9.]+) seconds = ([0-9.]+) FPS.*/glxgears \3/p' "$1"
}

# gl_plain LOG COMMAND...: a command on virglrenderer's server, in a /tmp of its own, which is where programs look for it.
gl_plain() {
	local log=$1 unshare=(unshare --mount)
	shift
	((EUID == 0)) || unshare=(unshare --map-root-user --mount)
	# shellcheck disable=SC2016
	taskset -c "$gl_cores" "${unshare[@]}" bash -c '
		mount -t tmpfs tmpfs /tmp
		virgl_test_server --use-egl-surfaceless >/dev/null 2>&1 &
		server=$!
		until [[ -S /tmp/.virgl_test ]]; do kill -0 $server || exit 1; sleep 0.05; done
		GALLIUM_DRIVER=virpipe LIBGL_ALWAYS_SOFTWARE=1 "$@"
		kill $server' gl_plain "$@" >>"$log" 2>&1 </dev/null || true
}

# gl_emulator FOLDER: an emulator in FOLDER that counts, for the card to find. What the firmware polls while it is idle is
# counted by itself.
gl_emulator() {
	local image=$image_folder/patchbay-$board.elf emulator ranges
	emulator=$(command -v qemu-system-arm)
	ranges=$(nm -S "$image" | while read -r address bytes _ name; do
		case $name in
		pb_uart_lines_idle_enter | poll_lines)
			printf ',idle=0x%x-0x%x' $((16#$address & ~1)) $(((16#$address & ~1) + 16#$bytes))
			;;
		esac
	done)
	[[ -n $ranges ]] || die 1 "$image: its idle loop was not found"
	mkdir "$1/bin"
	cat >"$1/bin/qemu-system-arm" <<END
#!/bin/sh
exec '$emulator' -plugin '$root/build/host/tests/patchbay-bench-count.so,to=$1/counters$ranges' "\$@"
END
	chmod +x "$1/bin/qemu-system-arm"
}

# gl_counters TOOL FOLDER: what the card in FOLDER has counted: instructions, submissions, patches.
gl_counters() {
	local instructions stats
	instructions=$(od -An -t u8 -N 8 "$2/counters")
	stats=$("$1" stats --json --card "$2/card")
	echo "$instructions $(gl_sum "$stats" submissions) $(gl_sum "$stats" patches)"
}

# gl_firmware LOG COUNTS COMMAND...: a command on a card of its own. COUNTS gets two lines: gl_counters when the command has
# printed its first rate, because until then the firmware boots and clears memory for the program; and at its end.
gl_firmware() {
	local log=$1 counts=$2 tool=$root/build/host/host/patchbay folder card program
	shift 2
	folder=$(mktemp -d)
	truncate -s 16 "$folder/counters"
	: >"$folder/log"
	gl_emulator "$folder"
	PATH=$folder/bin:$PATH taskset -c "$gl_cores" "$tool" card --quiet --engine gl --card-memory 256M --board "$board" \
		--image "$image_folder/patchbay-$board.elf" --socket "$folder/card" &
	card=$!
	until [[ -S $folder/card ]]; do
		kill -0 "$card" 2>/dev/null || die 1 "the card did not start"
		sleep 0.05
	done
	taskset -c "$gl_cores" "$tool" run --card "$folder/card" -- "$@" >"$folder/log" 2>&1 </dev/null &
	program=$!
	until grep -q FPS "$folder/log" || ! kill -0 "$program" 2>/dev/null; do
		sleep 0.02
	done
	gl_counters "$tool" "$folder" >>"$counts"
	wait "$program" || true
	gl_counters "$tool" "$folder" >>"$counts"
	kill -INT "$card"
	wait "$card" || true
	cat "$folder/log" >>"$log"
	rm -rf "$folder"
}

# gl_sum JSON NAME: the sum of a counter over all nodes.
gl_sum() {
	grep -o "\"$2\":[[:space:]]*[0-9]*" <<<"$1" | awk -F '[^0-9]+' '{ sum += $2 } END { print sum }'
}

# gl_median: of numbers, one a line; with the lowest one.
gl_median() {
	sort -g | awk '{ value[NR] = $1 } END { print value[int((NR + 1) / 2)], value[1] }'
}

# gl_row FOLDER NAME: a row of the table; each ratio is of one round.
gl_row() {
	local plain firmware ratio
	read -r plain _ < <(awk -v name="$2" '$1 == name { print $2 }' "$1/plain" | gl_median)
	read -r firmware _ < <(awk -v name="$2" '$1 == name { print $2 }' "$1/firmware" | gl_median)
	ratio=$(paste -d ' ' <(grep "^$2 " "$1/plain") <(grep "^$2 " "$1/firmware") | awk '{ print $4 / $2 }' | gl_median)
	printf '%s %s %s %s\n' "$2" "$plain" "$firmware" "$ratio"
}

# gl_table FOLDER: the table of docs/figures.md; FOLDER/key has the figures.
gl_table() {
	local scene
	printf '| program | plain, frames a second | through the firmware | ratio: median (lowest) |\n|---|---|---|---|\n'
	for scene in "${gl_scenes[@]}" glxgears; do
		gl_row "$1" "$scene"
	done | tee "$1/rows" | awk '{ printf "| %s | %.0f | %.0f | %.2f (%.2f) |\n", ($1 == "glxgears" ? "" : "glmark2 ") $1, $2, $3, $4, $5 }'
	# Of all scenes but the first.
	awk -v frames=$((gl_frames * (${#gl_scenes[@]} - 1))) -v rows="$1/rows" '
		NR % 2 { from = $1; submitted = $2; patched = $3; next }
		{
			runs++
			instructions[runs] = ($1 - from) / frames; each[runs] = ($1 - from) / ($3 - patched)
			submissions[runs] = ($2 - submitted) / frames; patches[runs] = ($3 - patched) / frames
		}
		function median(values, i, j, swap) {
			for (i = 1; i <= runs; i++)
				for (j = i + 1; j <= runs; j++)
					if (values[j] < values[i]) { swap = values[i]; values[i] = values[j]; values[j] = swap }
			return values[int((runs + 1) / 2)]
		}
		END {
			least = 1000
			while ((getline line < rows) > 0) {
				split(line, field, " ")
				if (field[1] != "glxgears" && field[4] < least) least = field[4]
			}
			printf "gl_fps_ratio %.2f\n", least
			printf "gl_instr_per_frame %.0f\n", median(instructions)
			printf "gl_instr_per_patch %.1f\n", median(each)
			printf "gl_submissions_per_frame %.1f\n", median(submissions)
			printf "gl_patches_per_frame %.1f\n", median(patches)
		}' "$1/counts" >"$1/keys"
	printf '\n| figure | measured | meaning |\n|---|---|---|\n'
	while read -r key value; do
		printf '| `%s` | %s | %s |\n' "$key" "$value" "$(awk -F '\t' -v key="$key" '$1 == key { print $4 }' "$record")"
	done <"$1/keys"
}

# measure_gl: the table on standard output, and with --write in docs/figures.md.
measure_gl() {
	local folder round side command glmark gears server
	folder=$(mktemp -d)
	# What runs when something fails: an X server, a card.
	trap 'kill $(jobs -p) 2>/dev/null || true' EXIT
	build_preset host patchbay
	build_preset host patchbay-renderer
	build_preset host patchbay-bench-count
	build_board "$board" '' "patchbay-$board.elf"
	taskset -c "$gl_cores" true 2>/dev/null || die 3 "processors $gl_cores cannot be had"
	mkfifo "$folder/display"
	taskset -c "$gl_cores" Xvfb -displayfd 3 -screen 0 1024x768x24 -nolisten tcp 3>"$folder/display" 2>"$logs/xvfb.log" &
	server=$!
	read -r DISPLAY <"$folder/display" || die 1 "Xvfb did not start: $(<"$logs/xvfb.log")"
	export DISPLAY=:$DISPLAY
	{ read -r glmark && read -r gears; } < <(gl_programs)
	for ((round = 1; round <= gl_rounds; round++)); do
		truncate -s 0 "$folder/log-plain" "$folder/log-firmware"
		# shellcheck disable=SC2086
		{
			gl_plain "$folder/log-plain" $glmark
			gl_firmware "$folder/log-firmware" "$folder/counts" $glmark
			gl_plain "$folder/log-plain" $gears
			gl_firmware "$folder/log-firmware" "$folder/counts-gears" $gears
		}
		for side in plain firmware; do
			gl_rates "$folder/log-$side" >"$folder/rates"
			[[ $(wc -l <"$folder/rates") == $((${#gl_scenes[@]} + 1)) ]] || die 1 "$(<"$folder/log-$side")"
			cat "$folder/rates" >>"$folder/$side"
		done
		say "round $round of $gl_rounds"
	done
	kill "$server"
	gl_table "$folder" | tee "$root/build/gl.md"
	[[ $write == no ]] || (cd "$root" && python3 scripts/figures.py put docs/figures.md gl <"$root/build/gl.md")
	awk -v least="$gl_ratio_least" '$1 == "gl_fps_ratio" && $2 < least { exit 1 }' "$folder/keys" ||
		say "gl_fps_ratio is below $gl_ratio_least"
	rm -rf "$folder"
}
