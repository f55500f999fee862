// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random C structs through the whole chain: clang's BTF, table of fields, TSDL,
 * and babeltrace2 as the judge. What it shows must be, value by value, what a
 * program compiled for this machine stored there (see shapes_gen.c).
 *
 *	test_shapes DIR
 *
 * SHAPES_GEN, CLANG, CC, SRC (this directory) and UAPI come in the environment;
 * SEED and ROUNDS may.
 */
#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bpfrelay.h"
#include "ktap.h"
#include "../../kernel/fields.h"

#define SHAPES	100

/* Ways to spoil the tables: each must make the comparison fail. */
enum spoil { GOOD, NO_PADDING, OTHER_SIGN, ONE_BYTE_LATE, OTHER_ORDER, OTHER_ENUMERATOR };

static char dir[256];

__attribute__((format(printf, 1, 2)))
static bool run(const char *fmt, ...)
{
	char cmd[2048];
	va_list args;
	int status;

	va_start(args, fmt);
	vsnprintf(cmd, sizeof(cmd), fmt, args);
	va_end(args);
	status = system(cmd);
	if (status)
		printf("# status %d: %s\n", status, cmd);
	return !status;
}

static const char *env(const char *name, const char *fallback)
{
	return getenv(name) ?: fallback;
}

static bool build_shapes(int seed)
{
	const char *src = env("SRC", "."), *uapi = env("UAPI", "../../uapi");

	return run("%s %d %d %s", env("SHAPES_GEN", "./shapes_gen"), seed, SHAPES, dir) &&
	       run("%s -g -O0 -target bpf -w -c %s/shapes.bpf.c -o %s/shapes.bpf.o",
		   env("CLANG", "clang"), dir, dir) &&
	       run("%s -O0 -w -Wno-packed-bitfield-compat -I%s -I%s -I%s -o %s/fill %s/fill.c",
		   env("CC", "cc"), src, uapi, dir, dir, dir) &&
	       run("mkdir -p %s/trace && %s/fill %d %s/trace/cpu0 %s/expected", dir, dir, seed,
		   dir, dir);
}

static int spoil_fields(struct bpf_relay_field *fields, int n, enum spoil spoil)
{
	int i, kept = 0;

	for (i = 0; i < n; i++) {
		if (spoil == NO_PADDING && fields[i].kind == BPF_RELAY_PAD)
			continue;
		fields[kept] = fields[i];
		if (spoil == OTHER_SIGN && fields[kept].kind == BPF_RELAY_INT)
			fields[kept].kind = BPF_RELAY_UINT;
		if (spoil == OTHER_ORDER && fields[kept].kind != BPF_RELAY_ENUM)
			fields[kept].flags ^= BPF_RELAY_FIELD_BE;
		if (spoil == OTHER_ENUMERATOR && fields[kept].kind == BPF_RELAY_ENUMERATOR)
			fields[kept].value ^= 1;
		kept++;
	}
	if (spoil == ONE_BYTE_LATE && fields[0].kind == BPF_RELAY_BYTES)
		fields[0].count++;
	return kept;
}

static const char head[] =
	"/* CTF 1.8 */\n"
	"typealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n"
	"typealias integer { size = 16; align = 8; signed = false; } := uint16_t;\n"
	"typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n"
	"typealias integer { size = 64; align = 8; signed = false; } := uint64_t;\n"
	"trace { major = 1; minor = 8; byte_order = %s;\n"
	"	uuid = \"00000000-0000-0000-0000-000000000000\";\n"
	"	packet.header := struct { uint32_t magic; uint8_t uuid[16]; uint32_t stream_id;\n"
	"		uint64_t stream_instance_id; };\n};\n"
	"clock { name = c; freq = 1000000000; };\n"
	"typealias integer { size = 64; align = 8; signed = false; map = clock.c.value; } := ts_t;\n"
	"stream { id = 0;\n"
	"	packet.context := struct { ts_t timestamp_begin; ts_t timestamp_end;\n"
	"		uint64_t content_size; uint64_t packet_size; uint64_t packet_seq_num;\n"
	"		uint64_t events_discarded; uint64_t cpu_id; };\n"
	"	event.header := struct { ts_t timestamp; uint16_t id; } align(64);\n};\n";

static bool put_event(FILE *f, const struct btf *btf, int shape, enum spoil spoil)
{
	struct bpf_relay_field *fields;
	char name[24], *text;
	int id, n, len;
	bool valid, var;

	snprintf(name, sizeof(name), "s%d_var", shape);
	id = btf__find_by_name(btf, name);
	var = id > 0;
	snprintf(name, sizeof(name), "s%d", shape);
	if (!var)
		id = btf__find_by_name(btf, name);
	n = bpfrelay_type_fields(btf, id, var ? BPF_RELAY_TYPE_VAR : 0, NULL, NULL, &fields);
	if (n <= 0)
		return false;
	valid = fields_valid(fields, n, btf__resolve_size(btf, id), var);
	if (!valid)
		printf("# %s: the module would refuse its fields\n", name);
	n = spoil_fields(fields, n, spoil);
	len = bpfrelay_type_tsdl(fields, n, name, shape + 1, &text);
	free(fields);
	if (len < 0)
		return false;
	fwrite(text, 1, len, f);
	free(text);
	return valid;
}

static bool put_metadata(const struct btf *btf, enum spoil spoil)
{
	char path[512];
	bool ok = true;
	FILE *f;
	int i;

	snprintf(path, sizeof(path), "%s/trace/metadata", dir);
	f = fopen(path, "w");
	if (!f)
		return false;
	fprintf(f, head, __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? "le" : "be");
	for (i = 0; i < SHAPES; i++)
		ok &= put_event(f, btf, i, spoil);
	return !fclose(f) && ok;
}

/* ---- babeltrace2's text, as one "path=value" a line ---- */

static bool parse_value(const char **p, char *path, size_t len, FILE *out);

static void skip_space(const char **p)
{
	while (isspace((unsigned char)**p) || **p == ',')
		(*p)++;
}

/* "{ a = 1, b = 2 }" and "[ [0] = 1, [1] = 2 ]" differ in how members are called. */
static bool parse_members(const char **p, char *path, size_t len, FILE *out)
{
	char close = *(*p)++ == '{' ? '}' : ']';
	size_t n;

	for (skip_space(p); **p != close; skip_space(p)) {
		n = len;
		if (close == '}' && len)
			path[n++] = '.';
		while (**p && !isspace((unsigned char)**p) && n < 600)
			path[n++] = *(*p)++;
		path[n] = '\0';
		if (strncmp(*p, " = ", 3))
			return false;
		*p += 3;
		if (!parse_value(p, path, n, out))
			return false;
	}
	(*p)++;
	return true;
}

/* "( "RED" : container = 5 )" or "( <unknown> : container = 5 )", as RED:5 or :5. */
static bool parse_enum(const char **p, const char *path, FILE *out)
{
	const char *colon = strstr(*p, " : container = "), *end = strstr(*p, " )");
	int name;

	if (!colon || !end || end < colon)
		return false;
	name = (*p)[2] == '"' ? colon - *p - 4 : 0;
	fprintf(out, "%s=%.*s:%lld\n", path, name, *p + 3,
		colon[15] == '-' ? strtoll(colon + 15, NULL, 0) :
				   (long long)strtoull(colon + 15, NULL, 0));
	*p = end + 2;
	return true;
}

/* Padding, and the length of the flexible array, which there is room for. */
static bool is_made_up(const char *path)
{
	const char *name = strrchr(path, '.') ? strrchr(path, '.') + 1 : path;
	size_t len = strlen(name);

	return !strncmp(name, "pad_", 4) ||
	       (*name == '_' && len > 7 && !strcmp(name + len - 7, "_length"));
}

static bool parse_value(const char **p, char *path, size_t len, FILE *out)
{
	const char *end;

	path[len] = '\0';
	if (**p == '(')
		return parse_enum(p, path, out);
	if (**p == '{' || **p == '[')
		return parse_members(p, path, len, out);
	end = **p == '"' ? strchr(*p + 1, '"') + 1 : *p + strcspn(*p, " ,\n");
	if (is_made_up(path))
		;
	else if (**p == '"' || memchr(*p, '.', end - *p))
		fprintf(out, "%s=%.*s\n", path, (int)(end - *p), *p);
	else if (**p == '-')
		fprintf(out, "%s=%lld\n", path, strtoll(*p, NULL, 0));
	else
		fprintf(out, "%s=%llu\n", path, strtoull(*p, NULL, 0));
	*p = end;
	return true;
}

/* "[...] s7: { cpu_id = 0 }, { m1 = ... }" */
static bool parse_line(const char *line, FILE *out)
{
	const char *name = strstr(line, " s");
	char path[1024] = "";
	const char *p;
	char *ignored;
	size_t size;
	FILE *sink;
	bool ok;

	while (name && !(isdigit((unsigned char)name[2]) && strchr(name, ':') &&
			 strspn(name + 2, "0123456789") + 2 == strcspn(name + 1, ":") + 1))
		name = strstr(name + 1, " s");
	if (!name)
		return false;
	p = strchr(name, ':') + 1;
	fprintf(out, "%.*s\n", (int)(p - name - 2), name + 1);
	sink = open_memstream(&ignored, &size);
	skip_space(&p);
	ok = parse_value(&p, path, 0, sink);
	fclose(sink);
	free(ignored);
	skip_space(&p);
	return ok && (*p != '{' || parse_value(&p, path, 0, out));
}

/* Reads the trace; *values counts what was compared. Quiet about what is wrong if spoilt. */
static bool compare(enum spoil spoil, int *values)
{
	char path[512], cmd[1024], *line = NULL, want[1024], got[1024];
	FILE *bt, *shown, *expected;
	size_t size = 0;
	bool same = true;
	int status;

	snprintf(path, sizeof(path), "%s/shown", dir);
	shown = fopen(path, "w+");
	snprintf(cmd, sizeof(cmd), "babeltrace2 %s/trace 2>%s/stderr", dir, dir);
	bt = popen(cmd, "r");
	while (same && getline(&line, &size, bt) > 0)
		same = parse_line(line, shown);
	/* To the end, or babeltrace2 complains about the pipe. */
	while (getline(&line, &size, bt) > 0)
		;
	free(line);
	status = pclose(bt);
	if (!same && !spoil)
		printf("# babeltrace2 shows a line that makes no sense\n");

	rewind(shown);
	snprintf(path, sizeof(path), "%s/expected", dir);
	expected = fopen(path, "r");
	for (*values = 0; same && fgets(want, sizeof(want), expected); ++*values) {
		same = fgets(got, sizeof(got), shown) && !strcmp(got, want);
		if (!same && !spoil)
			printf("# value %d: stored %.*s, shown %s", *values,
			       (int)strcspn(want, "\n"), want, got);
	}
	same = same && !fgets(got, sizeof(got), shown) && !status && *values;
	fclose(shown);
	fclose(expected);
	if (same && !spoil)
		same = run("! grep . %s/stderr", dir);
	return same;
}

static void test_round(int seed, bool controls)
{
	static const char *const what[] = { "", "without padding", "with other signs",
					    "with bytes too many",
					    "in the other byte order",
					    "with other enumerators" };
	struct btf *btf;
	char path[512];
	int spoil, n = 0;
	bool ok;

	if (!ktap_ok(build_shapes(seed), "shapes: %d structs of seed %d compile", SHAPES, seed))
		return;
	snprintf(path, sizeof(path), "%s/shapes.bpf.o", dir);
	btf = btf__parse(path, NULL);
	if (!ktap_ok(!libbpf_get_error(btf), "shapes: seed %d has BTF", seed))
		return;
	ok = put_metadata(btf, GOOD) && compare(GOOD, &n);
	ktap_ok(ok, "shapes: seed %d, babeltrace2 shows all %d values as stored", seed, n);
	for (spoil = NO_PADDING; controls && spoil <= OTHER_ENUMERATOR; spoil++)
		ktap_ok(put_metadata(btf, spoil) && !compare(spoil, &n),
			"shapes: control, seed %d %s is seen as wrong", seed, what[spoil]);
	btf__free(btf);
}

int main(int argc, char **argv)
{
	int seed = atoi(env("SEED", "1")), rounds = atoi(env("ROUNDS", "4")), i;

	if (argc != 2)
		return 2;
	snprintf(dir, sizeof(dir), "%s", argv[1]);
	ktap_begin();
	if (!run("mkdir -p %s && command -v babeltrace2 >/dev/null", dir)) {
		ktap_ok(false, "shapes: babeltrace2 is installed");
		return ktap_end();
	}
	for (i = 0; i < rounds; i++)
		test_round(seed + i, i == 0);
	return ktap_end();
}
