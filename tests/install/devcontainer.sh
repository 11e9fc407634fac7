#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# tests/install/devcontainer.sh: the steps of .devcontainer without a container program, in a new Debian 12 that mmdebstrap makes of
# Debian's archive, with nothing of this system but its kernel: each RUN of the Dockerfile, then postCreateCommand in a clone
# of the committed tree. Adds a line to tests/records/devcontainer.tsv. Needs root and the network; 10 to 30 minutes.
set -euo pipefail
project=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=scripts/lib.sh
source "$project/scripts/lib.sh"
((EUID == 0)) || die 3 "needs root, for chroot"
need_packages "${packages_clean[@]}" git
folder=$root/.devcontainer
revision=$(git -C "$root" log -1 --format=%h)
begin=$(date +%s)
system=$(mktemp -d)
trap 'umount "$system/proc" 2>/dev/null || true; rm -rf --one-file-system "$system"' EXIT

inside() {
	chroot "$system" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root "$@"
}

# The Dockerfile's instructions, one a line.
instructions() {
	sed -e '/^#/d' -e ':a;/\\$/{N;s/\\\n/ /;ba}' "$folder/Dockerfile"
}

[[ $(instructions | sed -n 's/^FROM //p') == debian:12 ]] || die 1 "the Dockerfile begins with another system"
step "a new Debian 12" logged devcontainer mmdebstrap --variant=minbase --dpkgopt=force-unsafe-io bookworm "$system"
cp /etc/resolv.conf "$system/etc/resolv.conf"
mkdir -p "$system/dev/shm" "$system/workspaces"
mount -t proc proc "$system/proc" 2>/dev/null || say "without /proc"
instructions | sed -n 's/^RUN //p' >"$system.run"
while IFS= read -r command; do
	step "RUN" logged devcontainer inside sh -c "$command"
done <"$system.run"
rm -f "$system.run"
! instructions | grep -vE '^(FROM|RUN) |^$' || die 1 "an instruction that this script does not know"
git clone -q "$root" "$system/workspaces/patchbay"
created=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["postCreateCommand"])' "$folder/devcontainer.json")
step "$created" logged devcontainer inside bash -c "cd /workspaces/patchbay && $created"
result=$(grep -oE '[0-9]+ tests failed out of [0-9]+' "$logs/devcontainer.log" | tail -n 1)
[[ $result == "0 tests failed out of "* ]] || die 1 "$created says: $result"
record=$root/tests/records/devcontainer.tsv
[[ -e $record ]] || printf 'date\trevision\ttests\tseconds\n' >"$record"
printf '%s\t%s\t%s\t%s\n' "$(date -u +%F)" "$revision" "${result##* }" "$(($(date +%s) - begin))" >>"$record"
say "$result"
