# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154
# The kernel's own source: its style checker, and a kernel that watches the driver. Sourced by scripts/linux.

# Brings what the style checker is written in.
packages_lint=(dpkg-dev)
packages_kernel=(gcc make libc6-dev flex bison bc libelf-dev)
# What must be on in the kernel that is built, or its run shows nothing.
watchers=(PROVE_LOCKING KASAN DEBUG_ATOMIC_SLEEP DEBUG_KMEMLEAK SW_SYNC)

# fetch_source: the kernel's source, unpacked to $source.
fetch_source() {
	unpack linux-source-6.1
	if [[ ! -e $source/.unpacked ]]; then
		say "unpacking the kernel's source"
		logged linux-packages tar -C "$folder" -xf "$packages/tree/usr/src/linux-source-6.1.tar.xz"
		patient_vgem "$source/drivers/gpu/drm/vgem"
		touch "$source/.unpacked"
	fi
}

# record FILE HEADER VALUE...: adds a line to a table of tests/records.
record() {
	local file=$root/tests/records/$1 header=$2
	shift 2
	[[ -e $file ]] || printf '%s\n' "$header" >"$file"
	(
		IFS=$'\t'
		printf '%s\n' "$*" >>"$file"
	)
}

# Every source of the module, built anew or not, passes sparse.
lint_sparse() {
	build_module C=2 CHECK="$packages/tree/usr/bin/sparse -Wno-declaration-after-statement" CF=-D__CHECKER__
	# The kernel's build does not end with an error of its checker.
	if grep -E ': error:' "$logs/linux-module.log" >&2; then
		die 1 "sparse finds errors; the whole log is $logs/linux-module.log"
	fi
	say "sparse has no complaint"
}

# style_of FOLDER ARGUMENT...: what the style checker in a folder says of files. It takes longer to start than for a file.
style_of() {
	"$1/scripts/checkpatch.pl" --no-tree --strict --terse --show-types --max-line-length=120 -f "${@:2}" 2>&1 |
		grep -v '^total: ' || true
}

# lint_style FOLDER: the kernel's style by the checker in a folder, with lines of 120: errors and warnings fail, remarks (--strict)
# are counted in $remarks. As many checkers at once as there are processors.
lint_style() {
	local files complaints at each log=$logs/linux-style.log parts=$folder/style
	rm -rf "$parts"
	mkdir -p "$logs" "$parts"
	# A checker that does not run would find no complaint below.
	echo 'int planted=1;' >"$folder/planted.c"
	{ "$1/scripts/checkpatch.pl" --no-tree --terse -f "$folder/planted.c" 2>&1 || true; } | grep 'ERROR: spaces required' >/dev/null ||
		die 1 "the style checker in $1 does not find what it should"
	mapfile -t files < <(printf '%s\n' "$root"/host/linux/{,compat/}*.[ch] | grep -v '_trace[.]h$')
	each=$(((${#files[@]} + $(nproc) - 1) / $(nproc)))
	for ((at = 0; at < ${#files[@]}; at += each)); do
		style_of "$1" "${files[@]:at:each}" >"$parts/$at" &
	done
	# Two of its checks cannot be met by any header of tracepoints.
	style_of "$1" --ignore "PARENTHESIS_ALIGNMENT,OPEN_ENDED_LINE" "$root"/host/linux/*_trace.h >"$parts/trace"
	wait
	cat "$parts"/* >"$log"
	complaints=$(grep -cE ': (ERROR|WARNING):' "$log" || true)
	remarks=$(grep -c ': CHECK:' "$log" || true)
	((complaints == 0)) || grep -E ': (ERROR|WARNING):' "$log" | sed "s,^$root/,," >&2
	((complaints == 0)) || die 1 "the kernel's style checker has $complaints complaints"
	say "the kernel's style checker has no complaint, and $remarks remarks"
}

# lint_beside FOLDER: both at once, after other work. Each ends its own shell where it fails.
lint_beside() {
	local result=0 sparse style
	renice -n 10 -p "$BASHPID" >/dev/null
	(step "sparse" lint_sparse) &
	sparse=$!
	(step "the kernel's style" lint_style "$1") &
	style=$!
	wait "$sparse" || result=1
	wait "$style" || result=1
	return "$result"
}

# lint: both, and a line of the record.
lint() {
	local count
	lint_sparse
	lint_style "$source"
	sed "s,^$root/,," "$logs/linux-style.log" >&2
	count=$(find "$root/host/linux" -maxdepth 2 -name tests -prune -o -name '*.[ch]' -print | wc -l)
	record linux_lint.tsv $'date\tkernel\trevision\tfiles\tsparse\terrors_and_warnings\tchecks' "$(date -u +%F)" \
		"$(sed -nE 's/^(VERSION|PATCHLEVEL|SUBLEVEL) = //p' "$source/Makefile" | paste -sd.)" "$(source_revision)" \
		"$count" 0 0 "$remarks"
}

# kernel_make TARGET...: make for the kernel, in $debug.
kernel_make() {
	logged linux-kernel make -C "$source" O="$debug" -j "$(nproc)" "$@"
}

# build_debug_kernel: $debug/arch/x86/boot/bzImage; $headers and $release are that kernel's from then on.
build_debug_kernel() {
	local name
	mkdir -p "$debug"
	if ! cmp -s "$root/host/linux/tests/debug.config" "$debug/fragment"; then
		kernel_make tinyconfig
		cat "$root/host/linux/tests/debug.config" >>"$debug/.config"
		kernel_make olddefconfig
		cp "$root/host/linux/tests/debug.config" "$debug/fragment"
	fi
	for name in "${watchers[@]}"; do
		grep -qx "CONFIG_$name=y" "$debug/.config" || die 1 "the kernel's configuration lost $name"
	done
	step "kernel with lock and memory checkers" kernel_make bzImage modules
	release=$(<"$debug/include/config/kernel.release")
	headers=$debug
}

# run_debug_kernel COMMAND...: the driver's tests on that kernel, with one processor and with two; a line of the record each.
run_debug_kernel() {
	local processors result=0 log=$logs/linux-debug.log
	for processors in 1 2; do
		say "the driver's tests on $release with $processors processor(s)"
		# The runs end with this script.
		setpriv --pdeathsig TERM "$@" --kernel "$debug/arch/x86/boot/bzImage" --initrd "$folder/debug.cpio" --processors "$processors" \
			--machine-memory 768 --slow 8 run_debug | tee "$log" || result=1
		record linux_debug.tsv $'date\tkernel\trevision\toptions\tprocessors\tverdict\tfailed' "$(date -u +%F)" "$release" \
			"$(source_revision)" "${watchers[*]}" "$processors" "$(tail -n 1 "$log" | sed 's/ in .*//')" \
			"$(sed -nE 's/^FAIL ([^ ]+) .*/\1/p' "$log" | paste -sd' ')"
	done
	return "$result"
}
