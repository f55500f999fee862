// SPDX-License-Identifier: GPL-2.0-only
/* Filters: what they match, and what is said of those that are none. */
#include <errno.h>
#include <fnmatch.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../kernel/fields.h"
#include "filter.h"
#include "filter_log.h"
#include "ktap.h"

static struct bpfrelay_log test_log;
static char said[4096];

static void keep(void *ctx, const char *fmt, va_list args)
{
	(void)ctx;
	vsnprintf(said, sizeof(said), fmt, args);
}

/* Which of the three records: 1, 2 and 4; -1: it is no filter. */
static int matches(const char *text)
{
	struct bpfrelay_filter *filter;
	int i, set = 0;

	said[0] = '\0';
	if (bpfrelay_filter_new(&test_log, text, &filter))
		return -1;
	for (i = 0; i < 3; i++)
		set |= bpfrelay_filter_match(filter, &records[i]) << i;
	bpfrelay_filter_free(filter);
	return set;
}

static const struct {
	const char *text;
	int set;
} good[] = {
	/* Numbers: any sign and width against any. */
	{ "pid == 4294967295", 1 }, { "pid == 0xFFFFffff", 1 }, { "pid == -1", 0 },
	{ "pid > -1", 7 }, { "pid <= 1", 6 }, { "pid < 1", 0 }, { "pid >= 1", 7 },
	{ "prio == -5", 1 }, { "prio < 0", 1 }, { "prio < 18446744073709551615", 1 },
	{ "prio > -6", 1 }, { "prio >= -4", 0 }, { "prio != 4294967291", 1 },
	{ "big == 18446744073709551615", 1 }, { "big > 9223372036854775807", 1 },
	{ "big > -9223372036854775808", 1 }, { "big == -1", 0 },
	{ "low == -9223372036854775808", 1 }, { "low < -9223372036854775807", 1 },
	{ "low < 0", 1 }, { "low == 9223372036854775808", 0 }, { "pid == 010", 0 },
	{ "mask == 0xff", 1 }, { "mask == -1", 1 }, { "mask == 0x7f", 0 }, { "mask < 0", 0 },
	{ "port == 80", 1 }, { "level == 5", 1 }, { "twist == -1", 1 }, { "twist < 0", 1 },
	{ "flag", 1 }, { "flag == true", 1 }, { "flag != false", 1 }, { "flag == false", 0 },
	{ "blob[1] == 8", 1 }, { "comm[0] == 98", 1 },
	/* Bits. */
	{ "tcp[0].flags & 0x10", 1 }, { "tcp[0].flags & 0x12 == 0x12", 1 },
	{ "tcp[0].flags&0x20", 0 }, { "tcp[0].flags & 1 == 0 && pid", 1 },
	{ "prio & 0xff == 0xfb", 1 }, { "verdict & PASS", 1 }, { "verdict & DROP", 0 },
	/* Floating-point numbers, of either size: 0.5, and 0.1 as a float and as a double. */
	{ "ratio == 0.5", 1 }, { "ratio == 5e-1", 1 }, { "ratio != 0.5", 0 }, { "ratio > 0", 1 },
	{ "ratio > -1", 1 }, { "ratio < 1", 1 }, { "ratio <= 0.5", 1 }, { "ratio < 0.5", 0 },
	{ "ratio >= 0.50000001", 1 }, { "ratio in (1, 0.5)", 1 }, { "ratio", 1 }, { "!ratio", 6 },
	{ "rates[0] == 0.1", 1 }, { "rates[0] < 0.1000001", 1 }, { "exact == 0.1", 1 },
	{ "exact == 0.1000000000000001", 0 }, { "exact == 1E-1", 1 }, { "exact == 1e+1", 0 },
	{ "rates[1] == -3", 1 }, { "rates[1] < -2.5", 1 }, { "rates[1] == -0x3", 1 },
	{ "rates[1] == 18446744073709551613", 0 },
	/* What is no number is like none. */
	{ "none == 0", 0 }, { "none != 0", 1 }, { "none < 0", 0 }, { "none >= 0", 0 }, { "none", 1 },
	{ "none in (0, 1)", 0 },
	/* Paths. */
	{ "tcp[1].sport == 443", 1 }, { "grid[1][2] == 6", 1 }, { "grid[0][0] == 6", 0 },
	{ "line[4] == 111", 2 }, { "line[0] == 104", 2 },
	/* Enums. */
	{ "verdict == PASS", 1 }, { "verdict == 2", 1 }, { "verdict in (DROP, PASS)", 1 },
	{ "verdict != DROP", 1 }, { "verdict < LAST", 1 }, { "mood == SAD", 1 },
	{ "mood < 0", 1 }, { "verdict == \"PASS\"", 1 },
	/* Text. */
	{ "comm == \"ba\\\"sh\"", 1 }, { "comm == 'ba\"sh'", 1 }, { "comm != 'ba'", 1 },
	{ "comm =~ 'ba*'", 1 }, { "comm =~ '??[\"]s?'", 1 }, { "comm =~ 'b'", 0 },
	{ "comm in ('x', 'ba\\x22sh')", 1 }, { "line == 'hello'", 2 }, { "line == ''", 4 },
	{ "line =~ '*'", 6 }, { "line != 'hello'", 4 },
	/* Addresses. */
	{ "saddr == 192.0.2.77", 1 }, { "saddr != 192.0.2.77", 0 }, { "saddr == 192.0.2.0/24", 1 },
	{ "saddr == 192.0.2.64/28", 1 }, { "saddr == 192.0.2.64/29", 0 },
	{ "saddr == 0.0.0.0/0", 1 }, { "saddr == 192.0.2.76/31", 1 },
	{ "saddr in (10.0.0.0/8, 192.0.0.0/16)", 1 }, { "saddr == \"192.0.2.77\"", 1 },
	{ "net6 == 2001:db8::17", 1 }, { "net6 == 2001:db8::/32", 1 }, { "net6 == ::/0", 1 },
	{ "net6 == 2001:db9::/32", 0 }, { "net6 == 2001:db8::16/127", 1 },
	{ "mac == 02:00:5e:ff:53:01", 1 }, { "mac == 2:0:5E:FF:53:1", 1 },
	{ "mac in (02:00:5e:ff:53:02)", 0 }, { "saddr[0] == 192", 1 },
	/* Of the record; a field of that name goes first. */
	{ "cpu == 3", 1 }, { "cpu == 4", 0 }, { "cpu == 7", 6 }, { "type == 'more'", 6 },
	{ "type =~ '?l*'", 1 }, { "ts >= 2000", 6 }, { "ts in (1000, 3000)", 5 },
	/* Expressions. A test of a field that is not there is false. */
	{ "pid == 1 && cpu == 7", 6 }, { "pid == 1 || prio == -5", 7 },
	{ "prio == -5 || pid == 1 && line == 'hello'", 3 },
	{ "(prio == -5 || pid == 1) && line == 'hello'", 2 },
	{ "!prio", 6 }, { "!(line == 'hello')", 5 }, { "!!flag", 1 }, { "prio != 0", 1 },
	{ "  pid==1&&!(  line=='hello')\n", 4 }, { "pid in (1)", 6 }, { "pid in(2,3,1)", 6 },
};

static const struct {
	const char *text;
	int column;
	const char *why;
} bad[] = {
	{ "", 1, "ends where a field should be" },
	{ "pid ==", 7, "ends where a number, an address" },
	{ "pid = 5", 5, "'=' where ==" },
	{ "pid == 5 line", 10, "'line' where && or ||" },
	{ "pid == 5 &&", 12, "ends where a field" },
	{ "pid == 5 & 1", 10, "'&' where && or ||" },
	{ "pid inside (1)", 5, "'inside' where ==" },
	{ "pid in 1", 8, "'1' where (" },
	{ "pid in (1", 10, "ends where , or )" },
	{ "pid in ()", 9, "')' where a number" },
	{ "(pid == 1", 10, "ends where &&, || or )" },
	{ "pid == 1)", 9, "')' where && or ||" },
	{ "5 == pid", 1, "'5' where a field" },
	{ "pid == 18446744073709551616", 8, "is no number of 64 bits" },
	{ "low == -9223372036854775809", 8, "is no number of 64 bits" },
	{ "pid == 0x", 8, "is no number" }, { "pid == 5x", 8, "is no number" },
	{ "pid == --5", 8, "is no number" }, { "pid == PASS", 8, "'PASS' is no number" },
	{ "pid & x", 7, "'x' is no number" },
	{ "pid =~ '1*'", 1, "'pid' is a number, and =~ is for text" },
	{ "verdict == XDP", 12, "and none of DROP, PASS, LAST" },
	{ "comm == bash", 9, "wants quotes" },
	{ "comm < 'bash'", 1, "'comm' is text" }, { "comm", 1, "'comm' is text" },
	{ "comm & 1", 1, "'comm' is text" },
	{ "comm == 'bash", 9, "a string without its end" },
	{ "comm == 'a\\q'", 12, "no such escape" }, { "comm == 'a\\x00'", 14, "no such escape" },
	{ "comm == 'a\\x4", 12, "no such escape" }, { "comm == '\\", 11, "no such escape" },
	{ "saddr == 192.0.2", 10, "is no IPv4 address" },
	{ "saddr == 192.0.2.1/33", 10, "is no IPv4 address" },
	{ "saddr == 192.0.2.1/", 10, "is no IPv4 address" },
	{ "saddr == 192.0.2.1/-1", 10, "is no IPv4 address" },
	{ "saddr in (192.0.2.1, ::1)", 22, "'::1' is no IPv4 address" },
	{ "net6 == 192.0.2.1", 9, "is no IPv6 address" }, { "net6 == ::/129", 9, "is no IPv6" },
	{ "mac == 1:2:3:4:5", 8, "is no MAC" }, { "mac == 1:2:3:4:5:6:7", 8, "is no MAC" },
	{ "mac == 02:00:5e:ff:53:001", 8, "is no MAC" },
	{ "saddr < 192.0.2.1", 1, "'saddr' is an address" }, { "saddr", 1, "is an address" },
	{ "tcp == 1", 1, "'tcp' is an array" }, { "tcp[0] == 1", 1, "'tcp[0]' is a struct" },
	{ "grid[0] == 1", 1, "is an array" }, { "rates > 0", 1, "'rates' is an array: name one" },
	{ "ratio & 1", 1, "'ratio' is a floating-point number" }, { "ratio =~ '5'", 1, "no =~" },
	{ "ratio > x", 9, "'x' is no number" }, { "ratio > nan", 9, "'nan' is no number" },
	{ "ratio > inf", 9, "'inf' is no number" }, { "ratio > 1.5.2", 9, "'1.5.2' is no number" },
	{ "ratio > 1e", 9, "'1e' is no number" }, { "ratio > .5", 9, "'.5' is no number" },
	{ "ratio > 0x1p-1", 9, "'0x1p' is no number" }, { "pid > 0.5", 7, "'0.5' is no number of 64 bits" },
	{ "blob == 7", 1, "'blob' is bytes" },
	{ "grid[2][0] == 1", 1, "'grid[2][0]' is beyond the end of grid, which has 2 elements" },
	{ "grid[1][3] == 1", 1, "is beyond the end of grid[1], which has 3 elements" },
	{ "tcp[2].sport == 1", 1, "is beyond the end of tcp, which has 2 elements" },
	{ "line[4294967295] == 1", 1, "is beyond the end of any record" },
	{ "tcp[0]. == 1", 1, "'tcp[0].' is no field" }, { "tcp[ == 1", 1, "is no field" },
	{ "pid.x == 1", 1, "no type has a field 'pid.x'" },
	{ "nosuch == 1", 1, "all has pid, prio, big, low, saddr, net6, mac, flag, level, twist, comm, "
	  "verdict, mood, mask, port, tcp.sport, tcp.flags, grid, ratio, rates, exact, none, blob; more has pid, cpu, line" },
	{ "pid == 1 && nosuch", 13, "no type has a field 'nosuch'" },
	{ "pid == 1 && (", 14, "ends where a field" },
};

static void test_good(void)
{
	size_t i;
	int set;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		set = matches(good[i].text);
		if (!ktap_ok(set == good[i].set, "filter: %s", good[i].text))
			printf("# records %d, not %d %s\n", set, good[i].set, said);
	}
}

static void test_bad(void)
{
	char column[32];
	size_t i;
	bool ok;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		snprintf(column, sizeof(column), "filter, column %d: ", bad[i].column);
		ok = matches(bad[i].text) == -1 && !strncmp(said, column, strlen(column)) &&
		     strstr(said, bad[i].why);
		if (!ktap_ok(ok, "filter: refused: %s", bad[i].text))
			printf("# said: %s\n", said);
	}
}

/* A filter of `n` pieces: it matches what the last one does. */
static int many(const char *piece, int n, const char *last)
{
	size_t len = strlen(piece), all = len * n + strlen(last) + 1;
	char *text = malloc(all);
	int i, set;

	for (i = 0; i < n; i++)
		memcpy(text + i * len, piece, len);
	strcpy(text + n * len, last);
	set = matches(text);
	free(text);
	return set;
}

static bool is_slow;	/* planted: by all that a "*" may stand for */

static bool match_slowly(const char *p, const char *s)
{
	if (*p != '*')
		return *s ? *p == *s && match_slowly(p + 1, s + 1) : !*p;
	return match_slowly(p + 1, s) || (*s && match_slowly(p, s + 1));
}

/* Any pattern of few characters against any text, as fnmatch() of the C library has it. */
static void test_globs(void)
{
	static const char of_pattern[] = "ab-]![*?\\^*", of_text[] = "ab-]![\\\xff";
	char pattern[9], text[9];
	int n, i, wrong = 0, yes = 0;

	for (n = 0; n < 300000; n++) {
		int plen = rand() % 9, tlen = rand() % 9;

		for (i = 0; i < plen; i++)
			pattern[i] = of_pattern[rand() % (sizeof(of_pattern) - 1)];
		for (i = 0; i < tlen; i++)
			text[i] = of_text[rand() % (sizeof(of_text) - 1)];
		pattern[plen] = text[tlen] = '\0';
		/* In "[a-" glibc has not even a "[". */
		if (plen && pattern[plen - 1] == '-')
			continue;
		yes += glob_match(pattern, text, tlen);
		if (glob_match(pattern, text, tlen) == !fnmatch(pattern, text, 0))
			continue;
		if (!wrong++)
			printf("# '%s' and '%s'\n", pattern, text);
	}
	ktap_ok(!wrong && yes > 10000, "glob: as fnmatch(): %d of %d match, %d are wrong", yes, n, wrong);
}

static volatile sig_atomic_t late;

static void too_late(int signal)
{
	(void)signal;
	late = 1;
	if (is_slow)
		_exit(0);
}

/* 4096 times "*a" in a text of 64 KiB that has no b; what is tried in vain takes years. */
static void test_stars(void)
{
	char *text = malloc(65536), *pattern = malloc(8194);
	int i, status;
	pid_t child;

	memset(text, 'a', 65535);
	text[65535] = '\0';
	for (i = 0; i < 4096; i++)
		memcpy(pattern + 2 * i, "*a", 2);
	strcpy(pattern + 8192, "b");
	signal(SIGALRM, too_late);
	alarm(60);
	ktap_ok(!glob_match(pattern, text, 65535) && !late, "glob: thousands of * end");
	alarm(0);
	child = fork();
	if (!child) {
		is_slow = true;
		alarm(2);
		_exit(match_slowly(pattern, text + 65535 - 200) ? 1 : 2);
	}
	waitpid(child, &status, 0);
	ktap_ok(WIFEXITED(status) && !WEXITSTATUS(status), "control, backtracking does not end");
	free(text);
	free(pattern);
}

static void test_doubles(void)
{
	struct bpfrelay_value v;
	double d = 0;

	ktap_ok(!bpfrelay_record_find(&records[0], "exact", &v) && !bpfrelay_value_double(&v, &d) &&
		d == 0.1, "value: a double");
	ktap_ok(!bpfrelay_record_find(&records[0], "rates[1]", &v) &&
		!bpfrelay_value_double(&v, &d) && d == -3, "value: a float");
	ktap_ok(!bpfrelay_record_find(&records[0], "rates", &v) &&
		bpfrelay_value_double(&v, &d) == -EDOM &&
		!bpfrelay_record_find(&records[0], "pid", &v) &&
		bpfrelay_value_double(&v, &d) == -EDOM, "value: others are no such numbers");
}

static void test_limits(void)
{
	ktap_ok(many("!", 63, "flag") == 6, "filter: 63 times !");
	ktap_ok(many("(", 64, "flag") == -1 && strstr(said, "column 65: more than 64 of ! and ("),
		"filter: ( too deep");
	ktap_ok(many("!(", 30000, "flag") == -1 && strstr(said, "more than 64"),
		"filter: as deep as it gets");
	ktap_ok(many("flag && ", 1023, "pid") == 1, "filter: 1024 tests");
	ktap_ok(many("flag && ", 1024, "pid") == -1 && strstr(said, "more than 1024 tests"),
		"filter: too many tests");
	ktap_ok(many("a", 60000, " == 1") == -1 && strstr(said, "no type has a field 'aaa"),
		"filter: a long name");
	ktap_ok(many(" ", 65536, "flag") == -1 && strstr(said, "longer than 65536 bytes"),
		"filter: too long");
	ktap_ok(many(" ", 65532, "flag") == 1, "filter: as long as it may be");
}

int main(void)
{
	ktap_begin();
	filter_log_init(&test_log, keep);
	ktap_ok(fields_valid(all_fields, N_FIELDS(all_fields), sizeof(struct all_record), false) &&
		fields_valid(more_fields, N_FIELDS(more_fields), 8, true),
		"filter: the tables are those of types");
	test_good();
	test_bad();
	test_limits();
	test_doubles();
	test_globs();
	test_stars();
	return ktap_end();
}
