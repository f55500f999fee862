/* SPDX-License-Identifier: GPL-2.0-only */
/* What the generated fill.c is made of; see shapes_gen.c. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/bpf_relay.h>

static FILE *expected;
static unsigned char packet[64 << 20];
static size_t used = sizeof(struct bpf_relay_packet);
static const char *stream_path;

static unsigned long long random_bits(void)
{
	unsigned long long n = 0;

	for (int i = 0; i < 8; i++)
		n = n << 8 | (rand() >> 7 & 0xff);
	return n;
}

static void random_bytes(void *to, size_t n)
{
	unsigned char *p = to;

	while (n--)
		*p++ = random_bits();
}

/* argv: seed, stream, expected text */
static void begin(char **argv)
{
	srand(atoi(argv[1]));
	stream_path = argv[2];
	expected = fopen(argv[3], "w");
	if (!expected)
		exit(1);
}

static void show_bytes(const unsigned char *from, size_t n, const char *text)
{
	for (size_t i = 0; i < n; i++)
		fprintf(expected, "%s[%zu]=%u\n", text, i, from[i]);
}

static void put_text(char *to, size_t size, const char *text)
{
	size_t n = rand() / 7 % (size + 1);

	memset(to, 0, size);
	for (size_t i = 0; i < n; i++)
		to[i] = 'a' + rand() / 7 % 26;
	fprintf(expected, "%s=\"%.*s\"\n", text, (int)n, to);
}

static void put_unnamed(void *to, size_t size, size_t offset, const char *text)
{
	char name[600];

	random_bytes(to, size);
	snprintf(name, sizeof(name), "%sanon_%zu", text, offset);
	show_bytes(to, size, name);
}

/* n: what the word says that CTF takes for the number of elements. */
static void put_record(const void *payload, size_t len, int id, size_t n)
{
	struct bpf_relay_header *h = (void *)(packet + used);

	if (used + len + 64 > sizeof(packet))
		exit(3);
	h->ts = used;
	h->id = id;
	h->state = BPF_RELAY_COMMITTED;
	h->len = n;
	memcpy(h + 1, payload, len);
	used += BPF_RELAY_RECORD_SIZE(len);
	/* The end of the content is the end of the last record. */
	((struct bpf_relay_packet *)packet)->content_size =
		((char *)(h + 1) + len - (char *)packet) * 8;
}

static int end(void)
{
	struct bpf_relay_packet *p = (void *)packet;
	FILE *f = fopen(stream_path, "w");

	p->magic = BPF_RELAY_CTF_MAGIC;
	p->timestamp_end = used;
	p->packet_size = used * 8;
	if (!f || fwrite(packet, used, 1, f) != 1 || fclose(f))
		return 1;
	return fclose(expected) != 0;
}

/* The record that is being filled, with room behind it; its flexible elements. */
static unsigned char room[1 << 16] __attribute__((aligned(64)));
static size_t elements, fixed, elem;

/* No record is shorter than its struct; what is no whole element is not there any more. */
static void begin_var(size_t len, size_t offset, size_t size)
{
	size_t n = rand() / 7 % 4;

	fixed = offset;
	elem = size;
	elements = offset + n * size > len ? n : (len - offset) / size;
	if (elements > ELEMENTS_MAX)
		exit(4);
}

#define OFFSET(member, parent)	((size_t)((char *)&(member) - (char *)&(parent)))

#define BEGIN(v, n) do {							\
	random_bytes(room, sizeof(v) + 1024);					\
	fixed = sizeof(v);							\
	elements = 0;								\
	fprintf(expected, "s%d\n", n);						\
} while (0)
#define BEGIN_FLEXIBLE(v, m)							\
	begin_var(sizeof(v), OFFSET((v).m, v), sizeof((v).m[0]))
#define BEGIN_DATA(v)		begin_var(sizeof(v), sizeof(v), 1)
#define END(id, var) \
	put_record(room, fixed + elements * elem, id, (var) ? elements : fixed)

#define TEXT(x, text)		put_text((char *)&(x), sizeof(x), text)
#define UNNAMED(x, off, text)	put_unnamed((void *)&(x), sizeof(x), off, text)
#define BYTES(x, text) \
	(random_bytes((void *)&(x), sizeof(x)), show_bytes((void *)&(x), sizeof(x), text))

/* What C says of the value that is there, whatever it is. */
#define SHOW_SIGNED(x, text)	fprintf(expected, "%s=%lld\n", text, (long long)(x))
#define SHOW_UNSIGNED(x, text)	fprintf(expected, "%s=%llu\n", text, (unsigned long long)(x))
#define SHOW_BOOLEAN(x, text)	SHOW_UNSIGNED(x, text)
#define SHOW_COLOR(x, text)	show_enum((unsigned)(x), text, RED, "RED", GREEN, "GREEN")
#define SHOW_COLD(x, text)	show_enum((int)(x), text, ICE, "ICE", SNOW, "SNOW")

static void show_enum(long long x, const char *text, long long a, const char *a_name,
		      long long b, const char *b_name)
{
	fprintf(expected, "%s=%s:%lld\n", text, x == a ? a_name : x == b ? b_name : "", x);
}

/* By the address, as some are const. */
#define RANDOM(x)		random_bytes((void *)&(x), sizeof(x))
#define SIGNED(x, text)		(RANDOM(x), SHOW_SIGNED(x, text))
#define UNSIGNED(x, text)	(RANDOM(x), SHOW_UNSIGNED(x, text))
#define POINTER(x, text)	(RANDOM(x), SHOW_UNSIGNED((size_t)(x), text))
#define BOOLEAN(x, text)	((x) = rand() / 7 % 2, SHOW_UNSIGNED(x, text))
#define BE16(x, text)		(RANDOM(x), SHOW_UNSIGNED(__builtin_bswap16(x), text))
#define BE32(x, text)		(RANDOM(x), SHOW_UNSIGNED(__builtin_bswap32(x), text))
#define BE64(x, text)		(RANDOM(x), SHOW_UNSIGNED(__builtin_bswap64(x), text))

/* Few enough digits that none is lost in print. */
#define REAL(x, text) do {							\
	(x) = (rand() / 7 % 2000 - 1000) / 8.0;					\
	fprintf(expected, "%s=%g\n", text, (double)(x));			\
} while (0)

/* Either of the two names, or any other value. */
#define ENUM(x, type, a, b) \
	(RANDOM(x), rand() / 7 % 3 ? (void)(*(type *)&(x) = rand() / 7 % 2 ? (a) : (b)) : (void)0)
#define COLOR(x, text)		(ENUM(x, unsigned int, RED, GREEN), SHOW_COLOR(x, text))
#define COLD(x, text)		(ENUM(x, int, ICE, SNOW), SHOW_COLD(x, text))
#define TINY(x, text) \
	(ENUM(x, unsigned char, TINY, SMALL), show_enum(x, text, TINY, "TINY", SMALL, "SMALL"))
#define WIDE(x, text) \
	(ENUM(x, unsigned long, NARROW, WIDE_ENOUGH), \
	 show_enum(x, text, NARROW, "NARROW", WIDE_ENOUGH, "WIDE_ENOUGH"))
