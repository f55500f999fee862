// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as BTF: of each type in it there is an error, or a table and a text that
 * the module takes.
 */
#include <errno.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "check.h"
#include "fields.h"
#include "tsdl.h"
#include "bpfrelay.h"

#define TYPES_MAX	32	/* looked at */

/* What is said of a hint is made of names in the BTF. */
static void print(void *ctx, const char *fmt, va_list args)
{
	char line[256];

	(void)ctx;
	must(vsnprintf(line, sizeof(line), fmt, args) > 0);
}

static void type_must_hold(const struct btf *btf, uint32_t id, bool var)
{
	int64_t size = btf__resolve_size(btf, id);
	struct bpf_relay_field *fields, *exact;
	char *text;
	int n, len;

	n = bpfrelay_type_fields(btf, id, var ? BPF_RELAY_TYPE_VAR : 0, print, NULL, &fields);
	if (n <= 0) {
		must(!fields && (!n || n == -EINVAL || n == -ENOMEM));
		return;
	}
	must(size >= !var && size <= UINT32_MAX);
	must(n * sizeof(*fields) <= BPF_RELAY_TEXT_MAX);
	exact = copy_of(fields, n * sizeof(*fields));
	free(fields);
	must(fields_valid(exact, n, size, var));
	free(table_must_hold(exact, n, size, var, true));

	len = bpfrelay_type_tsdl(exact, n, "fuzz", 1, &text);
	must(len > 0 && len <= (int)BPF_RELAY_TEXT_MAX && strlen(text) == (size_t)len);
	must(tsdl_valid(text, len));
	text_must_hold(text, len);
	free(text);
	free(exact);
}

/*
 * The input is the two sections, with the length of the first one before them: a
 * header that does not fit is libbpf's affair.
 */
static struct btf *btf_of(const uint8_t *data, size_t len)
{
	struct btf_header header = {
		.magic = BTF_MAGIC, .version = BTF_VERSION, .hdr_len = sizeof(header),
	};
	struct btf *btf;
	uint8_t *blob;

	if (len < 3)
		return NULL;
	header.type_len = (data[0] | data[1] << 8) % (len - 2) & ~3U;
	header.str_off = header.type_len;
	header.str_len = len - 2 - header.type_len;
	blob = malloc(sizeof(header) + len - 2);
	memcpy(blob, &header, sizeof(header));
	memcpy(blob + sizeof(header), data + 2, len - 2);
	/* Strings begin and end with a NUL. */
	blob[sizeof(header) + header.str_off] = 0;
	blob[sizeof(header) + len - 3] = 0;
	btf = btf__new(blob, sizeof(header) + len - 2);
	free(blob);
	return libbpf_get_error(btf) ? NULL : btf;
}

static int say_nothing(enum libbpf_print_level level, const char *fmt, va_list args)
{
	(void)level;
	(void)fmt;
	(void)args;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct btf *btf;
	uint32_t id;

	libbpf_set_print(say_nothing);
	btf = btf_of(data, len);
	if (!btf)
		return 0;
	for (id = 0; id < btf__type_cnt(btf) && id < TYPES_MAX; id++) {
		type_must_hold(btf, id, false);
		type_must_hold(btf, id, true);
	}
	btf__free(btf);
	return 0;
}
