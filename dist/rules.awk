# SPDX-License-Identifier: ISC
# Copyright (c) 2026 The libxtc authors
#
# rules.awk: make rules for the files that sources.awk selected. Each rule is
# written out, since no two kinds of make agree on a pattern rule that
# crosses directories; the result is plain POSIX make.
#
#	awk -v probed=yes|no -f rules.awk selected.txt
#
# Objects go to static/ and shared/: BSD make takes a directory named obj for
# the place where it ought to work.
#
# probed=yes: the archive and the shared library are made of the objects that
# probed.sh prepared (dtrace -G). DIRS and DEPS list what must exist before
# make reads the result (an include of a missing file is an error in POSIX make).

function object(dir, path,	o)
{
	o = path
	sub(/\.[a-zA-Z]+$/, ".o", o)
	return dir "/" o
}

# The rule that compiles path into dir with the compiler line cc.
function compile(dir, path, cc,	o, d, sub_dir)
{
	o = object(dir, path)
	d = o
	sub(/o$/, "d", d)
	print o ": $(top)/" path " flags.stamp $(GENERATED)"
	print "\t" cc " $(DEPFLAGS) -c -o $@ $(top)/" path
	print ""
	deps[++n_deps] = d
	add("OBJECTS", o)
	sub_dir = o
	sub(/\/[^\/]*$/, "", sub_dir)
	if (!(sub_dir in dir_seen)) {
		dir_seen[sub_dir] = 1
		dirs = dirs " " sub_dir
	}
	return o
}

function program(name, path, cc, libs,	o)
{
	o = compile("static", path, cc)
	print name ": " o " libxtc.a"
	print "\t$(LINK) -o $@ " o " libxtc.a " libs " $(LIBS)"
	print ""
}

function add(list, word)
{
	lists[list] = lists[list] " \\\n\t" word
}

function install(path, to)
{
	dest = dest "\t$(INSTALL_FILE) $(top)/" path " \"" to "\"\n"
	undest = undest "\trm -f \"" to "\"\n"
}

$1 == "lib" {
	add("LIB_OBJS", compile("static", $2, "$(LIB_CC)"))
	add("LIB_PICS", compile("shared", $2, "$(LIB_CC) $(PIC_CFLAGS)"))
}

$1 == "test" {
	program($3, $2, "$(TEST_CC)", "$(CHECK_LIBS)")
	add("TEST_PROGRAMS", $3)
}

$1 == "sim" {
	add("SIM_OBJS", compile("sim", $2, "$(SIM_CC)"))
}

$1 == "simtest" {
	o = compile("sim", $2, "$(TEST_CC) -DXTC_SIM")
	print $3 ": " o " libxtc_sim.a"
	print "\t$(LINK) -o $@ " o " libxtc_sim.a $(CHECK_LIBS) $(LIBS)"
	print ""
	add("TEST_PROGRAMS", $3)
}

$1 == "prog" {
	program($3, $2, "$(LIB_CC)", "")
	add("HELPER_PROGRAMS", $3)
}

$1 == "example" || $1 == "snippet" {
	program($3, $2, "$(USER_CC)", "")
	add("EXAMPLES", $3)
}

$1 == "bench" {
	program($3, $2, "$(LIB_CC)", "")
	add("BENCHES", $3)
}

$1 == "soak" && $2 ~ /\.c$/ {
	program($3, $2, "$(TEST_CC)", "$(CHECK_LIBS)")
	add("SOAK_PROGRAMS", $3)
}

$1 == "hdr" {
	add("HEADERS", "$(top)/" $2)
	base = $2
	sub(/.*\//, "", base)
	install($2, "$(DESTDIR)$(includedir)/" base)
}

$1 == "man" {
	add("MAN_PAGES", "$(top)/" $2)
}

$1 == "tool" {
	path = $2
	sub(/^tools\//, "", path)
	if (path ~ /\//)
		install($2, "$(DESTDIR)$(pkgdatadir)/" path)
	else
		install($2, "$(DESTDIR)$(bindir)/" path)
}

END {
	n = split("OBJECTS LIB_OBJS LIB_PICS SIM_OBJS TEST_PROGRAMS HELPER_PROGRAMS EXAMPLES " \
	    "BENCHES SOAK_PROGRAMS HEADERS MAN_PAGES", l, " ")
	for (i = 1; i <= n; i++)
		print l[i] " =" lists[l[i]] "\n"
	if (probed == "yes") {
		print "ARCHIVE_FROM = probed/static/objects"
		print "ARCHIVE_LIST = `cat probed/static/objects`"
		print "SHARED_FROM = probed/shared/objects"
		print "SHARED_LIST = `cat probed/shared/objects`"
	} else {
		print "ARCHIVE_FROM = $(LIB_OBJS) $(SEMAPHORES)"
		print "ARCHIVE_LIST = $(LIB_OBJS) $(SEMAPHORES)"
		print "SHARED_FROM = $(LIB_PICS) $(SEMAPHORES)"
		print "SHARED_LIST = $(LIB_PICS) $(SEMAPHORES)"
	}
	print ""
	print "install-listed:"
	printf "%s\n", dest
	print "uninstall-listed:"
	printf "%s\n", undest
	for (i = 1; i <= n_deps; i++)
		print "include " deps[i]
	print "# DIRS" dirs
	for (i = 1; i <= n_deps; i++)
		print "# DEP " deps[i]
}
