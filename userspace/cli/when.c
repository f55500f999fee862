// SPDX-License-Identifier: GPL-2.0-only
/* Times: as the user says them, and as they are shown. */
#define _GNU_SOURCE	/* timegm(), strptime(), tm_gmtoff */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli.h"
#include "reading.h"

#define NSEC	1000000000LL

/* "5m", "1.5h": so long ago. */
static bool parse_ago(const char *text, unsigned long long *ns)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = {
		{ "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 }, { "m", 60e9 },
		{ "h", 3600e9 }, { "d", 86400e9 },
	};
	double number;
	char *end;
	size_t i;

	if (!isdigit((unsigned char)*text))
		return false;
	number = strtod(text, &end);
	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(end, units[i].unit) || number * units[i].ns >= 9e18)
			continue;
		*ns = number * units[i].ns;
		return true;
	}
	return false;
}

/* Behind the seconds: ".123", then Z or +01:00. */
static bool parse_zone(const char *s, long long *ns)
{
	long long unit = NSEC, fraction = 0;
	int hours, minutes, len = 0;

	if (*s == '.')
		for (s++; isdigit((unsigned char)*s) && unit > 1; s++) {
			unit /= 10;
			fraction += (*s - '0') * unit;
		}
	*ns = fraction;
	if (!strcmp(s, "Z"))
		return true;
	if ((*s != '+' && *s != '-') || !isdigit((unsigned char)s[1]) ||
	    sscanf(s + 1, "%2d:%2d%n", &hours, &minutes, &len) != 2 || len != 5 || s[6] ||
	    minutes > 59)
		return false;
	*ns -= (*s == '-' ? -1 : 1) * (hours * 60 + minutes) * 60 * NSEC;
	return true;
}

static bool parse_iso(const char *text, long long *ns)
{
	struct tm tm = {};
	const char *rest;

	rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
	if (!rest || !parse_zone(rest, ns))
		return false;
	*ns += timegm(&tm) * NSEC;
	return true;
}

bool parse_when(const char *text, const struct bpfrelay_log *log, unsigned long long *ts)
{
	const struct bpfrelay_log_info *info = log ? bpfrelay_log_info(log) : NULL;
	unsigned long long ago, now;
	long long real;

	if (parse_ago(text, &ago)) {
		now = log ? bpfrelay_log_now(log) : 0;
		/* 0 is no limit. */
		*ts = now > ago ? now - ago : 1;
		return true;
	}
	if (!parse_iso(text, &real))
		return false;
	real -= info ? info->real_offset : 0;
	*ts = real > 0 ? real : 1;
	return true;
}

int format_when(char *to, size_t size, enum when_format format,
		const struct bpfrelay_log_info *info, unsigned long long ts)
{
	long long real = ts + info->real_offset;
	time_t seconds = real / NSEC;
	long ns = real % NSEC, zone;
	struct tm tm;

	if (format == WHEN_LOG)
		return snprintf(to, size, "%llu.%09llu", ts / NSEC, ts % NSEC);
	if (ns < 0) {
		ns += NSEC;
		seconds--;
	}
	if (!(format == WHEN_UTC ? gmtime_r(&seconds, &tm) : localtime_r(&seconds, &tm)))
		return snprintf(to, size, "%lld.%09ldZ", (long long)seconds, ns);
	zone = tm.tm_gmtoff / 60;
	size = snprintf(to, size, "%04d-%02d-%02dT%02d:%02d:%02d.%09ld", tm.tm_year + 1900,
			tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, ns);
	if (format == WHEN_UTC)
		return size + sprintf(to + size, "Z");
	return size + sprintf(to + size, "%c%02ld:%02ld", zone < 0 ? '-' : '+', labs(zone) / 60,
			      labs(zone) % 60);
}
