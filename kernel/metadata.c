// SPDX-License-Identifier: GPL-2.0-only
/*
 * ctf/metadata: CTF 1.8 TSDL. The head is the module's alone; the blocks of the
 * types are as their owner gave them, or bytes. Its length never changes once
 * the log is open, so that st_size is right.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/fs.h>
#include <linux/printk.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/utsname.h>
#include <linux/uuid.h>

#include "files.h"
#include "log.h"

#define BOOT_ID_FILE	"/proc/sys/kernel/random/boot_id"

/* Of this boot: logs with the same clock uuid can be merged. */
static char boot_id[UUID_STRING_LEN + 1];

/* The kernel exports its boot id to user space only. */
static bool boot_id_read(void)
{
	struct file *file = filp_open(BOOT_ID_FILE, O_RDONLY, 0);
	loff_t pos = 0;
	ssize_t n;

	if (IS_ERR(file))
		return false;
	n = kernel_read(file, boot_id, UUID_STRING_LEN, &pos);
	filp_close(file, NULL);
	return n == UUID_STRING_LEN && uuid_is_valid(boot_id);
}

void metadata_init(void)
{
	if (!boot_id_read()) {
		uuid_t uuid;

		uuid_gen(&uuid);
		snprintf(boot_id, sizeof(boot_id), "%pUb", &uuid);
		pr_info("cannot read " BOOT_ID_FILE ": traces will not merge with those of other tracers\n");
	}
}

struct text {
	char *s;
	size_t size;	/* 0: only count */
	size_t len;
};

static __printf(2, 3) void emit(struct text *t, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	if (t->len < t->size)
		t->len += vsnprintf(t->s + t->len, t->size - t->len, fmt, args);
	else
		t->len += vsnprintf(NULL, 0, fmt, args);
	va_end(args);
}

/* Not "%.*s": a precision has 16 bits, BPF_RELAY_TEXT_MAX has more. */
static void emit_bytes(struct text *t, const char *s, size_t n)
{
	if (t->len < t->size)
		memcpy(t->s + t->len, s, min(n, t->size - t->len));
	t->len += n;
}

static void emit_head(struct text *t, const struct bpf_relay *log)
{
	bool mono = log->clock == BPF_RELAY_CLOCK_MONO;
	const char *clock = mono ? "monotonic" : "boottime";
	char host[__NEW_UTS_LEN + 1];
	char *c;

	strscpy(host, init_utsname()->nodename, sizeof(host));
	for (c = host; *c; c++)
		if (*c == '"' || *c == '\\' || *c < ' ' || *c > '~')
			*c = '_';

	emit(t, "/* CTF 1.8 */\n\n");
	emit(t, "typealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n"
		"typealias integer { size = 16; align = 16; signed = false; } := uint16_t;\n"
		"typealias integer { size = 32; align = 32; signed = false; } := uint32_t;\n"
		"typealias integer { size = 64; align = 64; signed = false; } := uint64_t;\n\n");
	emit(t, "trace {\n\tmajor = 1;\n\tminor = 8;\n\tuuid = \"%pUb\";\n\tbyte_order = le;\n"
		"\tpacket.header := struct {\n\t\tuint32_t magic;\n\t\tuint8_t uuid[16];\n"
		"\t\tuint32_t stream_id;\n\t\tuint64_t stream_instance_id;\n\t};\n};\n\n",
	     log->uuid);
	/* Of fixed width: what they hold may change from read to read. */
	emit(t, "env {\n\thostname = \"%s\";%*s\n\tdomain = \"kernel\";\n"
		"\ttracer_name = \"bpf_relay\";\n\tlog = \"%s\";\n};\n\n",
	     host, (int)(__NEW_UTS_LEN - strlen(host)), "", log->name);
	emit(t, "clock {\n\tname = \"%s\";\n\tuuid = \"%s\";\n\tfreq = 1000000000;\n"
		"\toffset = %20lld;\n};\n\n",
	     clock, boot_id, log_real_offset(log));
	emit(t, "typealias integer {\n\tsize = 64; align = 64; signed = false;\n"
		"\tmap = clock.%s.value;\n} := ts_t;\n\n", clock);
	emit(t, "stream {\n\tid = 0;\n\tpacket.context := struct {\n\t\tts_t timestamp_begin;\n"
		"\t\tts_t timestamp_end;\n\t\tuint64_t content_size;\n\t\tuint64_t packet_size;\n"
		"\t\tuint64_t packet_seq_num;\n\t\tuint64_t events_discarded;\n"
		"\t\tuint64_t cpu_id;\n\t};\n"
		"\tevent.header := struct {\n\t\tts_t timestamp;\n\t\tuint16_t id;\n"
		"\t} align(64);\n};\n");
}

/* A record of any length is seen by CTF from the length in its header on. */
static void emit_raw(struct text *t, const char *name, u32 id)
{
	emit(t, "\nevent {\n\tname = \"%s\";\n\tid = %u;\n\tstream_id = 0;\n"
		"\tfields := struct {\n\t\tuint32_t len;\n\t\tuint8_t data[len];\n\t};\n};\n",
	     name, id);
}

/* The same of one whose length is a number of elements, in the copies. */
static void emit_elements(struct text *t, const char *name, u32 id,
			  const struct packet_type *packet)
{
	emit(t, "\nevent {\n\tname = \"%s\";\n\tid = %u;\n\tstream_id = 0;\n"
		"\tfields := struct {\n\t\tuint32_t len;\n", name, id);
	if (packet->offset)
		emit(t, "\t\tuint8_t fixed[%u];\n", packet->offset);
	emit(t, "\t\tuint8_t data[len][%u];\n\t};\n};\n", packet->elem);
}

static void emit_type(struct text *t, const struct relay_type *type,
		      const struct packet_type *packet)
{
	const struct bpf_relay_type *d = &type->desc;

	if (type->tsdl) {
		emit(t, "\n");
		emit_bytes(t, type->tsdl, d->tsdl_len);
		emit(t, "\n");
	} else if (packet->elem) {
		emit_elements(t, d->name, d->id, packet);
	} else if (d->flags & BPF_RELAY_TYPE_VAR) {
		emit_raw(t, d->name, d->id);
	} else {
		emit(t, "\nevent {\n\tname = \"%s\";\n\tid = %u;\n\tstream_id = 0;\n"
			"\tfields := struct {\n\t\tuint8_t data[%u];\n\t} align(64);\n};\n",
		     d->name, d->id, d->size);
	}
}

static void emit_metadata(struct text *t, const struct bpf_relay *log)
{
	u32 i;

	emit_head(t, log);
	emit_raw(t, "raw", 0);
	for (i = 1; i < BPF_RELAY_TYPES_MAX; i++)
		if (log->types.type[i])
			emit_type(t, log->types.type[i], &log->types.packet[i]);
}

static size_t metadata_size(const struct bpf_relay *log)
{
	struct text t = {};

	emit_metadata(&t, log);
	return t.len;
}

void metadata_stat(const struct log_file *file, const struct inode *inode, struct kstat *stat)
{
	stat->size = metadata_size(file->log);
}

static int metadata_open(struct inode *inode, struct file *file)
{
	const struct log_file *f = file_open(inode, file);
	struct text *t;

	if (IS_ERR(f))
		return PTR_ERR(f);
	t = kzalloc(sizeof(*t), GFP_KERNEL_ACCOUNT);
	if (!t)
		return -ENOMEM;
	t->size = metadata_size(f->log) + 1;
	t->s = kvmalloc(t->size, GFP_KERNEL_ACCOUNT);
	if (!t->s) {
		kfree(t);
		return -ENOMEM;
	}
	emit_metadata(t, f->log);
	file->private_data = t;
	return 0;
}

static ssize_t metadata_read(struct file *file, char __user *to, size_t count, loff_t *pos)
{
	struct text *t = file->private_data;

	return simple_read_from_buffer(to, count, pos, t->s, t->len);
}

static loff_t metadata_llseek(struct file *file, loff_t offset, int whence)
{
	struct text *t = file->private_data;

	return fixed_size_llseek(file, offset, whence, t->len);
}

static int metadata_release(struct inode *inode, struct file *file)
{
	struct text *t = file->private_data;

	kvfree(t->s);
	kfree(t);
	return 0;
}

const struct file_operations metadata_fops = {
	.owner		= THIS_MODULE,
	.open		= metadata_open,
	.read		= metadata_read,
	.llseek		= metadata_llseek,
	.release	= metadata_release,
};
