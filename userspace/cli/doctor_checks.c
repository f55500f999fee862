// SPDX-License-Identifier: GPL-2.0-only
/* The checks of doctor. All that they look at stands in files. */
#include <errno.h>
#include <linux/capability.h>
#include <mntent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bpfrelay.h"
#include "cli.h"
#include "doctor.h"

#define KERNEL_MAJOR	6
#define KERNEL_MINOR	12

#define DEBUGFS		"/sys/kernel/debug"
#define BPFFS		"/sys/fs/bpf"

#define SIGNATURE	"~Module signature appended~\n"

static void found(struct finding *f, enum verdict verdict, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
static void found(struct finding *f, enum verdict verdict, const char *fmt, ...)
{
	va_list args;

	f->verdict = verdict;
	va_start(args, fmt);
	vsnprintf(f->found, sizeof(f->found), fmt, args);
	va_end(args);
}

static void todo(struct finding *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void todo(struct finding *f, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(f->todo, sizeof(f->todo), fmt, args);
	va_end(args);
}

static void below(const struct machine *m, const char *path, char full[PATH_MAX])
{
	snprintf(full, PATH_MAX, "%s%s", m->root, path);
}

static bool may(const struct machine *m, const char *path, int mode)
{
	char full[PATH_MAX];

	below(m, path, full);
	return !access(full, mode);
}

/*
 * Says what "kernel.name" is, and returns that; -1: that is not known. Those of net.core
 * are hidden in other network namespaces than the first one.
 */
static long look_at_sysctl(const struct machine *m, struct finding *f, const char *name)
{
	char path[128], line[64], *end, *dot;
	long n;
	int err;

	snprintf(path, sizeof(path), "/proc/sys/%s", name);
	for (dot = path; (dot = strchr(dot, '.')); )
		*dot = '/';
	err = first_line(m->root, path, line, sizeof(line));
	if (err) {
		found(f, NOTE, "%s is not known: %s", name, strerror(-err));
		return -1;
	}
	n = strtol(line, &end, 10);
	found(f, FINE, "%s is %s", name, line);
	return end == line ? -1 : n;
}

/* ---- Kernel and module ---------------------------------------------------------- */

static void check_kernel(const struct machine *m, struct finding *f)
{
	int major, minor;
	bool old;

	old = sscanf(m->release, "%d.%d", &major, &minor) != 2 || major < KERNEL_MAJOR ||
	      (major == KERNEL_MAJOR && minor < KERNEL_MINOR);
	found(f, old ? PROBLEM : FINE, "%s", *m->release ? m->release : "no release is known");
	if (old)
		todo(f, "boot Linux %d.%d or newer", KERNEL_MAJOR, KERNEL_MINOR);
}

static void check_btf(const struct machine *m, struct finding *f)
{
	static const char file[] = "/sys/kernel/btf/vmlinux";

	if (may(m, file, R_OK)) {
		found(f, FINE, "%s", file);
		return;
	}
	found(f, PROBLEM, "no %s", file);
	todo(f, "boot a kernel that is built with CONFIG_DEBUG_INFO_BTF");
}

static void check_jit(const struct machine *m, struct finding *f)
{
	if (look_at_sysctl(m, f, "net.core.bpf_jit_enable"))
		return;
	f->verdict = PROBLEM;
	todo(f, "sysctl net.core.bpf_jit_enable=1: programs that call a module need the JIT");
}

static void check_installed(const struct machine *m, struct finding *f)
{
	if (*m->installed) {
		found(f, FINE, "%s", m->installed);
		return;
	}
	found(f, m->loaded ? NOTE : PROBLEM, "not in /lib/modules/%s", m->release);
	todo(f, "with the headers of this kernel: make install");
}

static void check_loaded(const struct machine *m, struct finding *f)
{
	if (m->loaded) {
		found(f, FINE, "loaded");
		return;
	}
	found(f, PROBLEM, "not loaded");
	todo(f, "modprobe bpf_relay (dmesg says why if it fails)");
}

static void check_abi(const struct machine *m, struct finding *f)
{
	unsigned int abi = m->module.abi;

	if (!abi) {
		found(f, m->loaded ? NOTE : FINE,
		      "of the command %u, of the module not known until %s", BPF_RELAY_ABI,
		      m->loaded ? "a log is open" : "it is loaded");
		return;
	}
	found(f, abi == BPF_RELAY_ABI ? FINE : PROBLEM, "of the command %u, of the module %u",
	      BPF_RELAY_ABI, abi);
	if (abi != BPF_RELAY_ABI)
		todo(f, "install command and module from one source, then: rmmod bpf_relay && modprobe bpf_relay");
}

/* After an upgrade the one that was loaded before goes on, and what it keeps. */
static void check_version(const struct machine *m, struct finding *f)
{
	const char *loaded = m->module.srcversion;

	if (!m->loaded || !*loaded || !*m->installed_srcversion) {
		found(f, FINE, "loaded and installed: not compared");
		return;
	}
	if (!strcmp(loaded, m->installed_srcversion)) {
		found(f, FINE, "%s, the one that is installed", m->module.version);
		return;
	}
	found(f, NOTE, "%s (%s) is loaded, %s (%s) is installed", m->module.version, loaded,
	      m->installed_version, m->installed_srcversion);
	todo(f, "when no log is needed any more (bpfrelay list): rmmod bpf_relay && modprobe bpf_relay");
}

/* ---- What forbids modules ------------------------------------------------------- */

static void check_modules_disabled(const struct machine *m, struct finding *f)
{
	if (look_at_sysctl(m, f, "kernel.modules_disabled") < 1 || m->loaded)
		return;
	f->verdict = PROBLEM;
	todo(f, "boot again, and load the module before this is set");
}

/* Of a file that is not compressed its end says it. */
static bool is_signed(const struct machine *m)
{
	char full[PATH_MAX], end[sizeof(SIGNATURE)] = "";
	FILE *f;

	below(m, m->installed, full);
	f = fopen(full, "re");
	if (!f)
		return false;
	if (!fseek(f, -(long)strlen(SIGNATURE), SEEK_END) &&
	    !fread(end, strlen(SIGNATURE), 1, f))
		*end = '\0';
	fclose(f);
	return !strcmp(end, SIGNATURE);
}

static void check_signature(const struct machine *m, struct finding *f)
{
	size_t len = strlen(m->installed);
	bool plain = len > 3 && !strcmp(m->installed + len - 3, ".ko");
	char enforced[8];

	if (first_line(m->root, "/sys/module/module/parameters/sig_enforce", enforced,
		       sizeof(enforced)) || *enforced != 'Y') {
		found(f, FINE, "unsigned modules may be loaded");
		return;
	}
	if (m->loaded || is_signed(m))
		found(f, FINE, "enforced, and the module is %s", m->loaded ? "loaded" : "signed");
	else
		found(f, plain ? PROBLEM : NOTE, "enforced%s",
		      plain ? ", and the module is not signed" : "");
	if (f->verdict != FINE)
		todo(f, "sign it with a key that the kernel trusts: scripts/sign-file of the headers, mokutil --import");
}

static void check_lockdown(const struct machine *m, struct finding *f)
{
	char line[128];
	const char *level;

	/* "none [integrity] confidentiality"; no file: a kernel without lockdown. */
	first_line(m->root, "/sys/kernel/security/lockdown", line, sizeof(line));
	if (strstr(line, "[integrity]")) {
		level = "integrity";
	} else if (strstr(line, "[confidentiality]")) {
		level = "confidentiality: programs may not read the kernel's memory";
		todo(f, "boot with lockdown=integrity if programs use bpf_probe_read_kernel()");
	} else {
		found(f, FINE, "none");
		return;
	}
	found(f, NOTE, "%s; modules must be signed, logs are read from ctf/", level);
}

/* ---- Files and who may ---------------------------------------------------------- */

static bool is_mounted(const struct machine *m, const char *type, const char *dir)
{
	struct mntent *mount;
	char full[PATH_MAX];
	bool is = false;
	FILE *f;

	below(m, "/proc/self/mounts", full);
	f = setmntent(full, "re");
	if (!f)
		return false;
	while (!is && (mount = getmntent(f)))
		is = !strcmp(mount->mnt_type, type) && !strcmp(mount->mnt_dir, dir);
	endmntent(f);
	return is;
}

static void check_mount(const struct machine *m, struct finding *f, const char *type,
			const char *dir)
{
	if (is_mounted(m, type, dir)) {
		found(f, FINE, "%s", dir);
		return;
	}
	found(f, PROBLEM, "not mounted at %s", dir);
	todo(f, "mount -t %s %s %s", type, type, dir);
}

static void check_debugfs(const struct machine *m, struct finding *f)
{
	char cmdline[4096];

	check_mount(m, f, "debugfs", DEBUGFS);
	first_line(m->root, "/proc/cmdline", cmdline, sizeof(cmdline));
	if (strstr(cmdline, "debugfs=off") || strstr(cmdline, "debugfs=no-mount")) {
		found(f, PROBLEM, "switched off by the kernel's command line");
		todo(f, "boot without debugfs=off");
	}
}

static void check_bpffs(const struct machine *m, struct finding *f)
{
	check_mount(m, f, "bpf", BPFFS);
}

static void check_reading(const struct machine *m, struct finding *f)
{
	if (may(m, BPFRELAY_ROOT, R_OK | X_OK)) {
		found(f, FINE, "%s can be read", BPFRELAY_ROOT);
	} else if (errno == EACCES) {
		found(f, PROBLEM, "%s: %s", BPFRELAY_ROOT, strerror(errno));
		todo(f, "run as root (CAP_DAC_READ_SEARCH), or as a member of the logs' group: see bpfrelay(1)");
	} else {
		found(f, m->loaded ? PROBLEM : NOTE, "no %s%s", BPFRELAY_ROOT,
		      m->loaded ? "" : " without the module");
		if (m->loaded)
			todo(f, "mount debugfs, then rmmod bpf_relay && modprobe bpf_relay");
	}
}

/* Programs that call a module's functions need CAP_BPF, whatever it is. */
static void check_unprivileged(const struct machine *m, struct finding *f)
{
	look_at_sysctl(m, f, "kernel.unprivileged_bpf_disabled");
}

static void check_names(const struct machine *m, struct finding *f)
{
	if (look_at_sysctl(m, f, "kernel.kptr_restrict") < 2)
		return;
	f->verdict = NOTE;
	todo(f, "sysctl kernel.kptr_restrict=1, else kernel addresses in stacks get no names");
}

static void check_hardening(const struct machine *m, struct finding *f)
{
	if (look_at_sysctl(m, f, "net.core.bpf_jit_harden") < 2)
		return;
	f->verdict = NOTE;
	todo(f, "sysctl net.core.bpf_jit_harden=1, else programs are slower, root's too");
}

static void check_capabilities(const struct machine *m, struct finding *f)
{
	static const struct {
		int bit;
		const char *name;
	} wanted[] = {
		{ CAP_BPF, "CAP_BPF" }, { CAP_PERFMON, "CAP_PERFMON" },
		{ CAP_NET_ADMIN, "CAP_NET_ADMIN" }, { CAP_SYS_ADMIN, "CAP_SYS_ADMIN" },
		{ CAP_SYS_MODULE, "CAP_SYS_MODULE" },
		{ CAP_DAC_READ_SEARCH, "CAP_DAC_READ_SEARCH" },
		{ CAP_SYS_PTRACE, "CAP_SYS_PTRACE" }, { CAP_SYSLOG, "CAP_SYSLOG" },
	};
	unsigned long long caps = 0;
	char full[PATH_MAX], line[256], missing[256] = "";
	size_t i, len = 0;
	FILE *status;

	below(m, "/proc/self/status", full);
	status = fopen(full, "re");
	while (status && fgets(line, sizeof(line), status))
		sscanf(line, "CapEff: %llx", &caps);
	if (status)
		fclose(status);
	for (i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		if (!(caps & 1ULL << wanted[i].bit))
			len += snprintf(missing + len, sizeof(missing) - len, "%s%s",
					len ? ", " : "", wanted[i].name);
	if (!len) {
		found(f, FINE, "all that load, list and show use");
		return;
	}
	found(f, NOTE, "without %s", missing);
	todo(f, "run as root, or see in bpfrelay(1) which of them a command needs");
}

const struct check checks[] = {
	{ "kernel", true, check_kernel },
	{ "BTF", true, check_btf },
	{ "JIT", true, check_jit },
	{ "module file", true, check_installed },
	{ "module", true, check_loaded },
	{ "ABI", true, check_abi },
	{ "module version", false, check_version },
	{ "modules allowed", true, check_modules_disabled },
	{ "module signature", true, check_signature },
	{ "lockdown", false, check_lockdown },
	{ "debugfs", true, check_debugfs },
	{ "reading", true, check_reading },
	{ "bpffs", true, check_bpffs },
	{ "capabilities", false, check_capabilities },
	{ "unprivileged BPF", false, check_unprivileged },
	{ "kernel names", false, check_names },
	{ "JIT hardening", false, check_hardening },
	{}
};

/* As depmod wrote it down for modprobe: "updates/bpf_relay.ko: ...". */
static void find_installed(struct machine *m)
{
	char dir[256], full[PATH_MAX], *line = NULL, *end;
	size_t size = 0;
	FILE *f;

	snprintf(dir, sizeof(dir), "/lib/modules/%s/", m->release);
	snprintf(full, sizeof(full), "%s%smodules.dep", m->root, dir);
	f = fopen(full, "re");
	while (f && getline(&line, &size, f) > 0) {
		end = strstr(line, "/bpf_relay.ko");
		if (!end || memchr(line, ':', end - line))
			continue;
		line[strcspn(line, ":")] = '\0';
		snprintf(m->installed, sizeof(m->installed), "%s%s", *line == '/' ? "" : dir, line);
		break;
	}
	free(line);
	if (f)
		fclose(f);
}

/* Of the module's file, which may be compressed. Empty where there is no modinfo. */
static void ask_modinfo(const char *file, const char *field, char *to, size_t size)
{
	ssize_t len = 0, n;
	int fds[2];
	pid_t pid;

	*to = '\0';
	if (pipe(fds))
		return;
	pid = fork();
	if (!pid) {
		dup2(fds[1], STDOUT_FILENO);
		close(STDERR_FILENO);
		close(fds[0]);
		close(fds[1]);
		execlp("modinfo", "modinfo", "-F", field, file, NULL);
		_exit(127);
	}
	close(fds[1]);
	while (pid > 0 && (n = read(fds[0], to + len, size - 1 - len)) > 0)
		len += n;
	close(fds[0]);
	to[len] = '\0';
	to[strcspn(to, "\n")] = '\0';
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

int machine_look_at(struct machine *m)
{
	char full[PATH_MAX];

	if (*m->root && access(m->root, X_OK))
		return error("%s: %s", m->root, strerror(errno));
	first_line(m->root, "/proc/sys/kernel/osrelease", m->release, sizeof(m->release));
	m->loaded = module_version(m->root, &m->module);
	find_installed(m);
	if (!*m->installed)
		return 0;
	below(m, m->installed, full);
	ask_modinfo(full, "version", m->installed_version, sizeof(m->installed_version));
	ask_modinfo(full, "srcversion", m->installed_srcversion, sizeof(m->installed_srcversion));
	return 0;
}

