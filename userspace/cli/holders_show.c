// SPDX-License-Identifier: GPL-2.0-only
/* The holders of a map, as text and as JSON. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "holders.h"
#include "json.h"

/* What there may be besides; NULL: that is all. */
static const char *what_is_missing(const struct holders *holders)
{
	switch (-holders->err) {
	case 0:
		return NULL;
	case EPERM:
		return "more may be seen with CAP_SYS_ADMIN and CAP_SYS_PTRACE (as root)";
	case E2BIG:
		return "there is too much to look at all";
	default:
		return "out of memory";
	}
}

const char *format_holders(const struct holders *holders, __u32 map_id, char *to, size_t size)
{
	static const char *const names[N_HOLDER_KINDS][2] = {
		[HOLDER_PROGRAM] = { "program", "programs" },
		[HOLDER_FD] = { "descriptor", "descriptors" },
		[HOLDER_PIN] = { "pin", "pins" },
		[HOLDER_MAP] = { "map", "maps" },
	};
	int count[N_HOLDER_KINDS] = {}, i;
	size_t len = 0;

	for (i = 0; i < holders->n; i++)
		if (holders->holder[i].map_id == map_id)
			count[holders->holder[i].kind]++;
	*to = '\0';
	for (i = 0; i < N_HOLDER_KINDS; i++)
		if (count[i] && len < size)
			len += snprintf(to + len, size - len, "%s%d %s", len ? ", " : "", count[i],
					names[i][count[i] > 1]);
	if (holders->err && len < size)
		snprintf(to + len, size - len, "%s?", len ? ", " : "");
	return to;
}

static void print_holder(const struct holder *h)
{
	switch (h->kind) {
	case HOLDER_PROGRAM:
		printf("program %u %s (%s)\n", h->id, h->name, h->type);
		break;
	case HOLDER_FD:
		printf("process %u %s, descriptor %u\n", h->id, h->name, h->fd);
		break;
	case HOLDER_MAP:
		printf("map %u %s (%s)\n", h->id, h->name, h->type);
		break;
	default:
		printf("pin %s\n", h->name);
	}
}

void print_holders(const char *label, const struct holders *holders, __u32 map_id)
{
	const char *missing = what_is_missing(holders);
	int i, column = strlen(label);

	for (i = 0; i < holders->n; i++) {
		if (holders->holder[i].map_id != map_id)
			continue;
		printf("%-*s", column, label);
		print_holder(&holders->holder[i]);
		label = "";
	}
	if (missing)
		printf("%-*s(%s)\n", column, label, missing);
}

struct json_object *describe_holders(const struct holders *holders, __u32 map_id)
{
	static const char *const keys[N_HOLDER_KINDS] = {
		[HOLDER_PROGRAM] = "programs", [HOLDER_FD] = "descriptors", [HOLDER_PIN] = "pins",
		[HOLDER_MAP] = "maps",
	};
	struct json_object *object = json_object_new_object(), *arrays[N_HOLDER_KINDS], *item;
	const struct holder *h;
	int i;

	for (i = 0; i < N_HOLDER_KINDS; i++) {
		arrays[i] = json_object_new_array();
		json_add(object, keys[i], arrays[i]);
	}
	for (h = holders->holder; h < holders->holder + holders->n; h++) {
		if (h->map_id != map_id)
			continue;
		if (h->kind == HOLDER_PIN) {
			item = json_object_new_string(h->name);
		} else {
			item = json_object_new_object();
			json_add_number(item, h->kind == HOLDER_FD ? "pid" : "id", h->id);
			json_add_string(item, h->kind == HOLDER_FD ? "comm" : "name", h->name);
			if (h->kind == HOLDER_FD)
				json_add_number(item, "fd", h->fd);
			else
				json_add_string(item, "type", h->type);
		}
		json_object_array_add(arrays[h->kind], item);
	}
	json_add_bool(object, "all", !holders->err);
	return object;
}
