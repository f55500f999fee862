// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/btf.h>

#include "../../kernel/fields.h"
#include "event.h"
#include "map_types.h"

/* The id in a name "typeN"; 0: it is no such name. */
static __u32 type_id(const char *name)
{
	unsigned long id;
	char *end;

	if (!name || strncmp(name, "type", 4) || name[4] < '1' || name[4] > '9')
		return 0;
	id = strtoul(name + 4, &end, 10);
	return *end || id >= BPF_RELAY_TYPES_MAX ? 0 : id;
}

/* Whether records of a type can be read by this table. */
static bool is_layout(const struct bpfrelay_type *type, const struct bpf_relay_field *fields,
		      __u32 n)
{
	bool var = type->flags & BPF_RELAY_TYPE_VAR;
	const struct bpf_relay_field *was, *is;

	if (!fields_valid(fields, n, type->size, var))
		return false;
	if (!var)
		return true;
	was = fields_flexible(type->fields, type->n_fields);
	is = fields_flexible(fields, n);
	return is && is->offset == was->offset && is->size == was->size;
}

static int replace(struct metadata *m, __u32 id, const struct btf *btf, __u32 btf_id)
{
	struct bpfrelay_type *type = m->type[id], *better;
	struct bpf_relay_field *fields;
	int n;

	n = bpfrelay_type_fields(btf, btf_id, type->flags, NULL, NULL, &fields);
	if (n <= 0)
		return n == -ENOMEM ? n : 0;
	if (is_layout(type, fields, n)) {
		better = event_type(type, fields, n, type->name, strlen(type->name));
		m->type[id] = better ?: type;
		if (better)
			free(type);
		else
			n = -ENOMEM;
	}
	free(fields);
	return n < 0 ? n : 0;
}

/* RELAY_MAP() keeps each type as an empty array typeN in the struct of the value. */
static int replace_all(struct metadata *m, const struct btf *btf, __u32 value_id)
{
	const struct btf_type *value = btf__type_by_id(btf, value_id), *array;
	const struct btf_member *member;
	__u32 id;
	int i, err = 0;

	if (!value || !btf_is_struct(value))
		return 0;
	member = btf_members(value);
	for (i = 0; i < btf_vlen(value) && !err; i++, member++) {
		id = type_id(btf__name_by_offset(btf, member->name_off));
		array = btf__type_by_id(btf, member->type);
		if (id && m->type[id] && array && btf_is_array(array))
			err = replace(m, id, btf, btf_array(array)->type);
	}
	return err;
}

int map_types(__u32 map_id, struct metadata *m)
{
	struct bpf_map_info info = {};
	__u32 len = sizeof(info);
	struct btf *btf;
	int fd, err;

	fd = bpf_map_get_fd_by_id(map_id);
	if (fd < 0)
		return 0;
	err = bpf_obj_get_info_by_fd(fd, &info, &len);
	close(fd);
	if (err || !info.btf_id)
		return 0;
	btf = btf__load_from_kernel_by_id(info.btf_id);
	if (!btf)
		return errno == ENOMEM ? -ENOMEM : 0;
	err = replace_all(m, btf, info.btf_value_type_id);
	btf__free(btf);
	return err;
}
