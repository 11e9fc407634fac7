/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "patchbay/link.h"
#include "patchbay/link_pci.h"

enum pb_error pb_link_open(const char *name, struct pb_link **link)
{
	static const struct {
		const char *kind;
		enum pb_error (*open)(const char *address, struct pb_link **link);
	} kinds[] = {{"vfio:", pb_link_open_vfio}, {"pci:", pb_link_open_pci}};

	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strncmp(name, kinds[i].kind, strlen(kinds[i].kind)) == 0)
			return kinds[i].open(name + strlen(kinds[i].kind), link);
	}
	return pb_link_open_socket(name, link);
}
