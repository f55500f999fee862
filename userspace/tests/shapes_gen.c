// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes random C structs, and a C program that fills them.
 *
 *	shapes_gen SEED COUNT DIR
 *
 * DIR/shapes.h has the structs s0, s1, ... (s1_var, if records of it have any length).
 * DIR/fill.c, compiled for this machine, writes records of them as a CTF packet, and in
 * text what a reader must show. It sets or reads every member by its name, and the
 * compiler knows where that is: no part of it knows about BTF, tables of fields or TSDL.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEMBERS_MAX	8
#define DEPTH_MAX	4
#define RECORDS		3
#define ELEMENTS_MAX	16	/* of a flexible array; some begin in the padding of the struct */
#define NAMES_SIZE	512

enum kind {
	VALUE, CHARS, BYTES, STRUCT, ANON_STRUCT, ANON_UNION, BITS, NOTHING,
};

struct shape;

struct member {
	enum kind kind;
	char name[32];
	const char *type;		/* VALUE, BYTES, BITS */
	const char *macro;		/* of shapes_fill.h, for VALUE and BITS */
	int dims, dim[2];
	int aligned;			/* 0: as it comes */
	int n_bits, bits[4];		/* BITS: widths; names are name_0, name_1, ... */
	struct shape *sub;
};

struct shape {
	bool packed;
	bool var;			/* of any length; the last member is a flexible array */
	bool data;			/* ... but bytes that have no name in C */
	int n;
	struct member member[MEMBERS_MAX];
};

struct type {
	const char *name, *macro;
	int bits;			/* the widest bit-field; 0: none */
};

static const struct type types[] = {
	{ "unsigned char", "UNSIGNED", 8 }, { "signed char", "SIGNED", 8 },
	{ "unsigned short", "UNSIGNED", 16 }, { "short", "SIGNED", 16 },
	{ "unsigned int", "UNSIGNED", 32 }, { "int", "SIGNED", 32 },
	{ "unsigned long", "UNSIGNED", 64 }, { "long", "SIGNED", 64 }, { "long long", "SIGNED", 64 },
	{ "my_u32", "UNSIGNED", 32 }, { "const my_s16", "SIGNED", 16 },
	{ "volatile my_u64", "UNSIGNED", 64 },
	{ "_Bool", "BOOLEAN", 1 },
	{ "enum color", "COLOR", 32 }, { "enum cold", "COLD", 32 }, { "enum tiny", "TINY", 0 },
	{ "const enum wide", "WIDE", 0 },
	{ "void *", "POINTER", 0 }, { "const char *const", "POINTER", 0 },
	{ "struct s_fn *", "POINTER", 0 },
	{ "float", "REAL", 0 }, { "double", "REAL", 0 },
	{ "__be16", "BE16", 0 }, { "my_be32", "BE32", 0 }, { "const __be64", "BE64", 0 },
};

static const char *const byte_types[] = { "union both", "__int128" };

/* C has nothing against these; TSDL has, without the underscore before each name. */
static const char *const odd_names[] = {
	"event", "stream", "trace", "env", "clock", "string", "integer", "align", "variant",
	"floating_point", "callsite", "_one", "__two", "typealias", "id", "name", "fields",
};

static int counter;

static int rnd(int n)
{
	return rand() / 7 % n;
}

static struct shape *new_shape(int depth);

static void new_value(struct member *m)
{
	const struct type *t = &types[rnd(sizeof(types) / sizeof(types[0]))];

	m->kind = VALUE;
	m->type = t->name;
	m->macro = t->macro;
}

static void new_bits(struct member *m)
{
	const struct type *t;
	int i;

	do
		t = &types[rnd(sizeof(types) / sizeof(types[0]))];
	while (!t->bits);
	m->kind = BITS;
	m->type = t->name;
	m->macro = t->macro;
	m->n_bits = 1 + rnd(4);
	for (i = 0; i < m->n_bits; i++)
		m->bits[i] = 1 + rnd(t->bits);
	m->aligned = 0;
}

static void new_member(struct member *m, int depth)
{
	int i, pick = rnd(100);

	memset(m, 0, sizeof(*m));
	snprintf(m->name, sizeof(m->name), "m%d", counter++);
	if (rnd(12) == 0)
		snprintf(m->name, sizeof(m->name), "%s%d", odd_names[rnd(17)], counter);
	if (rnd(12) == 0)
		m->aligned = 1 << rnd(5);
	m->dims = rnd(3) ? 0 : 1 + rnd(2);
	for (i = 0; i < m->dims; i++)
		m->dim[i] = 1 + rnd(4);

	if (pick < 50) {
		new_value(m);
	} else if (pick < 60) {
		m->kind = CHARS;
		m->dims = 1 + rnd(2);
		m->dim[m->dims - 1] = 1 + rnd(20);
		m->dim[0] = m->dims == 2 ? 1 + rnd(3) : m->dim[0];
	} else if (pick < 65) {
		m->kind = BYTES;
		m->type = byte_types[rnd(sizeof(byte_types) / sizeof(byte_types[0]))];
	} else if (pick < 80) {
		new_bits(m);
	} else if (pick < 83) {
		m->kind = NOTHING;
	} else if (pick < 86) {
		m->kind = ANON_UNION;
		m->aligned = 0;
		m->dim[0] = 4 * (1 + rnd(4));
	} else if (depth < DEPTH_MAX) {
		m->kind = pick < 91 ? ANON_STRUCT : STRUCT;
		m->sub = new_shape(depth + 1);
	} else {
		new_value(m);
	}
}

static struct shape *new_shape(int depth)
{
	struct shape *s = calloc(1, sizeof(*s));
	struct member *last;
	int i;

	s->packed = rnd(6) == 0;
	s->n = 1 + rnd(MEMBERS_MAX);
	for (i = 0; i < s->n; i++)
		new_member(&s->member[i], depth);
	/* A struct needs a size. */
	last = &s->member[s->n - 1];
	if (last->kind == NOTHING)
		new_value(last);
	return s;
}

/* One of the records themselves. */
static struct shape *new_record(void)
{
	struct shape *s = new_shape(0);
	struct member *last = &s->member[s->n - 1];

	s->var = rnd(3) == 0;
	s->data = s->var && (s->n == 1 || rnd(4) == 0);
	while (s->var && !s->data && last->kind != VALUE && last->kind != STRUCT &&
	       last->kind != CHARS && last->kind != BYTES)
		new_member(last, 1);
	return s;
}

static const struct member *flexible(const struct shape *s)
{
	return s->var && !s->data ? &s->member[s->n - 1] : NULL;
}

static void print_struct(FILE *f, const struct shape *s, int depth);

static void print_member(FILE *f, const struct member *m, int depth, bool is_flexible)
{
	int i;

	fprintf(f, "%*s", depth * 2, "");
	switch (m->kind) {
	case VALUE:
	case BYTES:
		fprintf(f, "%s %s", m->type, m->name);
		break;
	case CHARS:
		fprintf(f, "char %s", m->name);
		break;
	case NOTHING:
		fprintf(f, "int %s[0]", m->name);
		break;
	case STRUCT:
		print_struct(f, m->sub, depth);
		fprintf(f, " %s", m->name);
		break;
	case ANON_STRUCT:
		print_struct(f, m->sub, depth);
		break;
	case ANON_UNION:
		fprintf(f, "union { unsigned char %s[%d]; unsigned int %s_b; }", m->name,
			m->dim[0], m->name);
		break;
	case BITS:
		for (i = 0; i < m->n_bits; i++) {
			fprintf(f, "%s %s_%d : %d;\n%*s", m->type, m->name, i, m->bits[i],
				depth * 2, "");
			/* Holes: to the next unit, or of some bits. */
			if (m->bits[i] % 5 == 0)
				fprintf(f, "%s : %d; ", m->type, m->bits[i] % 2 ? 0 : m->bits[i]);
		}
		fprintf(f, "\n");
		return;
	}
	if (is_flexible)
		fprintf(f, "[]");
	if (m->kind != ANON_STRUCT && m->kind != ANON_UNION && m->kind != NOTHING)
		for (i = 0; i < m->dims; i++)
			fprintf(f, "[%d]", m->dim[i]);
	if (m->aligned && !is_flexible)
		fprintf(f, " __attribute__((aligned(%d)))", m->aligned);
	fprintf(f, ";\n");
}

static void print_struct(FILE *f, const struct shape *s, int depth)
{
	int i;

	fprintf(f, "struct {\n");
	for (i = 0; i < s->n; i++)
		print_member(f, &s->member[i], depth + 1, &s->member[i] == flexible(s));
	fprintf(f, "%*s}%s", depth * 2, "", s->packed ? " __attribute__((packed))" : "");
}

/* c: how C names it; text: how the reader does. */
struct names {
	char c[NAMES_SIZE], text[NAMES_SIZE];
};

static void append(char *to, const char *more)
{
	if (strlen(to) + strlen(more) >= NAMES_SIZE)
		abort();
	strcat(to, more);
}

static void print_fill(FILE *f, const struct shape *s, const struct names *names,
		       const char *base);

/* An index more: in the text none for a dimension of 1. */
static void add_index(struct names *names, int dim, int i)
{
	char index[16];

	snprintf(index, sizeof(index), "[%d]", i);
	append(names->c, index);
	if (dim != 1)
		append(names->text, index);
}

static void print_fill_one(FILE *f, const struct member *m, const struct names *names)
{
	struct names sub;

	switch (m->kind) {
	case VALUE:
		fprintf(f, "\t%s(v%s, \"%s\");\n", m->macro, names->c, names->text);
		break;
	case CHARS:
		fprintf(f, "\tTEXT(v%s, \"%s\");\n", names->c, names->text);
		break;
	case BYTES:
		fprintf(f, "\tBYTES(v%s, \"%s\");\n", names->c, names->text);
		break;
	case STRUCT:
		sub = *names;
		append(sub.text, ".");
		print_fill(f, m->sub, &sub, names->c);
		break;
	default:
		break;
	}
}

/* All elements of a member, from dimension `dim` on. */
static void print_fill_dims(FILE *f, const struct member *m, int dim, const struct names *names)
{
	int i, dims = m->kind == CHARS ? m->dims - 1 : m->dims;
	struct names one;

	if (dim >= dims) {
		print_fill_one(f, m, names);
		return;
	}
	for (i = 0; i < m->dim[dim]; i++) {
		one = *names;
		add_index(&one, m->dim[dim], i);
		print_fill_dims(f, m, dim + 1, &one);
	}
}

static void print_fill_member(FILE *f, const struct member *m, const struct names *parent,
			      const char *base, bool is_flexible)
{
	struct names names = *parent;
	int i;

	append(names.c, ".");
	append(names.c, m->name);
	append(names.text, m->name);
	if (is_flexible) {
		/* As many as there is room for: it is the fill program that knows. */
		for (i = 0; i < ELEMENTS_MAX; i++) {
			struct names one = names;

			fprintf(f, "\tif (elements > %d) {\n", i);
			add_index(&one, 0, i);
			print_fill_dims(f, m, 0, &one);
			fprintf(f, "\t}\n");
		}
		return;
	}
	switch (m->kind) {
	case ANON_STRUCT:
		print_fill(f, m->sub, parent, base);
		break;
	case ANON_UNION:
		fprintf(f, "\tUNNAMED(v%s, OFFSET(v%s, v%s), \"%s\");\n", names.c, names.c, base,
			parent->text);
		break;
	case BITS:
		for (i = 0; i < m->n_bits; i++)
			fprintf(f, "\tSHOW_%s(v%s_%d, \"%s_%d\");\n", m->macro, names.c, i,
				names.text, i);
		break;
	default:
		print_fill_dims(f, m, 0, &names);
	}
}

static void print_fill(FILE *f, const struct shape *s, const struct names *names,
		       const char *base)
{
	int i;

	for (i = 0; i < s->n; i++)
		print_fill_member(f, &s->member[i], names, base,
				  &s->member[i] == flexible(s));
}

static void print_fill_record(FILE *f, const struct shape *s, int i)
{
	const struct member *last = flexible(s);
	struct names names = {};

	fprintf(f, "#define v (*(s%d%s *)room)\n", i, s->var ? "_var" : "");
	fprintf(f, "static void fill%d(void)\n{\n\tBEGIN(v, %d);\n", i, i);
	if (last)
		fprintf(f, "\tBEGIN_FLEXIBLE(v, %s);\n", last->name);
	else if (s->data)
		fprintf(f, "\tBEGIN_DATA(v);\n");
	print_fill(f, s, &names, "");
	if (s->data)
		fprintf(f, "\tshow_bytes(room + sizeof(v), elements, \"data\");\n");
	fprintf(f, "\tEND(%d, %d);\n}\n#undef v\n\n", i + 1, s->var);
}

static FILE *open_file(const char *dir, const char *name)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	if (!f) {
		perror(path);
		exit(1);
	}
	return f;
}

static const char preamble[] =
	"typedef unsigned int my_u32;\ntypedef short my_s16;\ntypedef unsigned long long my_u64;\n"
	"#ifdef __bpf__\n"
	"typedef unsigned short __be16;\ntypedef unsigned int __be32;\n"
	"typedef unsigned long long __be64;\n"
	"#endif\n"
	"typedef __be32 my_be32;\n"
	"enum color { RED, GREEN = 70000 };\nenum cold { ICE = -5, SNOW = 3 };\n"
	"enum __attribute__((packed)) tiny { TINY, SMALL = 3 };\n"
	"enum wide { NARROW = 7, WIDE_ENOUGH = 0x8000000000000001 };\n"
	"union both { int a; char b[6]; };\nstruct s_fn;\n";

int main(int argc, char **argv)
{
	struct shape **shapes;
	FILE *h, *fill, *bpf;
	const char *tail;
	int i, n;

	if (argc != 4)
		return 2;
	srand(atoi(argv[1]));
	n = atoi(argv[2]);
	shapes = calloc(n, sizeof(*shapes));
	h = open_file(argv[3], "shapes.h");
	fill = open_file(argv[3], "fill.c");
	bpf = open_file(argv[3], "shapes.bpf.c");

	fprintf(h, "%s", preamble);
	fprintf(bpf, "#include \"shapes.h\"\n");
	for (i = 0; i < n; i++) {
		shapes[i] = new_record();
		tail = shapes[i]->var ? "_var" : "";
		fprintf(h, "typedef ");
		print_struct(h, shapes[i], 0);
		fprintf(h, " s%d%s;\n", i, tail);
		fprintf(bpf, "s%d%s g%d;\n", i, tail, i);
	}

	fprintf(fill, "#define ELEMENTS_MAX %d\n#include <linux/types.h>\n"
		"#include \"shapes.h\"\n#include \"shapes_fill.h\"\n",
		ELEMENTS_MAX);
	for (i = 0; i < n; i++)
		print_fill_record(fill, shapes[i], i);
	fprintf(fill, "int main(int argc, char **argv)\n{\n\tif (argc != 4)\n\t\treturn 2;\n"
		"\tbegin(argv);\n\tfor (int i = 0; i < %d; i++) {\n", RECORDS);
	for (i = 0; i < n; i++)
		fprintf(fill, "\t\tfill%d();\n", i);
	fprintf(fill, "\t}\n\treturn end();\n}\n");
	return fclose(h) || fclose(fill) || fclose(bpf);
}
