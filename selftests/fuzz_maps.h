/* SPDX-License-Identifier: GPL-2.0-only */
/* fuzz_ops.c: operations on relay maps, and on logs by programs. */
#ifndef _FUZZ_MAPS_H
#define _FUZZ_MAPS_H

#include "fuzz_ops.h"

/* ---- Maps: create, destroy, pin, write ------------------------------------------ */

static const char *pin_path(const struct fuzz *f, const struct slot *s)
{
	static char path[64];

	snprintf(path, sizeof(path), PINS "/%u", key_of(f, s));
	return path;
}

static bool is_held(const struct fuzz *f, const struct slot *s)
{
	int i;

	for (i = 0; i < HOLDERS; i++)
		if (f->sleepers.sleeper[i].asleep && (!s || f->held[i] == s))
			return true;
	return false;
}

/* Its log, if there is one, is let go of. */
static void forget_log(struct slot *s)
{
	s->open = false;
	s->odd_types = false;
	s->n_types = 0;
	s->offered = 0;
	s->generation++;
}

/* When nothing holds the map any more, its log goes. */
static void forget_map(struct slot *s)
{
	if (s->fd >= 0 || s->pinned)
		return;
	forget_log(s);
	s->partly = false;
}

static void op_create(struct fuzz *f)
{
	static const char * const names[] = { "", "f", "0", "..", "fuzz_ops", "fifteen_letters" };
	struct slot *s = any_slot(f);
	const char *name = pick(f, names);

	if (s->fd >= 0 || s->pinned)
		return;
	s->fd = any_create(&f->base, &s->log, name, key_of(f, s));
	if (!name[0])
		snprintf(s->log.dir, sizeof(s->log.dir), DEBUGFS "/map.%u", s->log.id);
	s->listed = true;
	said(f, 0);
}

static void destroy(struct fuzz *f, struct slot *s)
{
	any_close(&f->base, key_of(f, s), s->fd);
	s->listed = false;
	s->fd = -1;
	forget_map(s);
}

static void op_destroy(struct fuzz *f)
{
	struct slot *s = any_slot(f);

	if (s->fd < 0)
		return;
	destroy(f, s);
	said(f, 0);
}

static void op_pin(struct fuzz *f)
{
	struct slot *s = any_slot(f);

	if (s->fd < 0)
		return;
	said_errno(f, bpf_obj_pin(s->fd, pin_path(f, s)));
	s->pinned = true;
}

static void op_unpin(struct fuzz *f)
{
	struct slot *s = any_slot(f);

	said_errno(f, unlink(pin_path(f, s)));
	s->pinned = false;
	forget_map(s);
}

/* Who comes later finds the map in bpffs. */
static void op_get(struct fuzz *f)
{
	struct slot *s = any_slot(f);
	struct bpf_map *outer = bpf_object__find_map_by_name(f->base.obj, "any_logs");
	__u32 key = key_of(f, s);
	int fd;

	fd = bpf_obj_get(pin_path(f, s));
	said_errno(f, fd);
	if (fd < 0 || s->fd >= 0) {
		close(fd);
		return;
	}
	s->fd = fd;
	s->listed = !bpf_map_update_elem(bpf_map__fd(outer), &key, &fd, BPF_ANY);
	if (!s->listed)
		complain(f, "not to be put into any_logs: %s", strerror(errno));
}

static void op_update(struct fuzz *f)
{
	struct slot *s = any_slot(f);
	static char values[256 * sizeof(struct bpf_relay_counters) * 2];
	__u32 key = one_in(f, 8) ? odd(f) : 0;
	__u64 flags = one_in(f, 4) ? below(f, 4) : BPF_ANY;
	int byte = any(f) & 0xff;

	if (s->fd < 0)
		return;
	memset(values, byte, sizeof(values));
	if (bpf_map_update_elem(s->fd, &key, values, flags)) {
		said(f, -errno);
		return;
	}
	said(f, 0);
	if (update_drops_log())
		forget_log(s);
}

static void op_update_from_program(struct fuzz *f)
{
	struct slot *s = any_slot(f);
	int cpu = below(f, possible_cpus()), err;

	if (s->fd < 0)
		return;
	f->call->key = key_of(f, s);
	err = log_run(&f->base, "fuzz_update", online_cpu(cpu));
	said(f, err);
	if (!err && update_drops_log()) {
		forget_log(s);
		s->partly = true;
	}
}

static void op_element(struct fuzz *f)
{
	struct slot *s = any_slot(f);
	__u32 key = one_in(f, 2) ? odd(f) : 0;
	char values[256 * sizeof(struct bpf_relay_counters) * 2];
	bool look = one_in(f, 2);

	if (s->fd < 0)
		return;
	if (look)
		said_errno(f, bpf_map_lookup_elem(s->fd, &key, values));
	else
		said_errno(f, bpf_map_delete_elem(s->fd, &key));
}

/* ---- Types ---------------------------------------------------------------------- */

#define TYPES	4

static __u32 type_size(__u16 id)
{
	return 8 << id;
}

/* Words, then the last of them as bytes. */
static __u32 type_fields(struct bpf_relay_field *fields, __u32 size)
{
	__u32 n = 0, at;

	for (at = 0; at < size && n < 8; n++, at += fields[n - 1].size * fields[n - 1].count) {
		bool last = n == 7 || at + 8 >= size;

		fields[n] = (struct bpf_relay_field) {
			.offset = at, .size = last ? 1 : 8, .count = last ? size - at : 1,
			.kind = last ? BPF_RELAY_BYTES : BPF_RELAY_UINT,
		};
		snprintf(fields[n].name, sizeof(fields[n].name), "f%u", n);
	}
	return n * sizeof(*fields);
}

/* One byte of it, if there is one. */
static void spoil(struct fuzz *f, void *bytes, __u32 len)
{
	__u32 at = below(f, len ?: 1);
	__u8 byte = any(f);

	if (len)
		((__u8 *)bytes)[at] ^= byte;
}

/* The struct may be of another size: older, newer, absurd. */
static __u32 struct_size(struct fuzz *f, __u32 size)
{
	__u32 other = below(f, ANYLOG_ARG);

	return one_in(f, 12) ? other : size;
}

/* One thing about it that is not as it should be. */
static void break_type(struct fuzz *f, struct bpf_relay_type *t, void *tsdl, void *fields)
{
	static const char * const names[] = { "", "1", "struct ", "a b", "t\"", "\xff", "other" };
	__u64 number = odd(f);
	const char *name = pick(f, names);
	void *address = bad_address(f);

	switch (below(f, 13)) {
	case 0:
		t->abi = number;
		break;
	case 1:
		t->id = number;
		break;
	case 2:
		t->size = number;
		break;
	case 3:
		t->flags = number;
		break;
	case 4:
		t->reserved = number;
		break;
	case 5:
		t->tsdl_len = number;
		break;
	case 6:
		t->fields_len = number;
		break;
	case 7:
		t->tsdl = (unsigned long)address;
		break;
	case 8:
		t->fields = (unsigned long)address;
		break;
	case 9:
		strcpy(t->name, name);
		break;
	case 10:
		memset(t->name, 'n', sizeof(t->name));
		break;
	case 11:
		spoil(f, tsdl, t->tsdl_len);
		break;
	case 12:
		spoil(f, fields, t->fields_len);
		break;
	}
}

static void op_add_type(struct fuzz *f)
{
	static const char * const prefixes[] = { "", "struct ", "const struct " };
	static char arg[ANYLOG_ARG], tsdl[128];
	static struct bpf_relay_field fields[8], good[8];
	struct bpf_relay_type *t = (void *)arg;
	struct slot *s = any_slot(f);
	__u32 id = 1 + below(f, TYPES), size;
	int err;

	memset(arg, 0, sizeof(arg));
	t->abi = BPF_RELAY_ABI;
	t->id = id;
	t->size = type_size(id);
	t->flags = id == TYPES ? BPF_RELAY_TYPE_VAR : 0;
	snprintf(t->name, sizeof(t->name), "%stype%u", pick(f, prefixes), id);
	if (one_in(f, 2) && id != TYPES) {
		t->tsdl = (unsigned long)tsdl;
		t->tsdl_len = snprintf(tsdl, sizeof(tsdl), "event { id = %u; stream_id = 0; };",
				       id);
	}
	if (one_in(f, 2)) {
		t->fields = (unsigned long)fields;
		t->fields_len = type_fields(fields, t->size);
	}
	memcpy(good, fields, sizeof(good));
	if (one_in(f, 2))
		break_type(f, t, tsdl, fields);
	size = struct_size(f, sizeof(*t));
	if (one_in(f, 24))
		spoil(f, arg, size);

	if (!s->listed)
		return;
	err = any_call_with(&f->base, "any_do_add_type", key_of(f, s), arg, size);
	said(f, err);
	if (err)
		return;
	s->n_types++;
	s->odd_types |= t->fields_len && (t->fields_len != type_fields(good, type_size(id)) ||
					  memcmp(good, fields, t->fields_len));
	if (s->open)
		complain(f, "added to an open log");
}

/* ---- Opening -------------------------------------------------------------------- */

static void op_open(struct fuzz *f)
{
	static const __u32 sizes[] = { 4096, 4096, 4096, 8192, 65536, 0, 0 };
	static const __u32 counts[] = { 2, 2, 4, 16, 0, 0 };
	static char arg[ANYLOG_ARG];
	struct bpf_relay_opts *o = (void *)arg;
	struct slot *s = any_slot(f);
	__u32 size;
	int err;

	memset(arg, 0, sizeof(arg));
	o->abi = one_in(f, 24) ? odd(f) : BPF_RELAY_ABI;
	o->mode = one_in(f, 24) ? odd(f) : one_in(f, 6);
	o->clock = one_in(f, 24) ? odd(f) : one_in(f, 6);
	o->subbuf_size = one_in(f, 16) ? odd(f) : pick(f, sizes);
	o->n_subbufs = one_in(f, 16) ? odd(f) : pick(f, counts);
	o->n_types = one_in(f, 16) ? odd(f) : s->n_types;
	size = struct_size(f, sizeof(*o));
	if (one_in(f, 16))
		spoil(f, arg, size);

	if (!s->listed)
		return;
	err = any_open_sized(&f->base, key_of(f, s), arg, size);
	said(f, err);
	if (s->open ? !err : err == -EALREADY || err == -ESTALE)
		complain(f, "returned %d of a log that is %s", err, s->open ? "open" : "closed");
	if (err)
		return;
	s->open = true;
	s->partly = false;
	/* Files that were opened before are those of the last one. */
	s->generation++;
}

static void op_max_mib(struct fuzz *f)
{
	static const char * const values[] = { "0", "0", "0", "1", "16", "18446744073709551615" };

	module_set("max_mib", pick(f, values));
	said(f, 0);
}

/* ---- Writing --------------------------------------------------------------------- */

/* Sizes and flags of records: mostly those of a type. */
static void draw_record(struct fuzz *f, struct any_call *call)
{
	__u16 id = one_in(f, 3) ? 0 : below(f, TYPES + 1);

	call->flags = one_in(f, 16) ? odd(f) : id;
	call->size = one_in(f, 12) ? odd(f) : id ? type_size(id) : below(f, one_in(f, 6) ? 10000 : 500);
	call->step = one_in(f, 8) ? below(f, 64) : 0;
	call->count = 1 + below(f, one_in(f, 8) ? 2000 : 50);
}

static void op_output(struct fuzz *f)
{
	struct slot *s = any_slot(f);
	struct any_call call = {};
	int cpu, i;

	draw_record(f, &call);
	cpu = below(f, possible_cpus());
	/* The verifier lets no program ask for more. */
	call.size %= FUZZ_PAYLOAD / 2;
	if ((__u64)call.step * call.count > FUZZ_PAYLOAD / 2)
		call.step = 0;

	if (!s->listed)
		return;
	memset(f->results, 0, ANYLOG_ERRNOS * sizeof(*f->results));
	any_write(&f->base, key_of(f, s), online_cpu(cpu), call.flags, call.size, call.step,
		  call.count);
	for (i = 0; i < ANYLOG_ERRNOS; i++)
		said_times(f, -i, f->results[i]);
	if (f->results[ENODEV] != (s->open ? 0 : call.count))
		complain(f, "of %llu calls %llu returned -ENODEV, the log is %s", call.count,
			 f->results[ENODEV], s->open ? "open" : "closed");
	if (s->open)
		s->offered += call.count;
}

static void op_reserve(struct fuzz *f)
{
	struct slot *s = any_slot(f);
	struct any_call call = {};
	int cpu, discard_every;

	draw_record(f, &call);
	cpu = below(f, possible_cpus());
	discard_every = below(f, 4);

	if (!s->listed)
		return;
	call.key = key_of(f, s);
	*f->call = call;
	*f->discard_every = discard_every;
	*f->reserved = (struct fuzz_reserved) {};
	log_run(&f->base, "fuzz_reserve", online_cpu(cpu));
	said_times(f, 0, f->reserved->given);
	said_times(f, -ENOSPC, f->reserved->refused);
	if (f->reserved->given + f->reserved->refused != call.count)
		complain(f, "%llu reservations of %llu", f->reserved->given + f->reserved->refused,
			 call.count);
	if (f->reserved->wrong)
		complain(f, "record_data() was wrong %llu times", f->reserved->wrong);
	if (f->reserved->given && !s->open)
		complain(f, "records of a log that is not open");
	if (s->open)
		s->offered += call.count;
}

/* A program asleep with a record. */
static void op_hold(struct fuzz *f)
{
	struct slot *s = any_slot(f);
	struct any_call call = {};
	struct fuzz_hold hold;
	int cpu, i;

	draw_record(f, &call);
	cpu = below(f, possible_cpus());
	hold = (struct fuzz_hold) {
		.key = key_of(f, s), .flags = call.flags, .size = call.size,
		.discard = below(f, 2),
	};

	for (i = 0; i < HOLDERS && f->sleepers.sleeper[i].asleep; i++)
		;
	if (!s->listed || i == HOLDERS)
		return;
	f->held[i] = s;
	f->holds[i] = hold;
	f->holds[i].addr = f->sleepers.sleeper[i].addr;
	if (sleepers_start(&f->sleepers, i, &f->base, "fuzz_do_hold", online_cpu(cpu),
			   &f->holds[i], sizeof(f->holds[i]))) {
		said(f, 0);
		if (!s->open)
			complain(f, "a record of a log that is not open");
	} else {
		said(f, f->sleepers.sleeper[i].ret == 1 ? -ENOSPC : -EIO);
	}
	if (s->open)
		s->offered++;
}

static void op_wake(struct fuzz *f)
{
	int i = below(f, HOLDERS);

	if (f->sleepers.sleeper[i].asleep)
		said(f, sleepers_wake(&f->sleepers, i));
}

#endif /* _FUZZ_MAPS_H */
