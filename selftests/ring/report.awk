# SPDX-License-Identifier: GPL-2.0-only
# Several KTAP files as one. Fails if a test failed, or one of a plan is missing.

function missing(file, seen, plan)
{
	sub(/\.tap$/, "", file)
	line[++n] = "not ok " ++number " - " file " (" seen + 0 " of " plan " tests ran)"
	failed++
}

function finish()
{
	if (file != "" && seen != plan)
		missing(file, seen, plan)
}

FNR == 1 {
	finish()
	file = FILENAME
	read[file] = 1
	plan = "?"
	seen = 0
}

/^KTAP version/	{ next }
/^1\.\./	{ plan = substr($0, 4) + 0; next }
/^(not )?ok /	{
	seen++
	number++
	if (/^not/)
		failed++
	sub(/ok [0-9]+/, "ok " number)
}
{ line[++n] = $0 }

END {
	finish()
	for (i = 1; i < ARGC; i++)
		if (!(ARGV[i] in read))
			missing(ARGV[i], 0, "?")
	print "KTAP version 1"
	print "1.." number
	for (i = 1; i <= n; i++)
		print line[i]
	print "# " number - failed " passed, " failed + 0 " failed"
	exit failed || !number
}
