#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# codespell knows no word as a misspelt one, but those that .codespellrc allows.
source "$(dirname "$0")/lib.sh"
codespell
