/* SPDX-License-Identifier: MIT */
#include "host/tool/json_number.h"

#include <inttypes.h>

void pb_json_number(cJSON *object, const char *name, uint64_t value)
{
	char digits[24];

	(void)snprintf(digits, sizeof(digits), "%" PRIu64, value);
	cJSON_AddRawToObject(object, name, digits);
}

bool pb_json_print(FILE *stream, cJSON *object)
{
	char *text = cJSON_Print(object);

	if (text != NULL)
		fprintf(stream, "%s\n", text);
	cJSON_free(text);
	cJSON_Delete(object);
	return text != NULL;
}
