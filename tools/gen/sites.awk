# SPDX-License-Identifier: ISC
# Copyright (c) 2026 The libxtc authors
#
# sites.awk: the list of the functions that hold probe sites, from the
# XTC_PROBE_SITE lines of the sources given, sorted. POSIX awk.
#
#	awk -f tools/gen/sites.awk src/*/*.c > src/trace/sites.def

/^XTC_PROBE_SITE\([a-z0-9_]+\)/ {
	name = $0
	sub(/^XTC_PROBE_SITE\(/, "", name)
	sub(/\).*$/, "", name)
	for (i = n; i > 0 && site[i] > name; i--)
		site[i + 1] = site[i]
	site[i + 1] = name
	n++
}

END {
	print "/* SPDX-License-Identifier: ISC */"
	print "/* Copyright (c) 2026 The libxtc authors */"
	print "/*"
	print " * The functions that hold probe sites, one a line, sorted." \
	    " Derived from the"
	print " * XTC_PROBE_SITE lines of the sources by tools/gen/sites.awk."
	print " */"
	for (i = 1; i <= n; i++)
		print "XTC_SITE(" site[i] ")"
}
