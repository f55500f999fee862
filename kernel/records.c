// SPDX-License-Identifier: GPL-2.0-only
#include <linux/atomic.h>
#include <linux/bitops.h>

#include "log.h"
#include "records.h"

/* One word is the bitmap of a pool. */
static_assert(BPF_RELAY_OPEN_MAX == 64);

struct bpf_relay_record *record_get(struct log_cpu *cpu, struct log_elem *elem)
{
	struct record_pool *pool = &cpu->pool;
	u64 used = READ_ONCE(pool->used);
	struct bpf_relay_record *rec;
	int i;

	do {
		if (!~used)
			return NULL;
		i = __ffs64(~used);
	} while (!try_cmpxchg_local(&pool->used, &used, used | BIT_ULL(i)));

	rec = &pool->record[i];
	rec->cpu = cpu;
	rec->elem = elem;
	return rec;
}

void record_set(struct bpf_relay_record *rec, const struct ring_slot *slot)
{
	rec->slot.pos = slot->pos;
	rec->slot.sub = slot->sub;
	rec->slot.len = slot->len;
	/* records_open() may be looking, from any CPU. */
	WRITE_ONCE(rec->slot.header, slot->header);
}

void record_put(struct bpf_relay_record *rec)
{
	struct record_pool *pool = &rec->cpu->pool;
	u64 bit = BIT_ULL(rec - pool->record);
	u64 used = READ_ONCE(pool->used);

	while (!try_cmpxchg_local(&pool->used, &used, used & ~bit))
		;
}

u32 records_open(const struct log_cpu *cpu, u64 now, u64 *oldest)
{
	u64 used = READ_ONCE(cpu->pool.used);
	u32 n = hweight64(used);

	*oldest = now;
	for (; used; used &= used - 1) {
		const struct bpf_relay_record *rec = &cpu->pool.record[__ffs64(used)];
		const struct bpf_relay_header *header = READ_ONCE(rec->slot.header);

		if (header)
			*oldest = min(*oldest, READ_ONCE(header->ts));
	}
	return n;
}
