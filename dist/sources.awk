# SPDX-License-Identifier: ISC
# Copyright (c) 2026 The libxtc authors
#
# sources.awk: the lines of sources.txt that count in one build.
#
#	awk -v facts="cpu=x86_64 os=linux os=posix dtrace=no" \
#	    -f sources.awk sources.txt
#
# Prints KIND PATH NAME SECONDS ALONE, a "-" for what a line does not say.

function fail(text)
{
	print FILENAME ":" FNR ": " text > "/dev/stderr"
	failed = 1
	exit 1
}

# Does one of the comma-separated values of key hold here?
function holds(key, values,	n, v, i)
{
	n = split(values, v, ",")
	for (i = 1; i <= n; i++)
		if ((key "=" v[i]) in fact)
			return 1
	return 0
}

BEGIN {
	n = split(facts, f, " ")
	for (i = 1; i <= n; i++)
		fact[f[i]] = 1
	n = split("lib hdr man test prog live check example snippet bench " \
	    "soak tool sim simtest", f, " ")
	for (i = 1; i <= n; i++)
		kinds[f[i]] = 1
}

/^[ \t]*(#|$)/ { next }

{
	if (!($1 in kinds))
		fail("unknown kind " $1)
	if (NF < 2)
		fail("no path")
	if (($1, $2) in seen && $1 == "lib")
		fail($2 " is listed twice")
	seen[$1, $2] = 1
	name = "-"
	seconds = "-"
	alone = "-"
	in_sim = $1 == "lib" ? "yes" : "no"
	take = 1
	for (i = 3; i <= NF; i++) {
		eq = index($i, "=")
		key = substr($i, 1, eq - 1)
		value = substr($i, eq + 1)
		if (eq == 0)
			name = $i
		else if (key == "seconds")
			seconds = value
		else if (key == "alone")
			alone = value
		else if (key == "sim")
			in_sim = value
		else if (key == "cpu" || key == "os" || key == "dtrace")
			take = take && holds(key, value)
		else
			fail("unknown condition " $i)
	}
	if (name == "-" && $1 ~ /^(test|prog|example|snippet|bench|soak|simtest)$/) {
		name = $2
		sub(/.*\//, "", name)
		sub(/\.[a-z]+$/, "", name)
	}
	if (take)
		print $1, $2, name, seconds, alone
	if (take && in_sim == "yes")
		print "sim", $2, name, seconds, alone
}

END { exit failed }
