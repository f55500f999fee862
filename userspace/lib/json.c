// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
/*
 * Records as JSON: numbers as numbers, also those of 64 bits, addresses and text as
 * strings, bytes as hexadecimal digits.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <json-c/json.h>

#include "value.h"

/* Names are the type's, which lives longer, and unlike each other. */
#define KEY_FLAGS	(JSON_C_OBJECT_ADD_KEY_IS_NEW | JSON_C_OBJECT_ADD_CONSTANT_KEY)

struct walk {
	const struct bpfrelay_type *type;
	const struct bpf_relay_field *end;
};

/* They make an object, of which NULL is an error that is found out at the end. */
static struct json_object *make_fields(const struct walk *w, const struct bpf_relay_field *f,
				       const char *base, __u32 len, bool *failed);

/* The length of what is UTF-8 at s, of at most n bytes; 0: it is none. */
static size_t utf8_length(const __u8 *s, size_t n)
{
	size_t len = *s < 0x80 ? 1 : *s >= 0xc2 && *s < 0xe0 ? 2 :
		     *s >= 0xe0 && *s < 0xf0 ? 3 : *s >= 0xf0 && *s < 0xf5 ? 4 : 0;
	size_t i;

	if (len > n)
		return 0;
	for (i = 1; i < len; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	/* Too long for what it says, surrogates, beyond Unicode. */
	if ((*s == 0xe0 && s[1] < 0xa0) || (*s == 0xed && s[1] > 0x9f) ||
	    (*s == 0xf0 && s[1] < 0x90) || (*s == 0xf4 && s[1] > 0x8f))
		return 0;
	return len;
}

/* Whatever is no UTF-8 becomes U+FFFD. */
static struct json_object *make_string(const char *text, size_t size)
{
	size_t n = strnlen(text, size), i, len, to = 0;
	struct json_object *object;
	char *clean;

	clean = malloc(3 * n + 1);
	if (!clean)
		return NULL;
	for (i = 0; i < n; i += len ?: 1) {
		len = utf8_length((const __u8 *)text + i, n - i);
		memcpy(clean + to, len ? text + i : "\xef\xbf\xbd", len ?: 3);
		to += len ?: 3;
	}
	object = json_object_new_string_len(clean, to);
	free(clean);
	return object;
}

static struct json_object *make_hex(const __u8 *bytes, __u32 n)
{
	struct json_object *object;
	char *text = malloc(2UL * n + 1);
	__u32 i;

	if (!text)
		return NULL;
	for (i = 0; i < n; i++)
		sprintf(text + 2 * i, "%02x", bytes[i]);
	object = json_object_new_string_len(text, 2 * n);
	free(text);
	return object;
}

static struct json_object *make_address(const struct bpf_relay_field *f, const __u8 *a)
{
	char text[INET6_ADDRSTRLEN];

	if (f->hint == BPF_RELAY_HINT_MAC)
		snprintf(text, sizeof(text), "%02x:%02x:%02x:%02x:%02x:%02x", a[0], a[1], a[2],
			 a[3], a[4], a[5]);
	else
		inet_ntop(f->hint == BPF_RELAY_HINT_IPV4 ? AF_INET : AF_INET6, a, text,
			  sizeof(text));
	return json_object_new_string(text);
}

/* What is no number is null there, and needs no memory. */
static struct json_object *make_float(const struct bpf_relay_field *f, const void *data,
				      bool *failed)
{
	double d = value_read_double(f, data);
	struct json_object *object;

	if (!isfinite(d))
		return NULL;
	object = json_object_new_double(d);
	*failed |= !object;
	return object;
}

static struct json_object *make_number(const struct walk *w, const struct bpf_relay_field *f,
				       const void *data)
{
	const struct bpf_relay_field *e;
	__u64 value = value_read(f, data);

	if (f->kind == BPF_RELAY_BOOL && value <= 1)
		return json_object_new_boolean(value);
	e = f->kind == BPF_RELAY_ENUM ? value_enumerator(w->type, f, value) : NULL;
	if (e)
		return json_object_new_string(e->name);
	return value_is_signed(f) ? json_object_new_int64(value) : json_object_new_uint64(value);
}

static struct json_object *make_all(const struct walk *w, const struct bpf_relay_field *f,
				    const char *data, __u32 left, bool *failed);

static struct json_object *make_element(const struct walk *w, const struct bpf_relay_field *f,
					const char *data, bool *failed)
{
	struct json_object *object;

	switch (f->kind) {
	case BPF_RELAY_STRUCT:
		return make_fields(w, f + 1, data, f->size, failed);
	case BPF_RELAY_ARRAY:
		return make_all(w, f + 1, data, f->size, failed);
	case BPF_RELAY_FLOAT:
		return make_float(f, data, failed);
	default:
		object = f->hint == BPF_RELAY_HINT_IPV4 ? make_address(f, (const __u8 *)data) :
							  make_number(w, f, data);
		*failed |= !object;
		return object;
	}
}

static struct json_object *make_array(const struct walk *w, const struct bpf_relay_field *f,
				      const char *data, __u32 n, bool *failed)
{
	struct json_object *array = json_object_new_array(), *object;
	__u32 i;

	for (i = 0; array && i < n && !*failed; i++, data += f->size) {
		if (f->hint == BPF_RELAY_HINT_STACK && !value_read(f, data))
			break;
		object = make_element(w, f, data, failed);
		if (json_object_array_add(array, object)) {
			json_object_put(object);
			*failed = true;
		}
	}
	*failed |= !array;
	return array;
}

/* All elements of a field; left bytes of the record are from it on. */
static struct json_object *make_all(const struct walk *w, const struct bpf_relay_field *f,
				    const char *data, __u32 left, bool *failed)
{
	__u32 n = value_elements(f, left);
	struct json_object *object;

	switch (f->kind) {
	case BPF_RELAY_CHAR:
		object = make_string(data, n);
		break;
	case BPF_RELAY_BYTES:
		if (f->hint == BPF_RELAY_HINT_IPV4 || f->hint == BPF_RELAY_HINT_IPV6 ||
		    f->hint == BPF_RELAY_HINT_MAC)
			object = make_address(f, (const __u8 *)data);
		else
			object = make_hex((const __u8 *)data, n);
		break;
	default:
		if (f->count != 1 || f->kind == BPF_RELAY_ARRAY ||
		    f->hint == BPF_RELAY_HINT_STACK)
			return make_array(w, f, data, n, failed);
		return make_element(w, f, data, failed);
	}
	*failed |= !object;
	return object;
}

/* The fields of one struct, of which f is the first. */
static struct json_object *make_fields(const struct walk *w, const struct bpf_relay_field *f,
				       const char *base, __u32 len, bool *failed)
{
	struct json_object *object = json_object_new_object(), *value;
	__u16 depth = f < w->end ? f->depth : 0;

	for (; object && f < w->end && f->depth >= depth && !*failed; f++) {
		if (f->depth > depth || f->kind == BPF_RELAY_PAD || f->kind == BPF_RELAY_ENUMERATOR)
			continue;
		value = make_all(w, f, base + f->offset, len - f->offset, failed);
		if (json_object_object_add_ex(object, f->name, value, KEY_FLAGS)) {
			json_object_put(value);
			*failed = true;
		}
	}
	*failed |= !object;
	return object;
}

int bpfrelay_record_json(const struct bpfrelay_record *record, char **text)
{
	const int flags = JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE;
	struct walk w = {
		.type = record->type,
		.end = record->type->fields + record->type->n_fields,
	};
	struct json_object *object;
	bool failed = false;
	const char *made;
	size_t len = 0;

	*text = NULL;
	object = make_fields(&w, record->type->fields, record->data, record->len, &failed);
	made = failed ? NULL : json_object_to_json_string_length(object, flags, &len);
	if (made)
		*text = strdup(made);
	json_object_put(object);
	return *text ? (int)len : -ENOMEM;
}
