/* SPDX-License-Identifier: ISC */
/* Copyright (c) 2026 The libxtc authors */
/*
 * The protocols hold in every interleaving that the simulator tries, the same
 * seed is the same run, and each of the planted mistakes is found.
 *
 *	t_sim				the tests
 *	t_sim STORY FIRST [N [PLANT]]	seeds FIRST to FIRST + N - 1; a single
 *					one is told event by event
 *
 * XTC_SIM_SECONDS: how long each clean story is played (3).
 */
#define _DEFAULT_SOURCE
#include "testlib.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "base/plant.h"
#include "sim/sim.h"
#include "sim_stories.h"

/* What a process that plays tells the one that has started it. */
struct played {
	uint64_t seed;		/* the one it plays, or has failed with */
	uint64_t runs;
	uint64_t hash;		/* of all its hashes */
	double seconds;
	char text[512];
};

enum { PLAYED_WELL, PLAYED_AND_FAILED };

/* AddressSanitizer, but not ThreadSanitizer, nor valgrind. */
#define SLOW_ENOUGH	10

static struct played *played;

static double
seconds_now(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* In a process of its own, for a run that fails cannot be taken apart. */
static _Noreturn void
play_here(const struct sim_story *s, uint64_t first, uint64_t n, int plant,
    double seconds)
{
	double start = seconds_now();
	uint64_t i;

	xtc__sim_planted = plant;
	xtc__sim_text = played->text;
	xtc__sim_text_bytes = sizeof(played->text);
	for (i = 0; i < n; i++) {
		played->seed = first + i;
		if (i % 64 == 0) {
			/* a planted mistake may make it spin without end */
			(void)alarm((unsigned)(10 * t_slow()));
			played->seconds = seconds_now() - start;
			if (seconds > 0 && played->seconds > seconds)
				break;
		}
		played->hash = played->hash * 31 +
		    sim_story_play(s, first + i);
		played->runs++;
	}
	played->seconds = seconds_now() - start;
	_exit(0);
}

static int
play(const char *story, uint64_t first, uint64_t n, int plant,
    double seconds)
{
	const struct sim_story *s = sim_story_find(story);
	int status;
	pid_t pid;

	T_TRUE(s != NULL);
	memset(played, 0, sizeof(*played));
	(void)fflush(NULL);
	pid = fork();
	T_TRUE(pid >= 0);
	if (pid == 0) {
		if (plant != XTC__PLANT_NONE)
			(void)freopen("/dev/null", "w", stderr);
		play_here(s, first, n, plant, seconds);
	}
	T_TRUE(waitpid(pid, &status, 0) == pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return PLAYED_WELL;
	if (played->text[0] == '\0')
		(void)snprintf(played->text, sizeof(played->text),
		    "%s %d", WIFSIGNALED(status) ? "signal" : "exit code",
		    WIFSIGNALED(status) ? WTERMSIG(status) :
		    WEXITSTATUS(status));
	return PLAYED_AND_FAILED;
}

static void
play_clean(const char *story, double seconds)
{
	const char *env = getenv("XTC_SIM_SECONDS");

	if (env != NULL)
		seconds = atof(env);
	if (play(story, 1, UINT64_MAX, XTC__PLANT_NONE, seconds) !=
	    PLAYED_WELL)
		t_fail("seed %" PRIu64 ": %s", played->seed, played->text);
	printf("%-8s %9" PRIu64 " seeds in %.1f s, %.0f a minute\n", story,
	    played->runs, played->seconds, (double)played->runs /
	    played->seconds * 60);
}

/* Some seeds in one process, twice, and each in a process of its own. */
static void
check_same(const char *story)
{
	uint64_t alone = 0, hash, i, n = (uint64_t)t_count(200);

	T_EQ(play(story, 1, n, XTC__PLANT_NONE, 0), PLAYED_WELL);
	hash = played->hash;
	T_EQ(play(story, 1, n, XTC__PLANT_NONE, 0), PLAYED_WELL);
	T_TRUE(played->hash == hash);
	/* what ran before makes no difference */
	for (i = 1; i <= n; i++) {
		T_EQ(play(story, i, 1, XTC__PLANT_NONE, 0), PLAYED_WELL);
		alone = alone * 31 + played->hash;
	}
	T_TRUE(alone == hash);
	printf("%-8s seeds 1 to %" PRIu64 ": %016" PRIx64 "\n", story, n,
	    hash);
}

static const char *const stories[] = { "small", "lock", "deque", "feed",
	"quiet", "home" };

START_TEST(same_seed_same_run)
{
	check_same(stories[_i]);
}
END_TEST

START_TEST(nothing_fails_in_the_story)
{
	play_clean(stories[_i], 3);
}
END_TEST

START_TEST(a_real_clock_in_a_run_fails_it)
{
	T_EQ(play("guard", 1, 1, XTC__PLANT_NONE, 0), PLAYED_AND_FAILED);
	T_TRUE(strstr(played->text, "a real clock was read") != NULL);
	T_TRUE(strstr(played->text, "seed 1,") != NULL);
}
END_TEST

/* Which story finds it, and within how many seeds. */
static const struct {
	int plant;
	const char *name;
	const char *story;
	uint64_t within;
} plants[] = {
#define P(name, story, within) { XTC__PLANT_##name, #name, story, within },
	P(SKIP_RECHECK, "small", 20000)
	P(RECHECK_FIRST, "small", 20000)
	P(ARM_LAST, "small", 20000)
	P(POST_BEFORE_SWITCH, "small", 20000)
	P(EARLY_QUEUES, "small", 20000)
	P(NO_FIRST_RUN_POST, "small", 20000)
	P(YIELD_QUEUES_FIRST, "small", 20000)
	P(WAKE_AFTER_QUEUE, "small", 20000)
	P(POST_CLAIMED_IGNORED, "small", 20000)
	P(NO_LAST_LOOK, "small", 20000)
	P(LAST_LOOK_FIRST, "small", 20000)
	P(CLAIM_ONE_SHOT, "small", 20000)
	P(NO_EPOCH, "small", 20000)
	P(SKIP_KILL_LOOK, "small", 20000)
	P(NO_SECOND_LOOK, "small", 20000)
	P(ENQUEUE_FIRST, "lock", 100000)
	P(OWNER_AFTER_CLAIM, "lock", 100000)
	P(IGNORE_STALE, "lock", 100000)
	P(NO_OWNER_DEATH, "lock", 100000)
	P(NO_REMOVE, "lock", 100000)
	P(HEIR_DIES, "lock", 100000)
	P(HEIR_TIMES_OUT, "lock", 100000)
	P(DRAIN_VISIBLE, "small", 20000)
	P(CHECK_THEN_PUSH, "small", 20000)
	P(FULL_AT_TWO_TIMES, "small", 20000)
	P(DEQUE_POP_BLIND, "deque", 20000)
	P(DEQUE_STEAL_LOSES, "deque", 20000)
	P(NO_FEED, "feed", 20000)
	P(FREED_UNDER_WAKER, "feed", 300000)
	P(NAP_TOO_LATE, "home", 300000)
	P(SECOND_SUM, "quiet", 20000)
	P(MISSED_QUIESCENCE, "quiet", 20000)
#undef P
};

#define N_PLANTS ((int)(sizeof(plants) / sizeof(plants[0])))

START_TEST(every_planted_mistake_is_played)
{
	char has[XTC__PLANT_COUNT] = { 0 };
	int i;

	for (i = 0; i < N_PLANTS; i++)
		has[plants[i].plant] = 1;
	for (i = XTC__PLANT_NONE + 1; i < XTC__PLANT_COUNT; i++)
		T_TRUE(has[i]);
}
END_TEST

START_TEST(a_planted_mistake_is_found)
{
	const char *story = plants[_i].story;
	int plant = plants[_i].plant;
	uint64_t seed;

	if (play(story, 1, plants[_i].within, plant, 0) != PLAYED_AND_FAILED)
		t_fail("%s is not found in %s with %" PRIu64 " seeds",
		    plants[_i].name, story, plants[_i].within);
	seed = played->seed;
	printf("%-20s %-6s seed %5" PRIu64 ": %s\n", plants[_i].name, story,
	    seed, strchr(played->text, ':') == NULL ? played->text :
	    strchr(played->text, ':') + 2);
	/* and with that seed alone */
	if (play(story, seed, 1, plant, 0) != PLAYED_AND_FAILED)
		t_fail("%s: seed %" PRIu64 " of %s does not fail alone",
		    plants[_i].name, seed, story);
}
END_TEST

static int
plant_of(const char *name)
{
	int i;

	for (i = 0; i < N_PLANTS; i++)
		if (strcmp(plants[i].name, name) == 0)
			return plants[i].plant;
	fprintf(stderr, "no such mistake: %s\n", name);
	exit(2);
}

static int
by_hand(int argc, char **argv)
{
	uint64_t first = strtoull(argv[2], NULL, 10), n = 1;
	const struct sim_story *s = sim_story_find(argv[1]);

	if (s == NULL) {
		fprintf(stderr, "no such story: %s\n", argv[1]);
		return 2;
	}
	if (argc > 3)
		n = strtoull(argv[3], NULL, 10);
	if (argc > 4)
		xtc__sim_planted = plant_of(argv[4]);
	xtc__sim_verbose = n == 1;
	for (; n > 0; n--, first++)
		printf("%s %" PRIu64 " %016" PRIx64 "\n", s->name, first,
		    sim_story_play(s, first));
	return 0;
}

int
main(int argc, char **argv)
{
	int n_stories = (int)(sizeof(stories) / sizeof(stories[0])), failed;
	Suite *s = suite_create("sim");
	TCase *c;
	SRunner *r;

	if (argc > 2)
		return by_hand(argc, argv);
	setvbuf(stdout, NULL, _IOLBF, 0);
	played = mmap(NULL, sizeof(*played), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (played == MAP_FAILED)
		return 1;
	c = tcase_create("same");
	tcase_set_timeout(c, 60 * t_slow());
	tcase_add_loop_test(c, same_seed_same_run, 0, n_stories);
	tcase_add_test(c, a_real_clock_in_a_run_fails_it);
	suite_add_tcase(s, c);
	c = tcase_create("clean");
	tcase_set_timeout(c, 0);
	tcase_add_loop_test(c, nothing_fails_in_the_story, 0, n_stories);
	suite_add_tcase(s, c);
	c = tcase_create("planted");
	tcase_set_timeout(c, 60 * t_slow());
	tcase_add_test(c, every_planted_mistake_is_played);
	/* The seeds that find them are the same in any build: where one takes
	 * a hundred times as long there is nothing more to learn. */
	if (t_slow() <= SLOW_ENOUGH)
		tcase_add_loop_test(c, a_planted_mistake_is_found, 0,
		    N_PLANTS);
	suite_add_tcase(s, c);
	r = srunner_create(s);
	srunner_run_all(r, CK_ENV);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed == 0 ? 0 : 1;
}
