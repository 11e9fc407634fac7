#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# tests/install/debian.sh: makes build/debian/bookworm.tar, a new Debian 12 of Debian's archive by mmdebstrap: nothing but the essential
# packages and apt, which has the lists of packages, and the files of those that clean.sh installs: no network is needed then.
# Does nothing if it is there. Needs the network and root.
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../scripts/lib.sh"

tar=$root/build/debian/bookworm.tar
[[ ! -e $tar ]] || exit 0
((EUID == 0)) || die 3 "needs root, for chroot"
# What the packages depend on and recommend (packaging/debian.cmake), and what builds the examples. If one is missing here, apt
# tells clean.sh.
packages=(libcjson1 libdw1 libelf1 libncurses6 libpng16-16 libvirglrenderer1 libzstd1 zlib1g libc6-dev qemu-system-arm python3
	gcc cmake make)
need_packages "${packages_clean[@]}"
mkdir -p "$(dirname "$tar")"
# shellcheck disable=SC2016
logged debian mmdebstrap --format=tar --variant=apt --dpkgopt=force-unsafe-io --aptopt='Acquire::Retries "3"' --skip=cleanup/apt \
	--customize-hook='chroot "$1" apt-get update -q' \
	--customize-hook='chroot "$1" apt-get install -y -q --no-install-recommends --download-only '"${packages[*]}" \
	bookworm "$tar.part"
mv "$tar.part" "$tar"
