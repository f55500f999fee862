// SPDX-License-Identifier: GPL-2.0-only
/* What the kernel supplies to render.c. */
#include <arpa/inet.h>
#include "tables.h"

/* A kernel whose every function is 0x1000 bytes long and bears its address as a name. */
void render_symbol(const struct render *r, char to[RENDER_SYMBOL_MAX], u64 addr)
{
	(void)r;
	if (addr < 0x10000)
		snprintf(to, RENDER_SYMBOL_MAX, "0x%llx", addr);
	else
		snprintf(to, RENDER_SYMBOL_MAX, "f%llx+0x%llx/0x1000", addr >> 12, addr & 0xfff);
}

void render_ipv6(char to[RENDER_IPV6_MAX], const u8 *addr)
{
	inet_ntop(AF_INET6, addr, to, RENDER_IPV6_MAX);
}
