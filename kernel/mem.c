// SPDX-License-Identifier: GPL-2.0-only
/*
 * mem: the log itself, to be mapped read-only: its first page says what there is
 * (struct bpf_relay_log_page), then come the control area and the data of each CPU.
 * There is nothing to read(): what a reader sees must be validated as it is copied.
 *
 * A mapping keeps the log's memory, and nothing else of it, beyond the log's end. It has
 * no struct pages in it (VM_PFNMAP), so that nobody can hold on to one longer than that.
 */
#include <linux/cpumask.h>
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "files.h"
#include "log.h"
#include "mem.h"
#include "wait.h"

void mem_describe(struct bpf_relay *log)
{
	const struct geometry *g = &log->geometry;
	struct bpf_relay_log_page *page = log->page;

	page->abi = BPF_RELAY_ABI;
	page->size = sizeof(*page);
	page->nr_cpus = nr_cpu_ids;
	page->subbuf_size = g->subbuf_size;
	page->n_subbufs = g->n_subbufs;
	page->mode = log->mode;
	page->clock = log->clock;
	page->cpu_offset = PAGE_ALIGN(sizeof(*page));
	page->data_offset = PAGE_ALIGN(ring_ctl_size(g->n_subbufs));
	page->cpu_stride = page->data_offset + (u64)g->subbuf_size * g->n_subbufs;
	page->file_size = page->cpu_offset + page->nr_cpus * page->cpu_stride;
	page->map_id = log->map_id;
	page->n_types = log->types.n;
	memcpy(page->uuid, log->uuid, sizeof(page->uuid));
	static_assert(sizeof(log->name) <= sizeof(page->name));
	strscpy(page->name, log->name, sizeof(page->name));
}

void mem_stat(const struct log_file *file, const struct inode *inode, struct kstat *stat)
{
	stat->size = file->log->page->file_size;
}

/* ---- Pages --------------------------------------------------------------- */

/* What lies at this offset of the file; all of it is vmalloc memory. NULL: zeroes. */
static const void *mem_at(const struct bpf_relay *log, u64 offset)
{
	const struct bpf_relay_log_page *page = log->page;
	const struct ring *ring;
	const u8 *data;
	u64 cpu;

	if (offset < page->cpu_offset)
		return (const void *)page + offset;
	offset -= page->cpu_offset;
	cpu = offset / page->cpu_stride;
	if (!cpu_possible(cpu))
		return NULL;
	offset %= page->cpu_stride;
	ring = &per_cpu_ptr(log->cpu, cpu)->ring;
	if (offset < page->data_offset)
		return (const void *)ring->ctl + offset;
	data = ring_read_acquire(&ring->data);
	return data ? data + (offset - page->data_offset) : NULL;
}

static vm_fault_t mem_fault(struct vm_fault *vmf)
{
	const struct bpf_relay *log = vmf->vma->vm_private_data;
	u64 offset = (u64)vmf->pgoff << PAGE_SHIFT;
	const void *at = mem_at(log, offset);
	unsigned long pfn = at ? vmalloc_to_pfn(at) : page_to_pfn(ZERO_PAGE(vmf->address));
	vm_fault_t ret = vmf_insert_pfn(vmf->vma, vmf->address, pfn);

	if (at)
		return ret;
	/* Pairs with mem_attached(): zeroes do not stay where a buffer has come. */
	smp_mb();
	if (mem_at(log, offset))
		unmap_mapping_range(vmf->vma->vm_file->f_mapping, offset, PAGE_SIZE, 1);
	return ret;
}

void mem_attached(const struct bpf_relay *log, u32 cpu)
{
	const struct bpf_relay_log_page *page = log->page;

	/* Pairs with mem_fault(): it sees the buffer, or we its zeroes. */
	smp_mb();
	unmap_mapping_range(files_mem(log->files)->i_mapping,
			    page->cpu_offset + cpu * page->cpu_stride + page->data_offset,
			    page->cpu_stride - page->data_offset, 1);
}

static void mem_vm_open(struct vm_area_struct *vma)
{
	log_get_memory(vma->vm_private_data);
}

static void mem_vm_close(struct vm_area_struct *vma)
{
	log_put_memory(vma->vm_private_data);
}

static const struct vm_operations_struct mem_vm_ops = {
	.open	= mem_vm_open,
	.close	= mem_vm_close,
	.fault	= mem_fault,
};

/* ---- The file ------------------------------------------------------------ */

/*
 * debugfs lends its protection against removal only to what it can pass on, and mmap it
 * cannot: whatever looks at the log takes it here, but open(), which is called inside.
 */
static struct bpf_relay *mem_get(struct file *file)
{
	struct dentry *dentry = file->f_path.dentry;
	int err = debugfs_file_get(dentry);
	const struct log_file *f;

	if (err)
		return ERR_PTR(err);
	f = file_of(file_inode(file));
	if (f)
		return f->log;
	debugfs_file_put(dentry);
	return ERR_PTR(-ENODEV);
}

static void mem_put(struct file *file)
{
	debugfs_file_put(file->f_path.dentry);
}

static int mem_open(struct inode *inode, struct file *file)
{
	const struct log_file *f = file_open(inode, file);
	struct waiter *waiter;

	if (IS_ERR(f))
		return PTR_ERR(f);
	waiter = kmalloc(sizeof(*waiter), GFP_KERNEL_ACCOUNT);
	if (!waiter)
		return -ENOMEM;
	waiter_init(waiter, f->log, WAITER_ALL_CPUS);
	file->private_data = waiter;
	return 0;
}

static int mem_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct bpf_relay *log;
	u64 pages;
	int err = 0;

	if (vma->vm_flags & (VM_WRITE | VM_EXEC))
		return -EACCES;
	log = mem_get(file);
	if (IS_ERR(log))
		return PTR_ERR(log);
	pages = log->page->file_size >> PAGE_SHIFT;
	if (vma->vm_pgoff >= pages || vma_pages(vma) > pages - vma->vm_pgoff) {
		err = -EINVAL;
	} else {
		/* Without VM_MAY*, mprotect() cannot have it either. */
		vm_flags_mod(vma, VM_PFNMAP | VM_DONTEXPAND | VM_DONTDUMP,
			     VM_MAYWRITE | VM_MAYEXEC);
		log_get_memory(log);
		vma->vm_private_data = log;
		vma->vm_ops = &mem_vm_ops;
	}
	mem_put(file);
	return err;
}

/* lseek(fd, 0, SEEK_SET) says: poll for what comes from now on. */
static loff_t mem_llseek(struct file *file, loff_t offset, int whence)
{
	struct bpf_relay *log = mem_get(file);
	loff_t pos;

	if (IS_ERR(log))
		return PTR_ERR(log);
	if (!offset && whence == SEEK_SET)
		waiter_mark(file->private_data, log);
	pos = fixed_size_llseek(file, offset, whence, log->page->file_size);
	mem_put(file);
	return pos;
}

static __poll_t mem_poll(struct file *file, struct poll_table_struct *table)
{
	struct bpf_relay *log = mem_get(file);
	__poll_t events;

	if (IS_ERR(log))
		return EPOLLHUP | EPOLLERR;
	events = waiter_poll(file->private_data, log, file, table, false);
	mem_put(file);
	return events;
}

static int mem_release(struct inode *inode, struct file *file)
{
	waiter_exit(file->private_data);
	kfree(file->private_data);
	return 0;
}

const struct file_operations mem_fops = {
	.owner		= THIS_MODULE,
	.open		= mem_open,
	.mmap		= mem_mmap,
	.llseek		= mem_llseek,
	.poll		= mem_poll,
	.release	= mem_release,
};
