// SPDX-License-Identifier: GPL-2.0-only
/*
 * A record is written from every program type and read back: interfaces, sockets,
 * control groups. progtypes.c has the rest, and says when a type fails.
 *
 * Each test has a network namespace of its own, with a pair of veth interfaces, and a
 * control group that it puts itself into for as long as it pulls the trigger.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <limits.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/ipv6.h>
#include <linux/netfilter.h>
#include <linux/seg6.h>
#include <linux/udp.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "kselftest_harness.h"
#include "progtypes_common.h"

#define PORT	7531
#define IN	"v1"	/* what is sent on OUT arrives here */
#define OUT	"v0"
#define PIN	"/sys/fs/bpf/progtypes"
#define CGROUP2	"/sys/fs/cgroup"

/* ---- Sockets ------------------------------------------------------------ */

static const struct sockaddr_in here = {
	.sin_family = AF_INET,
	.sin_port = __builtin_bswap16(PORT),
	.sin_addr.s_addr = __builtin_bswap32(INADDR_LOOPBACK),
};

static const struct sockaddr_in anywhere = {
	.sin_family = AF_INET,
	.sin_port = __builtin_bswap16(PORT),
};

/* There is always one: nobody needs to be told that a port is unreachable. */
static int bound_socket(int type)
{
	int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);
	int one = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (const struct sockaddr *)&anywhere, sizeof(anywhere)))
		return -errno;
	if (type == SOCK_STREAM && listen(fd, RUNS))
		return -errno;
	return fd;
}

/* A datagram to `to`, each from a new socket. */
static int send_datagrams(const struct sockaddr_in *to)
{
	int i;

	for (i = 0; i < RUNS; i++) {
		int fd = socket(AF_INET, SOCK_DGRAM, 0);
		ssize_t n = sendto(fd, "x", 1, 0, (const struct sockaddr *)to, sizeof(*to));

		close(fd);
		if (n != 1)
			return -errno;
	}
	return 0;
}

static int send_udp(struct run *run)
{
	return send_datagrams(&here);
}

/* A connection over lo: [0] connected, [1] accepted. */
static int tcp_pair(int listener, const char *cc, int pair[2])
{
	pair[0] = socket(AF_INET, SOCK_STREAM, 0);
	if (cc && setsockopt(pair[0], IPPROTO_TCP, TCP_CONGESTION, cc, strlen(cc)))
		return -errno;
	if (connect(pair[0], (const struct sockaddr *)&here, sizeof(here)))
		return -errno;
	pair[1] = accept(listener, NULL, NULL);
	return pair[1] < 0 ? -errno : 0;
}

static int connect_tcp(const char *cc)
{
	int listener = bound_socket(SOCK_STREAM);
	int i, err, pair[2];

	for (i = 0; i < RUNS; i++) {
		err = tcp_pair(listener, cc, pair);
		if (err)
			return err;
		close(pair[0]);
		close(pair[1]);
	}
	close(listener);
	return 0;
}

/* Frames that nobody but our programs knows. */
static int send_frames_on(const char *dev)
{
	struct sockaddr_ll to = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(PROGTYPES_ETHERTYPE),
		.sll_ifindex = if_nametoindex(dev),
		.sll_halen = ETH_ALEN,
		.sll_addr = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff },
	};
	char payload[64] = {};
	int i, fd;

	fd = socket(AF_PACKET, SOCK_DGRAM, 0);
	for (i = 0; i < RUNS; i++)
		if (sendto(fd, payload, sizeof(payload), 0, (struct sockaddr *)&to,
			   sizeof(to)) != sizeof(payload))
			return -errno;
	close(fd);
	return 0;
}

static int send_frames(struct run *run)
{
	return send_frames_on(OUT);
}

/* ---- Interfaces --------------------------------------------------------- */

static int attach_xdp(struct run *run)
{
	run->link = bpf_program__attach_xdp(run->prog, if_nametoindex(IN));
	return run->link ? 0 : -errno;
}

static int attach_tcx(struct run *run)
{
	run->link = bpf_program__attach_tcx(run->prog, if_nametoindex(IN), NULL);
	return run->link ? 0 : -errno;
}

static int attach_tc(struct run *run)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = if_nametoindex(IN),
		    .attach_point = BPF_TC_INGRESS);
	LIBBPF_OPTS(bpf_tc_opts, opts, .prog_fd = run->prog_fd);
	int err = bpf_tc_hook_create(&hook);

	return err ?: bpf_tc_attach(&hook, &opts);
}

static void detach_tc(struct run *run)
{
	shell("tc qdisc del dev " IN " clsact");
}

static int attach_action(struct run *run)
{
	int err = bpf_program__pin(run->prog, PIN);

	if (err)
		return err;
	return shell("tc qdisc add dev " IN " clsact && tc filter add dev " IN
		     " ingress matchall action bpf object-pinned " PIN) ? -EINVAL : 0;
}

static void detach_action(struct run *run)
{
	detach_tc(run);
	bpf_program__unpin(run->prog, PIN);
}

static int attach_netkit(struct run *run)
{
	if (shell("ip link add nk0 type netkit mode l2 peer name nk1 && "
		  "ip link set nk0 up && ip link set nk1 up"))
		return -EINVAL;
	run->link = bpf_program__attach_netkit(run->prog, if_nametoindex("nk0"), NULL);
	return run->link ? 0 : -errno;
}

static int send_frames_netkit(struct run *run)
{
	return send_frames_on("nk0");
}

static int attach_netfilter(struct run *run)
{
	LIBBPF_OPTS(bpf_netfilter_opts, opts, .pf = NFPROTO_IPV4,
		    .hooknum = NF_INET_LOCAL_OUT, .priority = -128);

	run->fd = bound_socket(SOCK_DGRAM);
	run->link = bpf_program__attach_netfilter(run->prog, &opts);
	return run->link ? 0 : -errno;
}

/* ---- Routes that run a program: where encapsulation would be done ------- */

#define ROUTED	"198.51.100.1"

static int send_routed(struct run *run)
{
	struct sockaddr_in to = here;

	to.sin_addr.s_addr = inet_addr(ROUTED);
	return send_datagrams(&to);
}

static int attach_route(struct run *run)
{
	const char *hook = run->type->type + strlen("lwt_");
	bool in = !strcmp(hook, "in");
	int err = bpf_program__pin(run->prog, PIN);

	if (err)
		return err;
	run->fd = bound_socket(SOCK_DGRAM);
	/* What comes in is for ourselves, what goes out has a next hop. */
	return shell("ip neigh add " ROUTED " lladdr 02:00:00:00:00:01 dev " OUT " && "
		     "ip route add %s " ROUTED "/32 encap bpf %s pinned " PIN " dev %s",
		     in ? "table local local" : "", hook, in ? "lo" : OUT) ? -EINVAL : 0;
}

static void detach_route(struct run *run)
{
	shell("ip route del %s " ROUTED "/32",
	      strcmp(run->type->type, "lwt_in") ? "" : "table local local");
	bpf_program__unpin(run->prog, PIN);
}

#define SEGMENT	"fd00::1"

static int attach_seg6local(struct run *run)
{
	int err = bpf_program__pin(run->prog, PIN);

	if (err)
		return err;
	return shell("ip -6 route add " SEGMENT "/128 encap seg6local action End.BPF "
		     "endpoint pinned " PIN " dev " IN) ? -EINVAL : 0;
}

static void detach_seg6local(struct run *run)
{
	shell("ip -6 route del " SEGMENT "/128");
	bpf_program__unpin(run->prog, PIN);
}

/* A packet on its way through SEGMENT: IPv6, routing header with two segments, UDP. */
static int send_segments(struct run *run)
{
	struct sockaddr_ll to = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_IPV6),
		.sll_ifindex = if_nametoindex(OUT),
		.sll_halen = ETH_ALEN,
		.sll_addr = { 0x02, 0, 0, 0, 0, 1 },
	};
	struct {
		struct ipv6hdr ip;
		struct ipv6_sr_hdr srh;
		struct in6_addr segments[2];
		struct udphdr udp;
	} __attribute__((packed)) packet = {
		.ip = { .version = 6, .nexthdr = 43, .hop_limit = 64 },
		.srh = { .nexthdr = IPPROTO_UDP, .hdrlen = 4, .type = 4,
			 .segments_left = 1, .first_segment = 1 },
		.udp = { .len = htons(sizeof(struct udphdr)) },
	};
	int i, fd;

	packet.ip.payload_len = htons(sizeof(packet) - sizeof(packet.ip));
	inet_pton(AF_INET6, "fd00::99", &packet.ip.saddr);
	inet_pton(AF_INET6, SEGMENT, &packet.ip.daddr);
	inet_pton(AF_INET6, "fd00::2", &packet.segments[0]);
	inet_pton(AF_INET6, SEGMENT, &packet.segments[1]);

	fd = socket(AF_PACKET, SOCK_DGRAM, 0);
	for (i = 0; i < RUNS; i++)
		if (sendto(fd, &packet, sizeof(packet), 0, (struct sockaddr *)&to,
			   sizeof(to)) != sizeof(packet))
			return -errno;
	close(fd);
	return 0;
}

/* ---- Sockets with a program --------------------------------------------- */

static int attach_socket_filter(struct run *run)
{
	run->fd = bound_socket(SOCK_DGRAM);
	return setsockopt(run->fd, SOL_SOCKET, SO_ATTACH_BPF, &run->prog_fd,
			  sizeof(run->prog_fd)) ? -errno : 0;
}

static void detach_socket(struct run *run)
{
	close(run->fd);
}

static int attach_sk_reuseport(struct run *run)
{
	int one = 1;

	run->fd = socket(AF_INET, SOCK_DGRAM, 0);
	if (setsockopt(run->fd, SOL_SOCKET, SO_REUSEPORT, &one, sizeof(one)) ||
	    setsockopt(run->fd, SOL_SOCKET, SO_ATTACH_REUSEPORT_EBPF, &run->prog_fd,
		       sizeof(run->prog_fd)) ||
	    bind(run->fd, (const struct sockaddr *)&here, sizeof(here)))
		return -errno;
	return 0;
}

static int attach_netns(struct run *run)
{
	int ns = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);

	run->fd = bound_socket(SOCK_DGRAM);
	run->link = bpf_program__attach_netns(run->prog, ns);
	close(ns);
	return run->link ? 0 : -errno;
}

static int attach_sockmap(struct run *run)
{
	int map = bpf_object__find_map_fd_by_name(run->log.obj, "socks");

	run->link = bpf_program__attach_sockmap(run->prog, map);
	return run->link ? 0 : -errno;
}

/* Sends byte by byte; `which` end of the connection is in the map. */
static int talk(struct run *run, int which)
{
	int map = bpf_object__find_map_fd_by_name(run->log.obj, "socks");
	int listener = bound_socket(SOCK_STREAM);
	__u32 key = 0, fd;
	int i, err, pair[2];
	char got;

	err = tcp_pair(listener, NULL, pair);
	if (err)
		return err;
	fd = pair[which];
	err = bpf_map_update_elem(map, &key, &fd, BPF_ANY);
	if (err)
		return err;
	for (i = 0; i < RUNS; i++)
		if (send(pair[0], &(char){ 'a' + i }, 1, 0) != 1 ||
		    recv(pair[1], &got, 1, 0) != 1 || got != 'a' + i)
			return -EIO;
	err = bpf_map_delete_elem(map, &key);
	close(pair[0]);
	close(pair[1]);
	close(listener);
	return err;
}

static int talk_to_map(struct run *run)
{
	return talk(run, 1);
}

static int talk_from_map(struct run *run)
{
	return talk(run, 0);
}

/* ---- Control groups ----------------------------------------------------- */

static char home[PATH_MAX];	/* the test's own group, to which it returns */
static char group[64];		/* to which the program is attached */

static int enter(const char *dir)
{
	char path[PATH_MAX + 32], text[16];
	int fd, n;

	snprintf(path, sizeof(path), "%s/cgroup.procs", dir);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	n = snprintf(text, sizeof(text), "%d", getpid());
	if (fd < 0 || write(fd, text, n) != n)
		return -errno;
	close(fd);
	return 0;
}

static int attach_cgroup(struct run *run)
{
	char line[PATH_MAX] = "";
	FILE *f = fopen("/proc/self/cgroup", "r");
	int fd;

	/* The line of cgroup2: "0::/path". */
	while (f && fgets(line, sizeof(line), f) && strncmp(line, "0::", 3))
		;
	fclose(f);
	line[strcspn(line, "\n")] = 0;
	snprintf(home, sizeof(home), CGROUP2 "%.*s", PATH_MAX - 32, line + 3);

	snprintf(group, sizeof(group), CGROUP2 "/progtypes.%d", getpid());
	if (mkdir(group, 0755))
		return -errno;
	fd = open(group, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	run->fd = bound_socket(SOCK_DGRAM);
	run->link = bpf_program__attach_cgroup(run->prog, fd);
	close(fd);
	return run->link ? 0 : -errno;
}

static void leave_cgroup(void)
{
	if (!group[0])
		return;
	enter(home);
	rmdir(group);
	group[0] = 0;
}

/* Sockets belong to the group in which they are made: it is the act that makes them. */
static int act_in_cgroup(struct run *run)
{
	int err = enter(group);

	err = err ?: run->type->act(run);
	return err ?: enter(home);
}

static int connect_udp(struct run *run)
{
	int i, fd, err = 0;

	for (i = 0; i < RUNS && !err; i++) {
		fd = socket(AF_INET, SOCK_DGRAM, 0);
		err = connect(fd, (const struct sockaddr *)&here, sizeof(here)) ? -errno : 0;
		close(fd);
	}
	return err;
}

static int connect_plain(struct run *run)
{
	return connect_tcp(NULL);
}

static int make_sockets(struct run *run)
{
	int i;

	for (i = 0; i < RUNS; i++)
		close(socket(AF_INET, SOCK_DGRAM, 0));
	return 0;
}

/* The first byte of a file, opened anew each time. */
static int read_file(const char *path)
{
	char byte;
	int i, fd;

	for (i = 0; i < RUNS; i++) {
		fd = open(path, O_RDONLY);
		if (fd < 0 || read(fd, &byte, 1) < 0)
			return -errno;
		close(fd);
	}
	return 0;
}

static int open_null(struct run *run)
{
	return read_file("/dev/null");
}

static int read_sysctl(struct run *run)
{
	return read_file("/proc/sys/net/ipv4/ip_forward");
}

static int get_option(struct run *run)
{
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	socklen_t len;
	int i, type;

	for (i = 0; i < RUNS; i++) {
		len = sizeof(type);
		if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len))
			return -errno;
		if (type != SOCK_DGRAM)
			return -EIO;
	}
	close(fd);
	return 0;
}

static int set_option(struct run *run)
{
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	int i, one = 1;

	for (i = 0; i < RUNS; i++)
		if (setsockopt(fd, SOL_SOCKET, SO_PRIORITY, &one, sizeof(one)))
			return -errno;
	close(fd);
	return 0;
}

/* ---- Congestion control ------------------------------------------------- */

static int attach_struct_ops(struct run *run)
{
	run->link = bpf_map__attach_struct_ops(
			bpf_object__find_map_by_name(run->log.obj, run->type->map));
	return run->link ? 0 : -errno;
}

static int connect_congested(struct run *run)
{
	return connect_tcp("progtypes");
}

/* ---- The types ---------------------------------------------------------- */

FIXTURE_SETUP(written_from)
{
	ASSERT_EQ(unshare(CLONE_NEWNET), 0);
	ASSERT_EQ(shell("ip link set lo up && "
			"ip link add " OUT " type veth peer name " IN
			" address 02:00:00:00:00:01 && "
			"ip link set " OUT " up && ip link set " IN " up"), 0);
}

FIXTURE_TEARDOWN(written_from)
{
	leave_cgroup();
	unlink(PIN);
}

#define CGROUP(id, name, ...)							\
	PROGTYPE(id, name, RUNS, .attach = attach_cgroup,			\
		 .trigger = act_in_cgroup, .act = __VA_ARGS__)

PROGTYPE(xdp, "xdp", RUNS, .attach = attach_xdp, .trigger = send_frames);
PROGTYPE(tc, "tc", RUNS, .attach = attach_tc, .trigger = send_frames, .detach = detach_tc);
PROGTYPE(tcx, "tcx", RUNS, .attach = attach_tcx, .trigger = send_frames);
PROGTYPE(netkit, "netkit", RUNS, .config = "CONFIG_NETKIT", .attach = attach_netkit,
	 .trigger = send_frames_netkit);
PROGTYPE(action, "action", RUNS, .attach = attach_action, .trigger = send_frames,
	 .detach = detach_action);
/* The kernel dissects a frame whenever it wants to know its hash. */
PROGTYPE(flow_dissector, "flow_dissector", AT_LEAST_ONE, .attach = attach_netns,
	 .trigger = send_frames);
PROGTYPE(netfilter, "netfilter", RUNS, .config = "CONFIG_NETFILTER_BPF_LINK",
	 .attach = attach_netfilter, .trigger = send_udp);
PROGTYPE(lwt_in, "lwt_in", RUNS, .config = "CONFIG_LWTUNNEL_BPF", .attach = attach_route,
	 .trigger = send_routed, .detach = detach_route);
PROGTYPE(lwt_out, "lwt_out", RUNS, .config = "CONFIG_LWTUNNEL_BPF", .attach = attach_route,
	 .trigger = send_routed, .detach = detach_route);
PROGTYPE(lwt_xmit, "lwt_xmit", RUNS, .config = "CONFIG_LWTUNNEL_BPF", .attach = attach_route,
	 .trigger = send_routed, .detach = detach_route);
PROGTYPE(lwt_seg6local, "lwt_seg6local", RUNS, .config = "CONFIG_IPV6_SEG6_BPF",
	 .attach = attach_seg6local, .trigger = send_segments, .detach = detach_seg6local);

PROGTYPE(socket_filter, "socket_filter", RUNS, .attach = attach_socket_filter,
	 .trigger = send_udp, .detach = detach_socket);
PROGTYPE(sk_reuseport, "sk_reuseport", RUNS, .attach = attach_sk_reuseport,
	 .trigger = send_udp, .detach = detach_socket);
PROGTYPE(sk_lookup, "sk_lookup", RUNS, .attach = attach_netns, .trigger = send_udp);
PROGTYPE(sk_skb, "sk_skb", RUNS, .config = "CONFIG_BPF_STREAM_PARSER",
	 .attach = attach_sockmap, .trigger = talk_to_map);
PROGTYPE(sk_msg, "sk_msg", RUNS, .attach = attach_sockmap, .trigger = talk_from_map);
PROGTYPE(struct_ops, "struct_ops", RUNS, .map = "progtypes_cc", .attach = attach_struct_ops,
	 .trigger = connect_congested);

CGROUP(cgroup_skb, "cgroup_skb", send_udp);
CGROUP(sock_addr, "cgroup/connect4", connect_udp);
CGROUP(sockops, "sockops", connect_plain);
CGROUP(cgroup_sock, "cgroup/sock_create", make_sockets);
CGROUP(cgroup_dev, "cgroup/dev", open_null);
CGROUP(cgroup_sysctl, "cgroup/sysctl", read_sysctl);
CGROUP(getsockopt, "cgroup/getsockopt", get_option);
CGROUP(setsockopt, "cgroup/setsockopt", set_option);
CGROUP(lsm_cgroup, "lsm_cgroup", make_sockets, .config = "CONFIG_BPF_LSM");

PROGTYPE(lirc_mode2, "lirc_mode2", RUNS, .config = "CONFIG_BPF_LIRC_MODE2");

TEST_F_TIMEOUT(written_from, read_back, 120)
{
	check_type(_metadata, "progtypes_net", &variant->type);
}

TEST_HARNESS_MAIN
