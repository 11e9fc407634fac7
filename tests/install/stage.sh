#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# tests/install/stage.sh BUILD_FOLDER: installs that build to build/stage, once for all tests of what is installed. The prefix has a
# space in its name. Part of the build: tests only read it.
set -euo pipefail
project=$(cd "$(dirname "$0")/../.." && pwd)
stage=$project/build/stage
rm -rf "$stage"
mkdir -p "$stage"
if ! DESTDIR=$stage/dest cmake --install "$1" --prefix "/opt/a prefix" >"$stage/log" 2>&1; then
	cat "$stage/log" >&2
	exit 1
fi
