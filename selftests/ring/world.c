// SPDX-License-Identifier: GPL-2.0-only
#include "world.h"

struct world world;
struct nest nest[NEST_LEVELS];
int nest_level;
bool nest_off = true;

/* The call that is under way at the innermost level. */
struct call {
	u32 len, filled, seed;
	u16 id, state;
	int entry;	/* -1 until it has a position */
	bool closing;	/* an open record: may store into it alone */
	struct call *below;
};

static struct call *now;
static u8 *copy;	/* a sub-buffer */

static const u8 uuid[16] = "bpf_relay ring!";

static u8 *payload_of(const struct held *h)
{
	return (u8 *)ring_at(&world.ring, h->slot.pos) + sizeof(struct bpf_relay_header);
}

static u8 payload_byte(u32 seed, u32 i)
{
	return (seed * 37 + i * 11 + (i >> 8)) | 1;	/* never what zeroing leaves */
}

/* ---- The ring's memory --------------------------------------------------- */

void world_open(u32 subbuf_size, u32 n_subbufs, enum bpf_relay_mode mode)
{
	struct entry *entry = world.entry;
	int room = world.room;

	free(world.ctl);
	free(world.data);
	free(copy);
	world = (struct world) {
		.size = subbuf_size,
		.n = n_subbufs,
		.buffer = (u64)subbuf_size * n_subbufs,
		.clock = 1000,
		.clock_step = 10,
		.entry = entry,
		.room = room,
	};
	world.ctl = calloc(1, ring_ctl_size(n_subbufs));
	world.data = aligned_alloc(64, world.buffer);
	copy = aligned_alloc(64, subbuf_size);
	CHECK(world.ctl && world.data && copy);
	/* What relay gives is zeroed; the ring must not need that. */
	memset(world.data, 0xa5, world.buffer);
	nest_disarm();
	ring_init(&world.ring, world.ctl, 3, subbuf_size, n_subbufs, mode,
		  BPF_RELAY_CLOCK_BOOT, uuid);
}

void world_attach(void)
{
	ring_attach(&world.ring, world.data);
}

static struct {
	struct world world;
	u8 *ctl, *data;
	struct entry *entry;
} saved;

void world_save(void)
{
	size_t ctl = ring_ctl_size(world.n), entry = world.n_entries * sizeof(*world.entry);

	saved.world = world;
	saved.ctl = realloc(saved.ctl, ctl);
	saved.data = realloc(saved.data, world.buffer);
	saved.entry = realloc(saved.entry, entry + 1);
	memcpy(saved.ctl, world.ctl, ctl);
	memcpy(saved.data, world.data, world.buffer);
	if (entry)
		memcpy(saved.entry, world.entry, entry);
}

void world_restore(void)
{
	struct entry *entry = world.entry;
	int room = world.room;

	world = saved.world;
	world.entry = entry;
	world.room = room;
	memcpy(world.ctl, saved.ctl, ring_ctl_size(world.n));
	memcpy(world.data, saved.data, world.buffer);
	if (world.n_entries)
		memcpy(world.entry, saved.entry, world.n_entries * sizeof(*entry));
}

u64 world_clock(void)
{
	return world.clock += world.clock_step;
}

/* ---- Watching every access ----------------------------------------------- */

static void never_back(u64 *seen, u64 value, const char *what)
{
	CHECK(value >= *seen, "%s went back from %llu to %llu", what, (ull)*seen, (ull)value);
	*seen = value;
}

void access_hook(void)
{
	struct nest *x = &nest[nest_level];

	never_back(&world.wpos, world.ctl->wpos, "wpos");
	never_back(&world.published, world.ctl->published, "published");
	never_back(&world.last_ts, world.ctl->last_ts, "last_ts");
	if (nest_off)
		return;
	x->n++;
	if (!x->fire || !x->at || x->n < x->at ||
	    (x->n != x->at && (!x->every || (x->n - x->at) % x->every)))
		return;
	CHECK(nest_level + 1 < NEST_LEVELS);
	nest[++nest_level].n = 0;
	x->fire();
	nest_level--;
}

void nest_arm(int level, u64 at, u64 every, void (*fire)(void))
{
	nest[level] = (struct nest) { .at = at, .every = every, .fire = fire };
	nest_off = false;
}

bool nest_disarm(void)
{
	bool reached = nest[0].n >= nest[0].at;

	CHECK(nest_level == 0);
	memset(nest, 0, sizeof(nest));
	nest_off = true;
	return reached;
}

/* A position was taken: by the innermost call, and where it had to. */
void world_swapped(const void *p, u64 from, u64 to)
{
	u64 bytes, start, pos;

	if (p != &world.ctl->wpos)
		return;
	CHECK(now && now->entry < 0, "a position that nobody asked for");
	bytes = BPF_RELAY_RECORD_SIZE(now->len);
	start = (from + world.size - 1) / world.size * world.size;
	pos = from;
	if (from == start || from + bytes > start)
		pos = start + sizeof(struct bpf_relay_packet);
	CHECK(to == pos + bytes, "wpos moved from %llu to %llu for %u bytes",
	      (ull)from, (ull)to, now->len);

	if (world.n_entries == world.room) {
		world.room = world.room ? world.room * 2 : 1024;
		world.entry = realloc(world.entry, world.room * sizeof(*world.entry));
		CHECK(world.entry);
	}
	now->entry = world.n_entries++;
	world.entry[now->entry] = (struct entry) {
		.pos = pos, .from = from, .to = to, .len = now->len,
		.filled = now->filled, .seed = now->seed, .id = now->id,
		.state = now->state,
	};
}

/* Whoever stores into the buffer stores into what it took and still has. */
void world_store(const void *dst, size_t n)
{
	const struct entry *e;
	u64 off, first, pos;

	if ((const u8 *)dst < world.data || (const u8 *)dst >= world.data + world.buffer)
		return;
	off = (const u8 *)dst - world.data;
	CHECK(now && now->entry >= 0, "store without a position, at offset %llu", (ull)off);
	e = &world.entry[now->entry];
	first = now->closing ? e->pos : e->from;
	pos = first + ((off - first) & (world.buffer - 1));
	if (pos + n > e->to) {
		/* Not its own. The one exception: the packet that it left with padding. */
		u64 old = e->from & ~((u64)world.size - 1);

		CHECK(!now->closing && e->from != old && e->pos != e->from && n == 8 &&
		      off == (old & (world.buffer - 1)) +
			     offsetof(struct bpf_relay_packet, content_size),
		      "store of %zu bytes at offset %llu by the owner of %llu to %llu",
		      n, (ull)off, (ull)e->from, (ull)e->to);
		pos = old;
	}
	CHECK(world.ctl->wpos <= (pos & ~((u64)world.size - 1)) + world.buffer,
	      "store to position %llu, which was lapped", (ull)pos);
}

/* ---- Calls --------------------------------------------------------------- */

static void enter(struct call *c, u32 len, u32 filled, u16 state)
{
	static u32 seed;

	*c = (struct call) {
		.len = len, .filled = filled, .seed = ++seed, .id = seed % 256,
		.state = state, .entry = -1, .below = now,
	};
	now = c;
	world.calls++;
}

/* A call that is over has published all that is committed without a hole. */
static void settled(void)
{
	const struct bpf_relay_subbuf *sub = world.ring.sub;
	u64 wpos = world.ctl->wpos;
	u64 end = ring_round_up(&world.ring, wpos);
	u64 start = end > world.buffer ? end - world.buffer : 0;

	for (; start < end; start += world.size) {
		u64 bytes = wpos - start < world.size ? wpos - start : world.size;

		if (sub[ring_index(&world.ring, start)].committed !=
		    ring_lap_base(&world.ring, start) + bytes)
			return;
	}
	CHECK(world.ctl->published == wpos, "all committed, wpos %llu, but published %llu",
	      (ull)wpos, (ull)world.ctl->published);
}

static enum bpf_relay_counter leave(struct call *c, enum bpf_relay_counter dropped)
{
	CHECK(now == c);
	now = c->below;
	CHECK((c->entry < 0) == (dropped != 0), "returned %d, position %staken", dropped,
	      c->entry < 0 ? "not " : "");
	if (dropped)
		world.drops[dropped]++;
	return dropped;
}

enum bpf_relay_counter put(u32 len)
{
	u8 small[4096], *payload = len <= sizeof(small) ? small : NULL;
	enum bpf_relay_counter dropped;
	struct call c;
	u32 i;

	/* One that is too large is never read. */
	if (!payload && len <= world.size)
		payload = malloc(len);
	enter(&c, len, len, BPF_RELAY_COMMITTED);
	for (i = 0; payload && i < len; i++)
		payload[i] = payload_byte(c.seed, i);
	dropped = leave(&c, ring_write_record(&world.ring, c.id, payload, len));
	if (!dropped) {
		world.records++;
		world.bytes += len;
		settled();
	}
	if (payload != small)
		free(payload);
	return dropped;
}

enum bpf_relay_counter begin(struct held *h, u32 len)
{
	enum bpf_relay_counter dropped;
	struct call c;
	u32 i;

	enter(&c, len, 0, BPF_RELAY_OPEN);
	dropped = leave(&c, ring_reserve_record(&world.ring, c.id, len, &h->slot));
	h->entry = c.entry;
	if (dropped)
		return dropped;
	world.open++;
	CHECK(h->slot.pos == world.entry[c.entry].pos && h->slot.len == len);
	for (i = 0; i < BPF_RELAY_RECORD_SIZE(len) - sizeof(struct bpf_relay_header); i++)
		CHECK(payload_of(h)[i] == 0,
		      "old data at %u of a reserved record of %u bytes", i, len);
	return 0;
}

static void reopen(struct call *c, const struct held *h)
{
	*c = (struct call) { .entry = h->entry, .closing = true, .below = now };
	now = c;
}

void fill(struct held *h, u32 len)
{
	u8 payload[4096];
	struct call c;
	u32 i;

	CHECK(len <= sizeof(payload) && len <= h->slot.len);
	for (i = 0; i < len; i++)
		payload[i] = payload_byte(world.entry[h->entry].seed, i);
	reopen(&c, h);
	ring_copy_in(payload_of(h), payload, len);
	now = c.below;
	world.entry[h->entry].filled = len;
}

void end(struct held *h, enum bpf_relay_state state)
{
	struct call c;

	world.entry[h->entry].state = state;
	reopen(&c, h);
	ring_commit_record(&world.ring, &h->slot, state);
	now = c.below;
	world.open--;
	if (state == BPF_RELAY_COMMITTED) {
		world.records++;
		world.bytes += h->slot.len;
	} else {
		world.discarded++;
	}
	settled();
}

void advance(u64 pos)
{
	while (world.ctl->wpos < pos) {
		u64 from = world.ctl->wpos;
		u64 start = from & ~((u64)world.size - 1);
		u64 at = from == start ? from + sizeof(struct bpf_relay_packet) : from;
		u64 to = start + world.size < pos ? start + world.size : pos;

		CHECK(to >= at + sizeof(struct bpf_relay_header), "no way to %llu", (ull)pos);
		CHECK(put(to - at - sizeof(struct bpf_relay_header)) == 0);
	}
	CHECK(world.ctl->wpos == pos);
}

/* ---- Reading ------------------------------------------------------------- */

/* The first entry at or after pos. */
static int find(u64 pos)
{
	int low = 0, high = world.n_entries;

	while (low < high) {
		int mid = (low + high) / 2;

		if (world.entry[mid].pos < pos)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static void check_zero(const u8 *p, u64 from, u64 to, u64 start)
{
	for (; from < to; from++)
		CHECK(p[from] == 0, "padding at %llu of the sub-buffer at %llu is %#x",
		      (ull)from, (ull)start, p[from]);
}

static void check_record(const u8 *p, const struct entry *e)
{
	const struct bpf_relay_header *h = (const void *)p;
	u32 i;

	CHECK(h->state == e->state && e->state != BPF_RELAY_OPEN,
	      "record at %llu has state %u, its writer says %u", (ull)e->pos, h->state,
	      e->state);
	CHECK(h->id == e->id && h->len == e->len, "record at %llu is another's", (ull)e->pos);
	p += sizeof(*h);
	for (i = 0; i < e->len; i++)
		CHECK(p[i] == (i < e->filled ? payload_byte(e->seed, i) : 0),
		      "byte %u of the record at %llu is torn", i, (ull)e->pos);
	check_zero(p, e->len, BPF_RELAY_RECORD_SIZE(e->len) - sizeof(*h), e->pos);
}

struct walk {
	u64 ts, discarded, records, bytes, covered;
};

/* n bytes of the sub-buffer at start, which the ring says are good. */
static void check_subbuf(u8 *p, u32 n, u64 start, struct walk *w)
{
	struct bpf_relay_packet head, *packet = (void *)p;
	u64 size = world.size, at = sizeof(*packet), content = at, last_ts = 0, pad;
	u32 records = 0;
	struct packet compact;
	int i = find(start);

	CHECK(n >= at && n <= size, "%u bytes", n);
	CHECK(packet->magic == BPF_RELAY_CTF_MAGIC && !packet->stream_id &&
	      !memcmp(packet->uuid, uuid, 16) && packet->stream_instance_id == 3 &&
	      packet->cpu_id == 3 && packet->packet_size == size * 8 &&
	      packet->content_size == size * 8,
	      "packet header at %llu", (ull)start);
	CHECK(packet->packet_seq_num == start / size,
	      "packet header %llu in the sub-buffer at %llu", (ull)packet->packet_seq_num,
	      (ull)start);
	CHECK(packet->timestamp_begin >= w->ts && packet->timestamp_end == packet->timestamp_begin);
	w->ts = packet->timestamp_begin;
	if (packet->events_discarded < w->discarded)
		world.discarded_back++;
	w->discarded = packet->events_discarded;

	for (; i < world.n_entries && world.entry[i].pos < start + n; i++) {
		const struct entry *e = &world.entry[i];
		const struct bpf_relay_header *h = (const void *)(p + at);

		CHECK(e->pos == start + at, "gap in the model");
		check_record(p + at, e);
		CHECK(h->ts >= w->ts, "ts went back at %llu", (ull)e->pos);
		w->ts = h->ts;
		at += BPF_RELAY_RECORD_SIZE(e->len);
		if (e->state != BPF_RELAY_COMMITTED)
			continue;
		records++;
		w->bytes += e->len;
		last_ts = h->ts;
		content += BPF_RELAY_RECORD_SIZE(e->len);
	}
	w->records += records;
	w->covered += n;

	/* Behind the last record: padding, if somebody left the sub-buffer. */
	pad = size;
	i = find(start + size);
	if (i < world.n_entries && world.entry[i].from < start + size)
		pad = world.entry[i].from - start;
	if (n == size)
		CHECK(at == pad, "complete with %llu bytes of %llu", (ull)at, (ull)pad);
	else
		CHECK(at == n, "readable to %u, records to %llu", n, (ull)at);
	check_zero(p, at, n, start);

	/* And as the files deliver it. */
	head = *packet;
	packet_compact(p, n, size, NULL, &compact);
	CHECK(!compact.damaged && compact.nrec == records && compact.timestamp_end == last_ts);
	CHECK(compact.content <= content && content < compact.content + 8 &&
	      !memcmp(&head, p, sizeof(head)));
	check_zero(p, content, size, start);
	for (i = find(start), at = sizeof(head); records; i++) {
		if (world.entry[i].state != BPF_RELAY_COMMITTED)
			continue;
		check_record(p + at, &world.entry[i]);
		at += BPF_RELAY_RECORD_SIZE(world.entry[i].len);
		records--;
	}
}

static struct walk walk(void)
{
	const struct ring *r = &world.ring;
	struct walk w = { 0 };
	struct ring_window win;
	u64 start;

	ring_window(r, &win);
	CHECK(win.published <= win.end && win.end - win.first <= world.buffer);
	for (start = win.first; start < win.end; start += world.size) {
		u32 n = ring_readable(r, &win, start);

		if (!n)
			continue;
		if (ring_copy(r, start, copy, n))
			check_subbuf(copy, n, start, &w);
		else
			world.overtaken++;
	}
	return w;
}

u64 look(void)
{
	return walk().records;
}

void quiet(void)
{
	const struct ring *r = &world.ring;
	const u64 *counter = (const u64 *)&world.ctl->counters;
	u64 wpos = world.n_entries ? world.entry[world.n_entries - 1].to : 0;
	u64 overtaken = world.overtaken, records = 0, bytes = 0, drops = 0, start, end;
	bool off = nest_off;
	struct walk w;
	u32 i;

	nest_off = true;
	CHECK(!now && world.ring.depth == 0, "depth %llu", (ull)world.ring.depth);
	CHECK(world.ctl->wpos == wpos && world.ctl->published <= wpos);

	for (i = BPF_RELAY_FIRST_DROP; i < BPF_RELAY_NR_COUNTERS; i++) {
		CHECK(counter[i] == world.drops[i], "drop %u counted %llu times, returned %llu",
		      i, (ull)counter[i], (ull)world.drops[i]);
		drops += counter[i];
	}
	CHECK(ring_dropped(r) == drops);
	CHECK(counter[BPF_RELAY_records] == world.records);
	CHECK(counter[BPF_RELAY_bytes] == world.bytes);
	CHECK(counter[BPF_RELAY_discarded] == world.discarded);
	CHECK(world.calls == world.records + world.discarded + drops + world.open);

	/* Each sub-buffer counts what it holds of the newest lap. */
	end = ring_round_up(r, wpos);
	start = end > world.buffer ? end - world.buffer : 0;
	for (; start < end; start += world.size) {
		const struct bpf_relay_subbuf *sub = &r->sub[ring_index(r, start)];
		u64 nrec = 0, nbytes = 0, done = 0, last = start + world.size;
		int k = find(start);

		if (wpos < last)
			last = wpos;
		for (; k < world.n_entries && world.entry[k].pos < last; k++) {
			if (world.entry[k].state == BPF_RELAY_OPEN)
				done += BPF_RELAY_RECORD_SIZE(world.entry[k].len);
			if (world.entry[k].state != BPF_RELAY_COMMITTED)
				continue;
			nrec++;
			nbytes += world.entry[k].len;
		}
		CHECK(sub->nrec == nrec && sub->nbytes == nbytes,
		      "sub-buffer at %llu: nrec %lld, nbytes %lld; holds %llu, %llu", (ull)start,
		      (ull)sub->nrec, (ull)sub->nbytes, (ull)nrec, (ull)nbytes);
		done = last - start - done;
		CHECK(sub->committed == ring_lap_base(r, start) + done,
		      "sub-buffer at %llu: committed %llu, done %llu", (ull)start,
		      (ull)(sub->committed - ring_lap_base(r, start)), (ull)done);
		records += nrec;
		bytes += nbytes;
	}
	CHECK(counter[BPF_RELAY_records] == counter[BPF_RELAY_overwritten] + records,
	      "records %llu, overwritten %llu, readable %llu", (ull)counter[BPF_RELAY_records],
	      (ull)counter[BPF_RELAY_overwritten], (ull)records);
	CHECK(counter[BPF_RELAY_bytes] == counter[BPF_RELAY_overwritten_bytes] + bytes);

	w = walk();
	CHECK(world.overtaken == overtaken, "a reader was overtaken by nobody");
	if (!world.open) {
		CHECK(world.ctl->published == wpos);
		CHECK(w.records == records && w.bytes == bytes,
		      "walked over %llu records, counted %llu", (ull)w.records, (ull)records);
		/* Exactly the newest, without a gap. */
		start = end > world.buffer ? end - world.buffer : 0;
		CHECK(w.covered == wpos - start, "read %llu of %llu bytes", (ull)w.covered,
		      (ull)(wpos - start));
	} else {
		for (i = find(start > world.buffer ? start - world.buffer : 0);
		     i < (u32)world.n_entries; i++)
			if (world.entry[i].state == BPF_RELAY_OPEN)
				break;
		CHECK(i < (u32)world.n_entries && world.ctl->published <= world.entry[i].pos,
		      "published went over an open record");
	}
	nest_off = off;
}
