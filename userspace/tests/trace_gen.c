// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace_gen.h"

const __u8 gen_uuid[16] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 };

static const char metadata[] =
	"/* CTF 1.8 */\n\n"
	"typealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n"
	"typealias integer { size = 16; align = 16; signed = false; } := uint16_t;\n"
	"typealias integer { size = 32; align = 32; signed = false; } := uint32_t;\n"
	"typealias integer { size = 64; align = 64; signed = false; } := uint64_t;\n\n"
	"trace {\n\tmajor = 1;\n\tminor = 8;\n"
	"\tuuid = \"01020304-0506-0708-090a-0b0c0d0e0f10\";\n\tbyte_order = le;\n"
	"\tpacket.header := struct {\n\t\tuint32_t magic;\n\t\tuint8_t uuid[16];\n"
	"\t\tuint32_t stream_id;\n\t\tuint64_t stream_instance_id;\n\t};\n};\n\n"
	"env {\n\thostname = \"box\";    \n\tdomain = \"kernel\";\n"
	"\ttracer_name = \"bpf_relay\";\n\tlog = \"gen.7\";\n};\n\n"
	"clock {\n\tname = \"boottime\";\n\tuuid = \"2a6422d0-6cee-11e0-8c08-cb07d7b3a564\";\n"
	"\tfreq = 1000000000;\n\toffset =  1700000000000000000;\n};\n\n"
	"typealias integer {\n\tsize = 64; align = 64; signed = false;\n"
	"\tmap = clock.boottime.value;\n} := ts_t;\n\n"
	"stream {\n\tid = 0;\n\tpacket.context := struct {\n\t\tts_t timestamp_begin;\n"
	"\t\tts_t timestamp_end;\n\t\tuint64_t content_size;\n\t\tuint64_t packet_size;\n"
	"\t\tuint64_t packet_seq_num;\n\t\tuint64_t events_discarded;\n"
	"\t\tuint64_t cpu_id;\n\t};\n"
	"\tevent.header := struct {\n\t\tts_t timestamp;\n\t\tuint16_t id;\n"
	"\t} align(64);\n};\n"
	"\nevent {\n\tname = \"raw\";\n\tid = 0;\n\tstream_id = 0;\n"
	"\tfields := struct {\n\t\tuint32_t len;\n\t\tuint8_t data[len];\n\t};\n};\n"
	"\nevent {\n\tname = \"one\";\n\tid = 1;\n\tstream_id = 0;\n\tfields := struct {\n"
	"\t\tinteger { size = 64; align = 8; signed = false; } _n;\n"
	"\t\tinteger { size = 32; align = 8; signed = false; } _cpu; /* bpf_relay: ifindex */\n"
	"\t\tinteger { size = 16; align = 8; signed = true; } _check;\n"
	"\t\tinteger { size = 16; align = 8; signed = false; base = 16; } _pad_14;\n"
	"\t} align(64);\n};\n"
	"\nevent {\n\tname = \"more\";\n\tid = 2;\n\tstream_id = 0;\n\tfields := struct {\n"
	"\t\tinteger { size = 32; align = 32; signed = false; } __more_length;\n"
	"\t\tinteger { size = 64; align = 8; signed = false; } _n;\n"
	"\t\tinteger { size = 32; align = 8; signed = false; } _cpu; /* bpf_relay: ifindex */\n"
	"\t\tinteger { size = 16; align = 8; signed = true; } _check;\n"
	"\t\tinteger { size = 16; align = 8; signed = false; base = 16; } _pad_14;\n"
	"\t\tinteger { size = 32; align = 8; signed = false; } _more[__more_length];\n"
	"\t};\n};\n";

static void die(const char *what)
{
	printf("# %s: %s\n", what, strerror(errno));
	exit(1);
}

const char *gen_metadata(void)
{
	return metadata;
}

/* ---- Packets ------------------------------------------------------------------ */

struct writer {
	struct gen *g;
	int cpu;
	__u64 first_seq;
	size_t at;		/* in its packet; 0: there is none yet */
	__u64 ts;
};

static struct bpf_relay_packet *last_packet(const struct writer *w)
{
	return (void *)(w->g->file[w->cpu] + w->g->size[w->cpu] - GEN_PACKET);
}

static void new_packet(struct writer *w, __u64 ts)
{
	size_t *size = &w->g->size[w->cpu];
	char **file = &w->g->file[w->cpu];
	struct bpf_relay_packet *p;

	*file = realloc(*file, *size + GEN_PACKET);
	memset(*file + *size, 0, GEN_PACKET);
	p = (void *)(*file + *size);
	p->magic = BPF_RELAY_CTF_MAGIC;
	memcpy(p->uuid, gen_uuid, 16);
	p->stream_instance_id = p->cpu_id = w->cpu;
	p->timestamp_begin = p->timestamp_end = ts;
	p->content_size = sizeof(*p) * 8;
	p->packet_size = GEN_PACKET * 8;
	p->packet_seq_num = w->first_seq + *size / GEN_PACKET;
	*size += GEN_PACKET;
	w->at = sizeof(*p);
}

static void put_event(struct writer *w, struct gen_event *e)
{
	struct bpf_relay_packet *p;
	struct bpf_relay_header h = {
		.ts = e->ts,
		.id = e->id,
		.state = BPF_RELAY_COMMITTED,
		.len = e->id == 2 ? (e->len - sizeof(struct gen_record)) / 4 : e->len,
	};

	if (!w->at || w->at + BPF_RELAY_RECORD_SIZE(e->len) > GEN_PACKET)
		new_packet(w, e->ts);
	p = last_packet(w);
	memcpy((char *)p + w->at, &h, sizeof(h));
	memcpy((char *)p + w->at + sizeof(h), e->data, e->len);
	p->content_size = (w->at + sizeof(h) + e->len) * 8;
	p->timestamp_end = e->ts;
	w->at += BPF_RELAY_RECORD_SIZE(e->len);
	e->packet = w->g->size[w->cpu] / GEN_PACKET - 1;
	w->g->n_cpu[w->cpu]++;
}

static void make_event(struct gen_event *e, __u64 n)
{
	struct gen_record r = { .n = n, .cpu = e->cpu, .check = -(__s16)(n % 1000) };
	__u32 i, more;

	e->id = rand() % 3;
	if (!e->id) {
		e->len = rand() % 100;
		for (i = 0; i < e->len; i++)
			e->data[i] = n + i;
		return;
	}
	memcpy(e->data, &r, sizeof(r));
	e->len = sizeof(r);
	if (e->id == 1)
		return;
	for (more = rand() % 20; more; more--) {
		i = n * more;
		memcpy(e->data + e->len, &i, 4);
		e->len += 4;
	}
}

static int compare_events(const void *a, const void *b)
{
	const struct gen_event *x = a, *y = b;

	return x->ts != y->ts ? (x->ts < y->ts ? -1 : 1) : (int)x->cpu - (int)y->cpu;
}

void gen_make(struct gen *g, unsigned int seed, int n, __u64 first_seq)
{
	__u64 ts = 1000000;
	int i, j, cpu;

	memset(g, 0, sizeof(*g));
	srand(seed);
	g->n = n;
	g->event = calloc(n ?: 1, sizeof(*g->event));
	for (i = 0; i < n; i++) {
		/* Equal times too, of one CPU and of several. */
		cpu = rand() % GEN_CPUS;
		ts += rand() % 4;
		g->event[i].ts = ts;
		g->event[i].cpu = cpu;
	}
	/* A stable sort, as they are sorted by time: of equal times, by CPU. */
	for (i = 1; i < n; i++) {
		for (j = i; j > 0 && compare_events(&g->event[j - 1], &g->event[j]) > 0; j--) {
			struct gen_event tmp = g->event[j];

			g->event[j] = g->event[j - 1];
			g->event[j - 1] = tmp;
		}
	}
	for (i = 0; i < n; i++)
		make_event(&g->event[i], i);
	gen_build(g, n, first_seq);
}

void gen_build(struct gen *g, int n, __u64 first_seq)
{
	struct writer w[GEN_CPUS];
	int i;

	for (i = 0; i < GEN_CPUS; i++) {
		free(g->file[i]);
		g->file[i] = NULL;
		g->size[i] = 0;
		g->n_cpu[i] = 0;
		w[i] = (struct writer) { .g = g, .cpu = i, .first_seq = first_seq };
	}
	g->built = n;
	for (i = 0; i < n; i++)
		put_event(&w[g->event[i].cpu], &g->event[i]);
}

int gen_overwrite(struct gen *g, int cpu, int packets)
{
	size_t cut = (size_t)packets * GEN_PACKET;
	int i, n = 0;

	if (cut > g->size[cpu])
		cut = g->size[cpu];
	for (i = 0; i < g->n; i++)
		n += (int)g->event[i].cpu == cpu && g->event[i].packet < cut / GEN_PACKET &&
		     i < g->built;
	g->size[cpu] -= cut;
	memmove(g->file[cpu], g->file[cpu] + cut, g->size[cpu]);
	return n;
}

void gen_free(struct gen *g)
{
	int i;

	for (i = 0; i < GEN_CPUS; i++)
		free(g->file[i]);
	free(g->event);
}

/* ---- Files -------------------------------------------------------------------- */

void gen_write_file(const char *dir, const char *name, const void *data, size_t size)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "r+");
	if (!f)
		f = fopen(path, "w");
	if (!f || (size && fwrite(data, size, 1, f) != 1) || ftruncate(fileno(f), size) || fclose(f))
		die(path);
}

void gen_write(const struct gen *g, const char *dir)
{
	char name[16];
	int i;

	if (mkdir(dir, 0700) && errno != EEXIST)
		die(dir);
	gen_write_file(dir, "metadata", metadata, strlen(metadata));
	for (i = 0; i < GEN_CPUS; i++) {
		snprintf(name, sizeof(name), "cpu%d", i);
		gen_write_file(dir, name, g->file[i], g->size[i]);
	}
}

void gen_remove(const char *dir)
{
	char command[512];

	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	if (system(command))
		die(dir);
}
