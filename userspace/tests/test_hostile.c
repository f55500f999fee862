// SPDX-License-Identifier: GPL-2.0-only
/*
 * Traces that are none: cut off, with bits flipped, byte-swapped, random. The reader may
 * deliver fewer records and must say that something is missing, or refuse the trace; what
 * it delivers must be a record of the trace, whole, but for bits that were flipped in its
 * own payload or time, which nobody can know.
 *
 *	test_hostile [SEED [ROUNDS]]
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bpfrelay.h"
#include "ktap.h"
#include "trace_gen.h"

#define RECORDS	400

static char top[] = "/tmp/test_hostile.XXXXXX";

struct result {
	int err;		/* of opening */
	int records;
	int strange;		/* of these, those that are not the generator's */
	int other;		/* of these, those of another packet than the one that was changed */
	int damaged;		/* items that say so */
	bool endless;
};

static const struct gen_event *find_event(const struct gen *g, int *at,
					  const struct bpfrelay_record *r)
{
	int i;

	for (i = *at; i < g->n; i++) {
		const struct gen_event *e = &g->event[i];

		if (r->ts == e->ts && r->cpu == e->cpu && r->type->id == e->id &&
		    r->len == e->len && !memcmp(r->data, e->data, e->len)) {
			*at = i + 1;
			return e;
		}
	}
	return NULL;
}

/* Uses all that a record has, as a user would. */
static void use(const struct bpfrelay_record *r)
{
	struct bpfrelay_value value;
	char text[256];
	char *json;
	__u64 n;

	bpfrelay_record_text(r, text, sizeof(text));
	if (bpfrelay_record_json(r, &json) >= 0)
		free(json);
	if (!bpfrelay_record_find(r, "more[3]", &value))
		bpfrelay_value_number(&value, &n);
}

static struct result read_trace(const struct gen *g, const char *dir, __u32 cpu, __u32 packet)
{
	LIBBPF_OPTS(bpfrelay_log_opts, opts, .root = top);
	struct bpfrelay_reader *reader = NULL;
	const struct bpfrelay_item *item;
	struct bpfrelay_log *log;
	struct result result = {};
	int at = 0, items = 0;

	result.err = bpfrelay_log_open(dir, &opts, &log);
	result.err = result.err ?: bpfrelay_reader_open(log, NULL, &reader);
	while (!result.err && bpfrelay_reader_next(reader, &item) > 0) {
		if (++items > 100 * RECORDS) {
			result.endless = true;
			break;
		}
		if (item->kind == BPFRELAY_LOST) {
			result.damaged += item->reason == BPFRELAY_DAMAGED;
			continue;
		}
		use(&item->record);
		result.records++;
		if (!g)
			continue;
		const struct gen_event *e = find_event(g, &at, &item->record);

		result.strange += !e;
		result.other += !e ? item->record.cpu != cpu : e->cpu != cpu || e->packet != packet;
	}
	bpfrelay_reader_close(reader);
	bpfrelay_log_close(log);
	return result;
}

static int count_events(const struct gen *g, __u32 cpu, __u32 packet)
{
	int i, n = 0;

	for (i = 0; i < g->n; i++)
		n += g->event[i].cpu == cpu && g->event[i].packet == packet;
	return n;
}

/* Where a change is: a place in a packet of a CPU. */
struct change {
	__u32 cpu, packet;
	size_t at;		/* in the file */
};

static struct change draw(const struct gen *g)
{
	struct change c;

	do {
		c.cpu = rand() % GEN_CPUS;
	} while (!g->size[c.cpu]);
	c.at = rand() % g->size[c.cpu];
	c.packet = c.at / GEN_PACKET;
	return c;
}

static void write_cpu(const struct gen *g, const char *dir, __u32 cpu, size_t size)
{
	char name[16];

	snprintf(name, sizeof(name), "cpu%u", cpu);
	gen_write_file(dir, name, g->file[cpu], size);
}

/* Bits flipped in one packet: all others are there, and of it none is strange but in itself. */
static void test_flips(struct gen *g, const char *dir, int rounds)
{
	int i, j, bad = 0, less = 0, strange = 0, all = g->n;

	for (i = 0; i < rounds; i++) {
		struct change c = draw(g);
		int bits = 1 + rand() % 3, mine = count_events(g, c.cpu, c.packet);
		__u8 saved[3];
		size_t at[3];
		struct result r;

		for (j = 0; j < bits; j++) {
			at[j] = c.packet * (size_t)GEN_PACKET + rand() % GEN_PACKET;
			/* In the headers more often than their size says. */
			if (rand() % 2)
				at[j] = c.packet * (size_t)GEN_PACKET + rand() % 140;
			saved[j] = g->file[c.cpu][at[j]];
			g->file[c.cpu][at[j]] ^= 1 << rand() % 8;
		}
		write_cpu(g, dir, c.cpu, g->size[c.cpu]);
		r = read_trace(g, dir, c.cpu, c.packet);
		while (j--)
			g->file[c.cpu][at[j]] = saved[j];
		write_cpu(g, dir, c.cpu, g->size[c.cpu]);
		/*
		 * A packet with damage that is seen has no records at all. A header whose times
		 * or numbers were flipped upwards may cost the packets behind it, too.
		 */
		if (r.err || r.endless || r.strange > bits || r.records > all ||
		    (r.records < all && !r.damaged) || r.other > all - mine)
			bad++;
		less += r.records < all;
		strange += r.strange > 0;
	}
	ktap_ok(!bad, "hostile: %d times bits flipped: %d with fewer records and said so, %d in a payload or a time",
		rounds, less, strange);
	ktap_ok(less > rounds / 4 && strange, "control: both kinds came up");
}

static void test_cuts(struct gen *g, const char *dir, int rounds)
{
	int i, bad = 0, less = 0;

	for (i = 0; i < rounds; i++) {
		struct change c = draw(g);
		struct result r;

		write_cpu(g, dir, c.cpu, c.at);
		r = read_trace(g, dir, c.cpu, c.packet);
		if (r.err || r.endless || r.strange || (c.at % GEN_PACKET && !r.damaged) ||
		    r.records >= g->n)
			bad++;
		less += r.damaged;
		write_cpu(g, dir, c.cpu, g->size[c.cpu]);
	}
	ktap_ok(!bad && less, "hostile: %d times cut off: what is whole, and that something is missing",
		rounds);
}

static void swap(char *data, size_t size, size_t unit)
{
	size_t i, j;

	for (i = 0; i + unit <= size; i += unit)
		for (j = 0; j < unit / 2; j++) {
			char tmp = data[i + j];

			data[i + j] = data[i + unit - 1 - j];
			data[i + unit - 1 - j] = tmp;
		}
}

static void test_swapped(struct gen *g, const char *dir)
{
	size_t unit;
	__u32 cpu;

	for (unit = 2; unit <= 8; unit *= 2) {
		struct result r;

		for (cpu = 0; cpu < GEN_CPUS; cpu++) {
			swap(g->file[cpu], g->size[cpu], unit);
			write_cpu(g, dir, cpu, g->size[cpu]);
		}
		r = read_trace(g, dir, 0, 0);
		ktap_ok(!r.endless && !r.records && (r.err || r.damaged),
			"hostile: bytes swapped in words of %zu", unit);
		for (cpu = 0; cpu < GEN_CPUS; cpu++) {
			swap(g->file[cpu], g->size[cpu], unit);
			write_cpu(g, dir, cpu, g->size[cpu]);
		}
	}
}

static void test_random(struct gen *g, const char *dir, int rounds)
{
	int i, bad = 0;

	for (i = 0; i < rounds; i++) {
		size_t size = rand() % (4 * GEN_PACKET), j;
		char *data = malloc(size + 1);
		struct result r;

		for (j = 0; j < size; j++)
			data[j] = rand();
		/* Half of them behind a good header, else nothing is reached. */
		if (rand() % 2 && size >= GEN_PACKET)
			memcpy(data, g->file[1], sizeof(struct bpf_relay_packet) + rand() % 200);
		gen_write_file(dir, "cpu1", data, size);
		r = read_trace(g, dir, 1, 0);
		bad += r.err || r.endless || r.strange || (size && !r.damaged);
		free(data);
	}
	write_cpu(g, dir, 1, g->size[1]);
	ktap_ok(!bad, "hostile: %d times random packets", rounds);
}

/* Packets in another order, twice, or of another CPU or log. */
static void test_moved(struct gen *g, const char *dir)
{
	char packet[GEN_PACKET];
	struct result r;

	memcpy(packet, g->file[0], GEN_PACKET);
	memcpy(g->file[0], g->file[0] + GEN_PACKET, GEN_PACKET);
	write_cpu(g, dir, 0, g->size[0]);
	r = read_trace(g, dir, 0, 0);
	ktap_ok(!r.err && r.damaged && !r.strange && r.records < g->n, "hostile: a packet twice");
	memcpy(g->file[0] + GEN_PACKET, packet, GEN_PACKET);
	write_cpu(g, dir, 0, g->size[0]);
	r = read_trace(g, dir, 0, 0);
	ktap_ok(!r.err && r.damaged && !r.strange && r.records < g->n,
		"hostile: packets in another order");
	memcpy(g->file[0] + GEN_PACKET, g->file[0], GEN_PACKET);
	memcpy(g->file[0], packet, GEN_PACKET);
	gen_write_file(dir, "cpu0", g->file[1], g->size[1]);
	r = read_trace(g, dir, 0, 0);
	ktap_ok(!r.err && r.damaged && !r.strange, "hostile: packets of another CPU");
	write_cpu(g, dir, 0, g->size[0]);
}

/* What a text becomes: characters changed, left out, doubled; or words of it. */
static size_t mutate(char *to, const char *text, size_t len)
{
	static const char *const words[] = {
		"{", "}", ";", "[", "]", "0", "-1", "4294967296", "18446744073709551615", "\"",
		"/*", "struct {", "integer {", "size = 64;", "align = 1;", "_x[4]", "enum :",
		"event { name = \"x\"; id = 3; stream_id = 0; fields := struct {",
	};
	int n = 1 + rand() % 3;

	memcpy(to, text, len);
	while (n--) {
		size_t at = rand() % len, cut = rand() % 12, w = rand() % (sizeof(words) / sizeof(*words));
		const char *word = rand() % 2 ? words[w] : "";

		if (cut > len - at)
			cut = len - at;
		if (rand() % 4 == 0)
			to[at] ^= 1 << rand() % 8;
		memmove(to + at + strlen(word), to + at + cut, len - at - cut);
		memcpy(to + at, word, strlen(word));
		len += strlen(word) - cut;
	}
	return len;
}

static void test_metadata(struct gen *g, const char *dir, int rounds)
{
	const char *text = gen_metadata();
	char *changed = malloc(2 * strlen(text) + 1024);
	int i, bad = 0, refused = 0;
	struct result r;

	for (i = 0; i < rounds; i++) {
		gen_write_file(dir, "metadata", changed, mutate(changed, text, strlen(text)));
		/* Fields may be called otherwise, or be fewer; what is read must be in bounds. */
		r = read_trace(NULL, dir, 0, 0);
		refused += r.err == -EINVAL;
		bad += r.endless || r.records > g->n || (r.err && r.err != -EINVAL);
	}
	ktap_ok(!bad && refused > rounds / 2, "hostile: %d metadata, %d refused", rounds, refused);
	for (i = bad = 0; i < (int)strlen(text); i += 7) {
		gen_write_file(dir, "metadata", text, i);
		r = read_trace(NULL, dir, 0, 0);
		bad += !r.err && r.records == g->n;
	}
	ktap_ok(!bad, "hostile: metadata that is cut off");
	gen_write_file(dir, "metadata", text, strlen(text));
	free(changed);
}

int main(int argc, char **argv)
{
	unsigned int seed = argc > 1 ? strtoul(argv[1], NULL, 0) : 1;
	int rounds = argc > 2 ? atoi(argv[2]) : 300;
	struct result r;
	char dir[256];
	struct gen g;

	ktap_begin();
	if (!mkdtemp(top))
		return 1;
	snprintf(dir, sizeof(dir), "%s/trace", top);
	gen_make(&g, seed, RECORDS, 3);
	gen_write(&g, dir);
	r = read_trace(&g, dir, 0, 0);
	ktap_ok(!r.err && r.records == g.n && !r.strange && !r.damaged,
		"control: unchanged, seed %u", seed);
	test_flips(&g, dir, rounds);
	test_cuts(&g, dir, rounds);
	test_swapped(&g, dir);
	test_random(&g, dir, rounds);
	test_moved(&g, dir);
	test_metadata(&g, dir, rounds);
	r = read_trace(&g, dir, 0, 0);
	ktap_ok(!r.err && r.records == g.n && !r.strange && !r.damaged, "control: unchanged again");
	gen_free(&g);
	gen_remove(top);
	return ktap_end();
}
