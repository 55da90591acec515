/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * Every poller keeps apart what a descriptor's number has meant at different
 * times, with and without registrations that are kept, and says at random
 * moments what poll(2) says.
 */
#include "polllib.h"

#include <poll.h>

/* Descriptors that are closed. */

START_TEST(forget_ends_all_waits_on_an_fd)
{
	uint64_t tokens[8];
	int fds[2];

	open_poller(_i);
	make_pair(fds);
	T_EQ(xtc__poll_forget(p, fds[0], tokens, 8), 0);
	T_EQ(xtc__poll_forget(p, -1, tokens, 8), 0);
	for (uint64_t i = 0; i < 20; i++)
		T_OK(xtc__poll_add(p, fds[0], R, i));
	T_OK(xtc__poll_add(p, fds[1], R, 100));
	put(fds[1]);
	/* One has had its event, the others' are waiting to be returned. */
	T_EQ(next_events(1), 1);
	T_EQ(xtc__poll_forget(p, fds[0], tokens, 8), 8);
	T_EQ(tokens[0], 1);
	T_EQ(xtc__poll_forget(p, fds[0], tokens, 8), 8);
	T_EQ(xtc__poll_forget(p, fds[0], tokens, 8), 3);
	T_EQ(tokens[2], 19);
	T_EQ(p->n_waiters, 1);
	expect_rest();
	/* It may be used again, closed or not. */
	T_OK(xtc__poll_add(p, fds[0], R, 200));
	expect_event(fds[0], 200, R);
	put(fds[0]);
	expect_event(fds[1], 100, R);
	close_both(fds);
	close_poller();
}
END_TEST

/* Put the file of `from` under the number fd. */
static void
replace(int fd, int from)
{
	T_EQ(dup2(from, fd), fd);
	close(from);
}

START_TEST(a_number_used_again_starts_afresh)
{
	int number, fds[2];

	open_poller(_i);
	number = t_lowest_fd() + 60;
	for (uint64_t i = 0; i < 300; i++) {
		FILE *file;

		/* A pipe; a socket; a regular file; each closed without word */
		make_pipe(fds);
		replace(number, fds[0]);
		T_OK(xtc__poll_add(p, number, R, 4 * i));
		expect_none();
		put(fds[1]);
		expect_event(number, 4 * i, R);
		close(number);
		close(fds[1]);
		make_pair(fds);
		replace(number, fds[0]);
		T_OK(xtc__poll_add(p, number, W, 4 * i + 1));
		expect_event(number, 4 * i + 1, W);
		T_OK(xtc__poll_add(p, number, R, 4 * i + 2));
		T_OK(xtc__poll_del(p, number, 4 * i + 2));
		close(fds[1]);
		if (i % 2 == 0)
			close(number);
		file = tmpfile();
		T_EQ(dup2(fileno(file), number), number);
		T_OK(xtc__poll_add(p, number, R, 4 * i + 3));
		expect_event(number, 4 * i + 3, R);
		fclose(file);
		close(number);
		expect_none();
	}
	close_poller();
}
END_TEST

/* What is left of the old file must neither come nor keep us awake. */
START_TEST(a_copy_of_a_closed_fd_is_not_heard_of)
{
	int number, copy, fds[2], other[2];

	open_poller(_i);
	number = t_lowest_fd() + 60;
	for (uint32_t gen = 0; gen < 2; gen++) {
		make_pair(fds);
		replace(number, fds[0]);
		T_OK(xtc__poll_add_kept(p, number, R, 1, gen));
		expect_none();
		T_OK(xtc__poll_del(p, number, 1));
		copy = dup(number);
		T_TRUE(copy >= 0);
		make_pair(other);
		replace(number, other[0]);
		T_OK(xtc__poll_add_kept(p, number, R, 2, gen == 0 ? 0 : 7));
		/* The copy is readable; the number is another file. */
		put(fds[1]);
		expect_rest();
		put(other[1]);
		expect_event(number, 2, R);
		expect_rest();
		close(number);
		close(copy);
		close(fds[1]);
		close(other[1]);
	}
	close_poller();
}
END_TEST

START_TEST(a_wait_on_a_closed_fd_ends_when_it_is_found_out)
{
	int number, fds[2];

	open_poller(_i);
	number = t_lowest_fd() + 60;
	for (uint32_t gen = 0; gen < 2; gen++) {
		int known = gen != 0 || is_epoll();

		make_pair(fds);
		replace(number, fds[0]);
		T_OK(xtc__poll_add_kept(p, number, R, 1, gen));
		T_OK(xtc__poll_add_kept(p, number, R, 2, gen));
		expect_none();
		close(number);
		close(fds[1]);
		make_pair(fds);
		replace(number, fds[0]);
		T_OK(xtc__poll_add_kept(p, number, W, 3, gen == 0 ? 0 : 7));
		T_EQ(next_events(256), known ? 3 : 1);
		for (int i = 0; known && i < 2; i++) {
			T_EQ(ev[i].token, (uint64_t)i + 1);
			T_EQ(ev[i].revents, ERR);
		}
		T_EQ(ev[known ? 2 : 0].token, 3);
		T_EQ(ev[known ? 2 : 0].revents, W);
		/* poll(2) finds out if it looks before the number is taken. */
		close(number);
		if (!known && strcmp(subject->name, "poll") == 0) {
			T_EQ(next_events(256), 2);
			T_EQ(ev[1].revents, ERR);
		} else if (!known) {
			T_OK(xtc__poll_del(p, number, 1));
			T_OK(xtc__poll_del(p, number, 2));
		}
		close(fds[1]);
		expect_rest();
	}
	close_poller();
}
END_TEST

START_TEST(a_wait_on_a_fd_that_became_a_file_ends_too)
{
	FILE *file = tmpfile();
	int number, fds[2];

	open_poller(_i);
	number = t_lowest_fd() + 60;
	make_pair(fds);
	replace(number, fds[0]);
	T_OK(xtc__poll_add_kept(p, number, R | W, 1, 0));
	expect_event(number, 1, W);
	T_OK(xtc__poll_add_kept(p, number, R, 2, 5));
	T_EQ(dup2(fileno(file), number), number);
	T_OK(xtc__poll_add_kept(p, number, R, 3, 6));
	T_EQ(next_events(256), 2);
	T_EQ(ev[0].token, 2);
	T_EQ(ev[0].revents, ERR);
	T_EQ(ev[1].token, 3);
	T_EQ(ev[1].revents, R);
	/* The same, found out by the system alone. */
	T_EQ(dup2(fds[1], number), number);
	T_OK(xtc__poll_add(p, number, HUP, 4));
	T_EQ(dup2(fileno(file), number), number);
	T_OK(xtc__poll_add(p, number, R, 5));
	T_EQ(next_events(256), is_epoll() ? 2 : 1);
	T_EQ(ev[0].token, is_epoll() ? 4 : 5);
	T_EQ(ev[0].revents, is_epoll() ? ERR : R);
	fclose(file);
	close(number);
	close(fds[1]);
	close_poller();
}
END_TEST

START_TEST(another_gen_ends_the_waits_of_the_one_before)
{
	int fds[2];

	open_poller(_i);
	make_pair(fds);
	T_OK(xtc__poll_add_kept(p, fds[0], R, 1, 5));
	T_OK(xtc__poll_add_kept(p, fds[0], R, 2, 0));
	T_OK(xtc__poll_add_kept(p, fds[0], R, 3, 5));
	expect_none();
	T_OK(xtc__poll_add_kept(p, fds[0], R, 4, 6));
	T_EQ(next_events(256), 3);
	for (uint64_t i = 0; i < 3; i++) {
		T_EQ(ev[i].token, i + 1);
		T_EQ(ev[i].revents, ERR);
	}
	expect_rest();
	put(fds[1]);
	expect_event(fds[0], 4, R);
	close_both(fds);
	close_poller();
}
END_TEST

START_TEST(a_file_may_come_back_to_its_number)
{
	int number, copy, fds[2];
	uint64_t token;

	open_poller(_i);
	number = t_lowest_fd() + 60;
	make_pair(fds);
	replace(number, fds[0]);
	T_OK(xtc__poll_add(p, number, R, 1));
	copy = dup(number);
	T_EQ(dup2(STDIN_FILENO, number), number);
	T_EQ(xtc__poll_forget(p, number, &token, 1), 1);
	replace(number, copy);
	T_OK(xtc__poll_add(p, number, R, 2));
	put(fds[1]);
	expect_event(number, 2, R);
	close(number);
	close(fds[1]);
	close_poller();
}
END_TEST

/* Registrations that are kept. */

START_TEST(a_kept_registration_behaves_as_any_other)
{
	int fds[2];

	open_poller(_i);
	make_pair(fds);
	for (uint64_t i = 0; i < 100; i++) {
		T_OK(xtc__poll_add_kept(p, fds[0], R, 3 * i, 1));
		if (i % 2 == 0)
			expect_none();
		put(fds[1]);
		expect_event(fds[0], 3 * i, R);
		/* Not read yet, and nobody waits. */
		if (i % 3 == 0)
			expect_rest();
		T_OK(xtc__poll_add_kept(p, fds[0], R, 3 * i + 1, 1));
		expect_event(fds[0], 3 * i + 1, R);
		take(fds[0]);
		T_OK(xtc__poll_add_kept(p, fds[0], R, 3 * i + 2, 1));
		/* Others wait too, for other things, with and without. */
		T_OK(xtc__poll_add_kept(p, fds[0], W, UINT64_MAX, 1));
		expect_event(fds[0], UINT64_MAX, W);
		expect_rest();
		if (i % 5 == 0) {
			T_OK(xtc__poll_add(p, fds[0], R, 1000));
			T_OK(xtc__poll_del(p, fds[0], 1000));
		}
		T_OK(xtc__poll_del(p, fds[0], 3 * i + 2));
	}
	close(fds[1]);
	T_OK(xtc__poll_add_kept(p, fds[0], 0, 5, 1));
	T_EQ(next_events(256), 1);
	T_TRUE(ev[0].revents & HUP);
	expect_rest();
	close(fds[0]);
	close_poller();
}
END_TEST

START_TEST(a_kept_registration_saves_the_system_call)
{
	int fds[2];

	open_poller(_i);
	if (!is_epoll())
		return;
	make_pair(fds);
	fault_site = "poll.epoll_ctl";
	for (uint64_t i = 0; i < 100; i++) {
		T_OK(xtc__poll_add_kept(p, fds[0], R, i, 9));
		put(fds[1]);
		expect_event(fds[0], i, R);
		take(fds[0]);
	}
	T_EQ(fault_calls, 1);
	fault_calls = 0;
	for (uint64_t i = 0; i < 100; i++) {
		T_OK(xtc__poll_add(p, fds[0], R, i));
		put(fds[1]);
		expect_event(fds[0], i, R);
		take(fds[0]);
	}
	T_EQ(fault_calls, 100);
	close_both(fds);
	close_poller();
}
END_TEST

START_TEST(a_kept_registration_dies_with_its_gen)
{
	int number, fds[2];

	open_poller(_i);
	number = t_lowest_fd() + 60;
	for (uint32_t gen = 1; gen < 300; gen++) {
		make_pair(fds);
		replace(number, fds[0]);
		T_OK(xtc__poll_add_kept(p, number, R, gen, gen));
		put(fds[1]);
		expect_event(number, gen, R);
		/* Closed without forget(), every other time with it unread. */
		if (gen % 2 == 0)
			take(number);
		close(number);
		close(fds[1]);
	}
	expect_rest();
	close_poller();
}
END_TEST

START_TEST(a_kept_registration_out_of_reach_is_got_rid_of)
{
	int number, copy, fds[2], other[2];

	open_poller(_i);
	make_pair(other);
	T_OK(xtc__poll_add(p, other[0], R, 50));
	T_OK(xtc__poll_add_kept(p, other[1], R, 51, 3));
	number = t_lowest_fd() + 60;
	make_pair(fds);
	replace(number, fds[0]);
	put(fds[1]);
	T_OK(xtc__poll_add_kept(p, number, R, 1, 1));
	expect_event(number, 1, R);
	copy = dup(number);
	T_TRUE(copy >= 0);
	close(number);
	/* Readable through the copy, under a number that is closed. */
	expect_rest();
	/* Who waits on other fds waits still. */
	T_EQ(p->n_waiters, 2);
	put(other[1]);
	expect_event(other[0], 50, R);
	put(other[0]);
	expect_event(other[1], 51, R);
	xtc__poll_wake(p);
	while (p->woken == 0)
		T_EQ(xtc__poll_wait(p, -1, ev, 256), 0);
	expect_rest();
	close(copy);
	close(fds[1]);
	/* The same with somebody waiting: the report is not what for. */
	make_pair(fds);
	replace(number, fds[0]);
	T_OK(xtc__poll_add_kept(p, number, R, 2, 2));
	T_OK(xtc__poll_add_kept(p, number, W, 3, 2));
	expect_event(number, 3, W);
	copy = dup(number);
	close(number);
	if (is_epoll())
		expect_event(number, 2, ERR);
	else
		(void)xtc__poll_del(p, number, 2);
	expect_rest();
	close(copy);
	close(fds[1]);
	close_both(other);
	close_poller();
}
END_TEST

/* Against poll(2) itself. */

#define N_FDS 12
#define N_REGS 40

struct reg {
	int fd_index;		/* -1: free */
	uint32_t interest;
	uint64_t token;
};

static int rand_fds[N_FDS];
static uint32_t rand_gens[N_FDS];
static struct reg regs[N_REGS];
static uint64_t rand_state;

static unsigned
pick(unsigned n)
{
	return (unsigned)(t_rand(&rand_state) >> 33) % n;
}

/* What poll(2) would tell a waiter. */
static uint32_t
truth(int fd, uint32_t interest)
{
	struct pollfd pf = { .fd = fd };
	uint32_t revents = 0;

	if (interest & R)
		pf.events |= POLLIN;
	if (interest & W)
		pf.events |= POLLOUT;
	T_TRUE(poll(&pf, 1, 0) >= 0);
	revents |= pf.revents & POLLIN ? R : 0;
	revents |= pf.revents & POLLOUT ? W : 0;
	revents |= pf.revents & POLLHUP ? HUP : 0;
	revents |= pf.revents & POLLERR ? ERR : 0;
	return revents;
}

/* A new pair in places i and i + 1, i even. */
static void
reopen(int i, uint32_t gen)
{
	int max = 256;
	uint64_t tokens[256];

	for (int k = i; k < i + 2; k++) {
		if (rand_fds[k] == 0)
			continue;
		T_TRUE(xtc__poll_forget(p, rand_fds[k], tokens, max) < max);
		for (int r = 0; r < N_REGS; r++)
			if (regs[r].fd_index == k)
				regs[r].fd_index = -1;
		close(rand_fds[k]);
	}
	make_pair(&rand_fds[i]);
	for (int k = i; k < i + 2; k++) {
		T_EQ(fcntl(rand_fds[k], F_SETFL, O_NONBLOCK), 0);
		rand_gens[k] = pick(2) == 0 ? 0 : gen + (uint32_t)k;
	}
}

static void
random_step(uint64_t token)
{
	char buf[4096] = "";
	int i = (int)pick(N_FDS), r = (int)pick(N_REGS);

	switch (pick(8)) {
	case 0:
		(void)!read(rand_fds[i], buf, sizeof(buf));
		break;
	case 1:
		(void)!send(rand_fds[i], buf, pick(2) ? 1 : sizeof(buf),
		    MSG_NOSIGNAL);
		break;
	case 2:
		if (regs[r].fd_index == -1)
			break;
		T_OK(xtc__poll_del(p, rand_fds[regs[r].fd_index],
		    regs[r].token));
		regs[r].fd_index = -1;
		break;
	case 3:
		if (pick(8) == 0)
			reopen(i & ~1, (uint32_t)token + 1);
		else if (pick(8) == 0)
			shutdown(rand_fds[i], pick(2) ? SHUT_WR : SHUT_RDWR);
		break;
	default:
		if (regs[r].fd_index != -1)
			break;
		regs[r].fd_index = i;
		regs[r].interest = pick(4);
		regs[r].token = token;
		T_OK(xtc__poll_add_kept(p, rand_fds[i], regs[r].interest,
		    token, rand_gens[i]));
		break;
	}
}

/* Each event is owed and true; afterwards nobody is owed one. */
static void
check_truth(void)
{
	int max = pick(2) ? 256 : 3, n;

	do {
		n = 0;
		for (int k = 0; k < 3; k++) {
			int got = xtc__poll_wait(p, 0, ev, max);

			n += got;
			for (int i = 0; i < got; i++) {
				int r = 0;

				while (r < N_REGS && (regs[r].fd_index == -1 ||
				    regs[r].token != ev[i].token))
					r++;
				T_TRUE(r < N_REGS);
				T_EQ(ev[i].fd, rand_fds[regs[r].fd_index]);
				check_revents(ev[i].revents,
				    truth(ev[i].fd, regs[r].interest));
				regs[r].fd_index = -1;
			}
		}
	} while (n > 0);
	n = 0;
	for (int r = 0; r < N_REGS; r++) {
		if (regs[r].fd_index == -1)
			continue;
		n++;
		T_EQ(truth(rand_fds[regs[r].fd_index], regs[r].interest), 0);
	}
	T_EQ(p->n_waiters, n);
}

START_TEST(at_random_it_says_what_poll_says)
{
	open_poller(_i);
	rand_state = 88172645463325252;
	for (int r = 0; r < N_REGS; r++)
		regs[r].fd_index = -1;
	for (int i = 0; i < N_FDS; i += 2)
		reopen(i, 1);
	for (int i = t_count(100000); i > 0; i--) {
		random_step((uint64_t)i * 16);
		if (pick(4) == 0)
			check_truth();
	}
	close_poller();
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("poll_fds");

	find_subjects();
	each(s, forget_ends_all_waits_on_an_fd, 10);
	each(s, a_number_used_again_starts_afresh, 20);
	each(s, a_copy_of_a_closed_fd_is_not_heard_of, 10);
	each(s, a_wait_on_a_closed_fd_ends_when_it_is_found_out, 10);
	each(s, a_wait_on_a_fd_that_became_a_file_ends_too, 10);
	each(s, another_gen_ends_the_waits_of_the_one_before, 10);
	each(s, a_file_may_come_back_to_its_number, 10);
	each(s, a_kept_registration_behaves_as_any_other, 20);
	each(s, a_kept_registration_saves_the_system_call, 10);
	each(s, a_kept_registration_dies_with_its_gen, 10);
	each(s, a_kept_registration_out_of_reach_is_got_rid_of, 10);
	each(s, at_random_it_says_what_poll_says, 60);
	return t_main(s);
}
