/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * trace.h: what a source file needs in order to hold a probe site.
 *
 * A site is a small function that does the work of which the probe tells
 * (parks, claims, fires). All callers go through it, so that every probe is in
 * the library exactly once. It looks like this:
 *
 *	XTC_PROBE_SITE_ATTR void
 *	xtc__timer_armed(struct xtc__timer *t, int kind)
 *	{
 *		...
 *		XTC_TIMER_ARM(t, t->deadline_ns, kind);
 *	}
 *	XTC_PROBE_SITE(xtc__timer_armed)
 *
 * XTC_PROBE_SITE stands at file level, once a function, without a semicolon,
 * and the function is listed in sites.def, else this does not compile. What
 * exists only for a probe, a parameter say, stands inside XTC_PROBE_ONLY();
 * what stands there or in a probe macro is gone when probes are off. A probe
 * macro is a statement on lines of its own inside braces.
 *
 * The anchor. A linker takes from an archive only the members that somebody
 * refers to, and drops sections that nobody refers to; but a script that
 * names a probe which a program lacks does not run at all. So the anchor
 * (anchor.c) refers to every site, every object with a site refers to the
 * anchor, and the initialisation of a loop reads it.
 *
 * With probes off nothing of the anchor is left in any object.
 */
#ifndef XTC_TRACE_TRACE_H
#define XTC_TRACE_TRACE_H

#include "xtc_probes.h"

/*
 * Never inlined or cloned, so that there is one site; with probes off too, so
 * that on and off are the same code but for the probes themselves. gcc must
 * not even look into it (noipa): where there is nothing but a probe inside it
 * would drop the calls with probes off, and give their callers other code.
 */
#if defined(__GNUC__) && !defined(__clang__)
#define XTC_PROBE_SITE_ATTR __attribute__((__noipa__))
#else
#define XTC_PROBE_SITE_ATTR __attribute__((__noinline__))
#endif

#if XTC_PROBES_ON

typedef void (*xtc__site_fn)(void);

struct xtc__anchor;

/* One for each site function, in the object that holds the function. */
struct xtc__probe_site {
	xtc__site_fn fn;
	const struct xtc__anchor *anchor;
	int index;
};

/* The position of each site in the anchor's table. */
enum xtc__site_index {
#define XTC_SITE(function) xtc__site_index_##function,
#include "trace/sites.def"
#undef XTC_SITE
	XTC__N_SITES
};

#define XTC_SITE(function) \
	extern const struct xtc__probe_site xtc__site_##function;
#include "trace/sites.def"
#undef XTC_SITE

extern const struct xtc__anchor xtc__trace_anchor_table;

#define XTC_PROBE_SITE(function) \
	const struct xtc__probe_site xtc__site_##function = { \
		(xtc__site_fn)(function), \
		&xtc__trace_anchor_table, \
		xtc__site_index_##function \
	};

/*
 * Reads the whole table, so that no linker may drop a part of it. Returns the
 * number of sites that are as they should be: XTC__N_SITES.
 */
int xtc__trace_anchor(void);

/* The statement in the initialisation of a loop. */
#define XTC_PROBE_ANCHOR() ((void)xtc__trace_anchor())

#else

#define XTC_PROBE_SITE(function)
#define XTC_PROBE_ANCHOR() ((void)0)

#endif
#endif
