# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Completion of the patchbay command in bash. Commands and options are those of the command's own help.

_patchbay_help() {
	"${words[@]:0:$1}" --help 2>/dev/null </dev/null
}

_patchbay_commands() {
	sed -nE 's/^  ([a-z]+) +[^ ].*/\1/p'
}

# "--name", or "--name=" for an option with a value.
_patchbay_options() {
	sed -nE 's/^ *(-., )?(--[a-z-]+)(=?).*/\2\3/p'
}

_patchbay() {
	local cur prev words cword depth=1 help
	COMPREPLY=()
	if declare -F _init_completion >/dev/null; then
		_init_completion -n = || return
	else
		words=("${COMP_WORDS[@]}") cword=$COMP_CWORD cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
	fi
	# A command, and for some a second one.
	help=$(_patchbay_help 1)
	while ((depth < cword)) && [[ $help == *COMMAND* ]] && _patchbay_commands <<<"$help" | grep -qx -- "${words[depth]}"; do
		depth=$((depth + 1))
		help=$(_patchbay_help $depth)
	done
	if [[ $cur == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_patchbay_options <<<"$help")" -- "$cur")
		[[ ${COMPREPLY[0]-} != *= ]] || compopt -o nospace
	elif ((depth == cword)) && [[ $help == *COMMAND* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_patchbay_commands <<<"$help")" -- "$cur")
	else
		compopt -o default 2>/dev/null || true
	fi
}

complete -F _patchbay patchbay
