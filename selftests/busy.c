// SPDX-License-Identifier: GPL-2.0-only
/*
 * A process that does what it is told, for tests that watch it. Standard input:
 *	tick N		calls busy_tick() N times; it has the USDT probe busy:tick
 *	spin MS		uses that much CPU time, in busy_spin() below busy_outer()
 *	thread		starts a thread; from then on that one does what is told
 *	frames N IF	sends N frames of FRAME_SIZE bytes, numbered from 0 in the byte
 *			behind the header; N = 0: until there is more input
 * Each is answered by a line: "done", and how many frames. Ends with its input.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <sys/sdt.h>

#define FRAME_SIZE	64
#define ETHERTYPE	0x88b5	/* for local experiments */

/* Makes the compiler keep a frame pointer, by which stacks are followed. */
#define KEEP_FRAME()	asm volatile("" : : "r"(__builtin_frame_address(0)) : "memory")

__attribute__((noinline)) void busy_tick(int i)
{
	DTRACE_PROBE1(busy, tick, i);
	KEEP_FRAME();
}

static long long cpu_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}

__attribute__((noinline)) unsigned int busy_spin(unsigned int x)
{
	int i;

	KEEP_FRAME();
	for (i = 0; i < 1000000; i++)
		asm volatile("" : "+r"(x));
	return x;
}

__attribute__((noinline)) void busy_outer(int ms)
{
	long long until = cpu_ms() + ms;

	KEEP_FRAME();
	while (cpu_ms() < until) {
		busy_spin(ms);
		KEEP_FRAME();
	}
}

/* Returns how many, or -1. */
static int send_frames(int n, const char *dev)
{
	struct sockaddr_ll to = {
		.sll_family = AF_PACKET,
		.sll_ifindex = if_nametoindex(dev),
	};
	unsigned char frame[FRAME_SIZE] = {
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02, 0, 0, 0, 0, 0x01,
		ETHERTYPE >> 8, ETHERTYPE & 0xff,
	};
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	int i, fd;

	fd = socket(AF_PACKET, SOCK_RAW, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&to, sizeof(to)))
		return -1;
	for (i = 0; n ? i < n : !poll(&input, 1, 0); i++) {
		frame[ETH_HLEN] = i;
		if (write(fd, frame, sizeof(frame)) != sizeof(frame))
			return -1;
		usleep(n ? 1000 : 10000);
	}
	close(fd);
	return i;
}

static void *obey(void *unused)
{
	char line[64], what[16], dev[IF_NAMESIZE];
	pthread_t thread;
	int i, n, frames;

	while (fgets(line, sizeof(line), stdin)) {
		n = frames = 0;
		if (sscanf(line, "%15s %d %15s", what, &n, dev) < 1)
			continue;
		if (!strcmp(what, "tick"))
			for (i = 0; i < n; i++)
				busy_tick(i);
		else if (!strcmp(what, "spin"))
			busy_outer(n);
		else if (!strcmp(what, "frames"))
			frames = send_frames(n, dev);
		printf("done %d\n", frames);
		if (!strcmp(what, "thread") && !pthread_create(&thread, NULL, obey, NULL))
			pthread_join(thread, NULL);
	}
	return NULL;
}

int main(void)
{
	setvbuf(stdin, NULL, _IONBF, 0);
	setvbuf(stdout, NULL, _IOLBF, 0);
	obey(NULL);
	return 0;
}
