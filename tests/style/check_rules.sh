#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Rules of the house that a pattern can find. The sources of host/linux follow those of the kernel instead.
source "$(dirname "$0")/lib.sh"

file_lines_max=500
function_lines_max=80

# forbid REGEX MESSAGE FILE...: no code of these files may match.
forbid() {
	local pattern=$1 message=$2
	shift 2
	code "$@" | awk -v pattern="$pattern" -v message="$message" '
	{
		# The flag of a signal handler has to be volatile; of an assembly statement it says another thing.
		gsub(/volatile sig_atomic_t|__asm__ volatile/, "")
		match($0, /^[^:]*:[0-9]*:/)
		if (substr($0, RLENGTH + 1) ~ pattern)
			print substr($0, 1, RLENGTH) " " message
	}' >>"$findings"
}

mapfile -t all < <(sources | grep -v '^host/linux/')
mapfile -t outside_hal < <(sources firmware loader boards host qemu tests | grep -v '^host/linux/')
mapfile -t firmware < <(sources firmware)
mapfile -t on_target < <(sources firmware loader boards hal qemu/mcu)
mapfile -t library < <(sources host | grep -E '^host/((wddm|gl)/)?[^/]*$' | grep -Ev '^host/link_' || true)
mapfile -t wire < <(sources include/patchbay/abi hal/engine qemu/mcu)

forbid '(^|[^_A-Za-z0-9])volatile($|[^_A-Za-z0-9])' \
	'volatile belongs in hal/: use hal/shared.h' "${outside_hal[@]}"
forbid '(^|[^_A-Za-z0-9])(malloc|calloc|realloc|free|alloca) *[(]' \
	'no heap here' "${on_target[@]}" "${library[@]}"
forbid '[A-Za-z0-9_][ \t]*:[ \t]*[0-9]+[ \t]*[;,]' 'no bit-field in a wire struct' "${wire[@]}"
forbid '__attribute__[^;]*weak|[.]weak|#[ \t]*pragma[ \t]+weak' 'no weak symbol' "${all[@]}"
# GCC takes for granted that the frame pointer is not 0, also where a variable is kept in its register.
grep -nE '__asm__ *[(]"(r7|fp|s0|x8)"[)]' "${all[@]}" /dev/null |
	sed -E 's/^([^:]*:[0-9]+):.*/\1: no variable in the frame pointer: its comparison with 0 is left out/' >>"$findings" || true
# Include guards and __cplusplus are the only conditions that the core needs.
code "${firmware[@]}" | awk '
{
	match($0, /^[^:]*:[0-9]*:/)
	text = substr($0, RLENGTH + 1)
	if (text ~ /^[ \t]*#[ \t]*(if|elif)/ && text !~ /ifndef PB_[A-Z0-9_]*_H[ \t]*$/ &&
	    text !~ /ifdef __cplusplus[ \t]*$/)
		print substr($0, 1, RLENGTH) " no conditional code in the portable core"
}' >>"$findings"

for file in "${all[@]}"; do
	IFS= read -r first <"$file" || true
	[[ $first == '/* SPDX-License-Identifier: MIT */' ]] ||
		echo "$file:1: the first line is not the SPDX line" >>"$findings"
done

# A function begins and ends with a brace in the first column. Its length is that of its body.
awk -v file_max=$file_lines_max -v function_max=$function_lines_max '
FNR == 1 { start = 0 }
FNR == file_max + 1 { print FILENAME ":" FNR ": the file is longer than " file_max " lines" }
/^{/ { start = FNR }
/^}/ {
	if (start && FNR - start - 1 > function_max)
		print FILENAME ":" start ": the function has " FNR - start - 1 " lines, at most " function_max
	start = 0
}' "${all[@]}" >>"$findings"

# The words are split here so that this file does not contain them.
marks='(^|[^A-Za-z0-9_])(TO''DO|FIX''ME|XX''X)($|[^A-Za-z0-9_])'
homes='(/ho''me/|/ro''ot/|/Us''ers/)[A-Za-z0-9]'
mapfile -t text < <(texts)
grep -nHE "$marks" "${text[@]}" /dev/null | sed -E 's/^([^:]*:[0-9]+):.*/\1: unfinished work is marked here/' \
	>>"$findings" || true
grep -nHE "$homes" "${text[@]}" /dev/null | sed -E 's/^([^:]*:[0-9]+):.*/\1: a path of one machine/' \
	>>"$findings" || true

# Scripts are bash or Python. CHANGELOG.md may name the language that they were in.
other='pe''rl'
{
	find . \( -name .git -o -path ./build \) -prune -o -name '*.p[lm]' -printf '%P:1: scripts are bash or Python\n'
	mapfile -t text < <(texts | grep -vx 'CHANGELOG[.]md'; find docs -name Doxyfile 2>/dev/null || true)
	grep -nHiwE "$other" "${text[@]}" /dev/null | sed -E 's/^([^:]*:[0-9]+):.*/\1: scripts are bash or Python/' || true
} >>"$findings"

finish
