# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154,SC2034
# Part of scripts/linux: the guest of --clients, with more of Debian's programs than are run each time. Sourced.

# What runs in the guest, without what it depends on; coreutils for env, util-linux for setpriv.
program_packages=("${client_packages[@]}" coreutils util-linux seatd cage xwayland sway swaybg kmscube glmark2-es2-drm mpv
	libgl1-mesa-dri libegl-mesa0 libgles2)
# Another driver for a virtual display, which has no modifiers of formats, as ours: the control for what vkms cannot do.
program_modules=(drivers/virtio/virtio_dma_buf drivers/gpu/drm/virtio/virtio-gpu)
