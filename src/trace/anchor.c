/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * anchor.c: holds the addresses of all probe sites, so that they come along
 * with whatever part of the library a static program uses; trace.h tells why.
 * This object is xtc_probes.o in the archive, and builds without probes leave
 * it out (it would be empty).
 *
 * The table goes through one record a site instead of naming the functions:
 * they have many types, and a declaration with a wrong one is something that
 * link-time optimisation rightly complains about. The entries are volatile
 * because a compiler that sees the whole program would otherwise work out the
 * sum in xtc__trace_anchor and drop the table.
 */
#include <stddef.h>

#include "trace/trace.h"

#if XTC_PROBES_ON

struct xtc__anchor {
	const struct xtc__probe_site *const volatile site[XTC__N_SITES];
};

const struct xtc__anchor xtc__trace_anchor_table = {
	{
#define XTC_SITE(function) &xtc__site_##function,
#include "trace/sites.def"
#undef XTC_SITE
	}
};

int
xtc__trace_anchor(void)
{
	const struct xtc__probe_site *site;
	int i, n = 0;

	for (i = 0; i < XTC__N_SITES; i++) {
		site = xtc__trace_anchor_table.site[i];
		if (site->fn != NULL && site->index == i)
			n++;
	}
	return n;
}

#else

/* ISO C asks for one declaration in a file. */
typedef int xtc__trace_anchor_absent;

#endif
