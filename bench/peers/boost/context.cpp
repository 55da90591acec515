/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/* boost.context: the raw switch, in its lowest form. */
#include "../peer.h"

#include <boost/context/detail/fcontext.hpp>
#include <boost/context/fixedsize_stack.hpp>

namespace ctx = boost::context::detail;

static void
other(ctx::transfer_t t)
{
	for (;;)
		t = ctx::jump_fcontext(t.fctx, t.data);
}

static void
run_switch(struct peer *b)
{
	boost::context::fixedsize_stack allocator(64 * 1024);
	boost::context::stack_context stack = allocator.allocate();
	ctx::transfer_t t = { ctx::make_fcontext(stack.sp, stack.size, other),
	    NULL };
	long i, batch, n = peer_batch(b) / 2 + 1;
	int64_t since;

	for (batch = 0; batch < PEER_BATCHES; batch++) {
		since = peer_now_ns();
		for (i = 0; i < n; i++)
			t = ctx::jump_fcontext(t.fctx, NULL);
		peer_note(b, since, 2 * n);
	}
	allocator.deallocate(stack);
}

static const struct peer_row rows[] = {
	{ "switch", run_switch, 20000000, 0 },
};

int
main(int argc, char **argv)
{
	return peer_main(argc, argv, rows, sizeof(rows) / sizeof(rows[0]));
}
