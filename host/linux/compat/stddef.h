/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include <linux/stddef.h>
#include <linux/types.h>
