/* test_doctor.c: findings in text and JSON, the daemon's own status, and checks that hang. */
#include "bounded.h"
#include "doctor.h"

#include "clock.h"
#include "container.h"
#include "io.h"
#include "mem.h"
#include "test.h"

#include <ftw.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static void daemon_is(struct findings *f, const char *json)
{
	struct daemon_unit unit = { .serves = true };
	struct buf b;

	buf_init(&b);
	buf_puts(&b, json);
	findings_init(f);
	doctor_daemon(f, "http://d", &unit, &b, 0, NULL);
	buf_done(&b);
}

/* Finds the finding whose process description contains these words; the order of directory entries varies. */
static const struct finding *find_about(const struct findings *f, const char *check, const char *about)
{
	for (size_t i = 0; i < f->count; i++)
		if (!strcmp(f->items[i].check, check) && strstr(f->items[i].about, about))
			return &f->items[i];
	return NULL;
}

static const struct finding *find(const struct findings *f, const char *check)
{
	return find_about(f, check, "");
}

TEST(lost_samples_are_reported_with_reason_and_remedy)
{
	struct findings f;

	daemon_is(&f, "{\"version\":\"0.1.0\",\"ready\":true,\"now\":1000,\"samples\":{\"received\":50,\"stored\":50,\"last\":990,"
		      "\"dropped\":{},\"dropped_by_senders\":{\"jit\":7,\"refused\":0}},"
		      "\"sources\":[{\"url\":\"unix:/run/s\",\"up\":true,\"connections\":3,\"rejected\":{}}],\"sinks\":[]}");
	CHECK_STR(find(&f, "arrived")->cause, "50 received, 50 stored, the last 10 s ago; connections from PHP: 3");
	CHECK_INT(find(&f, "arrived")->level, LEVEL_OK);
	CHECK(strstr(find(&f, "lost-by-php")->cause, "7 samples") && strstr(find(&f, "lost-by-php")->fix, "opcache.jit=disable"));
	CHECK_INT(f.counts[LEVEL_WARNING], 1);
	CHECK_INT(f.counts[LEVEL_PROBLEM], 0);
	findings_done(&f);

	daemon_is(&f, "{\"version\":\"0.1.0\",\"ready\":false,\"not_ready\":\"disk full\",\"uptime_seconds\":200,\"samples\":{\"received\":0},"
		      "\"sources\":[{\"url\":\"redis://h\",\"up\":false,\"state\":\"refused\"}],"
		      "\"sinks\":[{\"url\":\"sqlite:/s\",\"failing\":true,\"why\":\"no space\"},"
		      "{\"url\":\"sqlite:/old\",\"draining\":true,\"failing\":true,\"why\":\"read-only\"}]}");
	CHECK(strstr(find(&f, "not-ready")->cause, "disk full") && strstr(find(&f, "sink-failing")->cause, "no space"));
	CHECK_STR(find(&f, "removed-sink-failing")->cause, "this sink was removed, and its queue cannot be stored: read-only");
	CHECK_INT(find(&f, "removed-sink-failing")->level, LEVEL_WARNING);
	CHECK(strstr(find(&f, "nothing-arrived")->cause, "3 minutes") && find(&f, "source-down") && find(&f, "no-socket"));
	findings_done(&f);

	daemon_is(&f, "{\"version\":\"0.1.0\",\"ready\":true,\"now\":1000,\"samples\":{\"received\":50,\"stored\":0,\"queued\":50,\"last\":990},"
		      "\"sinks\":[{\"url\":\"sqlite:/s\",\"samples\":{\"stored\":50}},{\"url\":\"otlp://h\",\"samples\":{\"stored\":0}}]}");
	CHECK_STR(find(&f, "arrived")->cause, "50 received, 50 stored in sqlite:/s, 0 stored in otlp://h, the last 10 s ago; connections from PHP: 0");
	findings_done(&f);

	daemon_is(&f, "[1]");
	CHECK_INT(find(&f, "daemon")->level, LEVEL_PROBLEM);
	findings_done(&f);
}

static const char *fix_of(int error, const struct daemon_unit *unit)
{
	static char fix[200];
	struct findings f;

	findings_init(&f);
	doctor_daemon(&f, "http://d", unit, NULL, error, "why");
	CHECK_INT(f.count, 1);
	snprintf(fix, sizeof(fix), "%s", f.items[0].fix);
	findings_done(&f);
	return fix;
}

TEST(each_reason_for_an_unreachable_daemon_has_its_own_remedy)
{
	static const struct daemon_unit serve = { .serves = true }, collect = { .collects = true }, both = { true, true },
					contained = { true, true, .container = true };

	CHECK_STR(fix_of(-ECONNREFUSED, &serve), "systemctl start strobe, or by hand: strobe serve");
	CHECK_STR(fix_of(-ECONNREFUSED, &collect), "systemctl start strobe-collect, or by hand: strobe collect");
	CHECK_STR(fix_of(-ETIME, &serve), "journalctl -u strobe; systemctl restart strobe");
	CHECK_STR(fix_of(-ETIME, &both), "journalctl -u strobe -u strobe-collect; systemctl restart strobe (or strobe-collect)");
	CHECK_STR(fix_of(-EREMOTEIO, &collect), "journalctl -u strobe-collect");
	CHECK_STR(fix_of(-ECONNREFUSED, &contained), "start the daemon's container, or by hand: strobe serve");
	CHECK_STR(fix_of(-ETIME, &contained), "read the log of the daemon's container; restart the daemon's container");
	CHECK_STR(fix_of(-EREMOTEIO, &contained), "read the log of the daemon's container");
	CHECK_STR(fix_of(-EACCES, &serve), "strobe doctor --token-file FILE");
	CHECK(strstr(fix_of(-EKEYREJECTED, &serve), "the daemon's token-file"));
	CHECK(strstr(fix_of(-EAGAIN, &serve), "wait") && !strstr(fix_of(-EAGAIN, &serve), "systemctl"));
	CHECK_STR(fix_of(-EPROTO, &serve), "strobe doctor --url URL-of-the-daemon");
	CHECK_STR(fix_of(-EHOSTUNREACH, &serve), "strobe doctor --url URL-of-the-daemon");
}

TEST(remedies_contain_a_restart_command_only_if_one_exists)
{
	_cleanup_(buf_done) struct buf unknown, service;

	buf_init(&unknown);
	buf_init(&service);
	doctor_put_then_restart("", &unknown);
	CHECK_STR(unknown.data, "; then restart that PHP");
	doctor_put_then_restart("php8.2-fpm", &service);
	CHECK_STR(service.data, container_without_systemd("") ? "; then restart php8.2-fpm" : " && systemctl restart php8.2-fpm");
}

static void check_units(const char *root, const char *make, bool serves, bool collects)
{
	_cleanup_(freep) char *command = xasprintf("cd %s && %s", root, make);
	struct daemon_unit u;

	CHECK_INT(system(command), 0);
	u = daemon_unit_find(root);
	CHECK_INT(u.serves, serves);
	CHECK_INT(u.collects, collects);
}

TEST(the_running_unit_is_chosen_or_else_the_enabled_one)
{
	char root[] = "/tmp/test-units-XXXXXX";

	CHECK(mkdtemp(root) != NULL);
	check_units(root, "true", true, true);
	check_units(root, "mkdir -p etc/systemd/system/multi-user.target.wants", true, true);
	check_units(root, "touch etc/systemd/system/multi-user.target.wants/strobe.service", true, false);
	check_units(root, "touch etc/systemd/system/multi-user.target.wants/strobe-collect.service", true, true);
	check_units(root, "mkdir -p sys/fs/cgroup/system.slice/strobe-collect.service", false, true);
	CHECK(!daemon_unit_find(root).container);
	check_units(root, "touch .dockerenv", false, true);
	CHECK(!daemon_unit_find(root).container);
	check_units(root, "rm -r $PWD/sys", true, true);
	CHECK(daemon_unit_find(root).container);
	check_units(root, "rm -r $PWD/* .dockerenv", true, true);
	CHECK_INT(rmdir(root), 0);
}

TEST(a_report_has_a_line_for_each_finding_and_one_for_each_remedy)
{
	struct findings f;
	struct buf b;

	buf_init(&b);
	findings_init(&f);
	findings_add(&f, LEVEL_OK, "Daemon", "daemon", "", NULL, "answers");
	findings_add(&f, LEVEL_WARNING, "PHP", "a", "php\033[2J", "do this", "first");
	findings_add(&f, LEVEL_PROBLEM, "PHP", "b", "fpm", "do this", "second %d", 2);
	findings_put_text(&f, false, &b);
	CHECK_STR(b.data, "Daemon\n  ok       answers\n\nPHP\n  warning  php\357\277\275[2J: first\n  PROBLEM  fpm: second 2\n"
			  "           fix: do this\n\n1 problem, 1 warning.\n");
	buf_reset(&b);
	findings_put_json(&f, &b);
	CHECK(strstr(b.data, "\"problems\":1") && strstr(b.data, "\"fix\":null") && strstr(b.data, "\"level\":\"warning\""));
	findings_done(&f);
	buf_done(&b);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

static void put(const char *directory, const char *pid, const char *file, const char *text)
{
	_cleanup_(freep) char *path = xasprintf("%s/%s", directory, pid), *whole = xasprintf("%s/%s", path, file);

	CHECK(io_make_dirs(path, 0755, NULL) >= 0);
	CHECK(io_write_file(whole, text, strlen(text), NULL) >= 0);
}

static void process(const char *proc, const char *pid, const char *comm, const char *title, unsigned uid, const char *maps)
{
	_cleanup_(freep) char *status = xasprintf("Name:\t%s\nPPid:\t10\nUid:\t%u\t%u\t%u\t%u\nGid:\t%u\t%u\t%u\t%u\nGroups:\t\n", comm, uid,
						  uid, uid, uid, uid, uid, uid, uid);

	put(proc, pid, "comm", comm);
	put(proc, pid, "cmdline", title);
	put(proc, pid, "status", status);
	if (maps)
		put(proc, pid, "maps", maps);
}

TEST(similar_processes_share_a_line_and_replaced_executables_are_named)
{
	char proc[] = "/tmp/strobe-doctor-XXXXXX";
	struct doctor d = { .root = "/", .proc = proc, .socket = "/proc/nonexistent/strobe.sock" };
	const struct finding *one;
	struct findings f;

	CHECK(mkdtemp(proc) != NULL);
	process(proc, "10", "php-fpm8.2", "php-fpm: master process (/nonexistent.conf)", 0, NULL);
	process(proc, "11", "php-fpm8.2", "php-fpm: pool www", 60001, "7f00-7f01 r-xp 0 0:0 1 /usr/lib/php/json.so\n");
	process(proc, "12", "php-fpm8.2", "php-fpm: pool www", 60001, "7f00-7f01 r-xp 0 0:0 1 /usr/lib/php/json.so\n");
	process(proc, "13", "php-fpm8.2", "php-fpm: pool new", 60001, "7f00-7f01 r-xp 0 0:0 1 /usr/lib/php/strobe.so (deleted)\n");
	process(proc, "14", "php8.2", "php8.2", 60002, NULL);
	findings_init(&f);
	doctor_processes(&f, &d);
	one = find(&f, "not-loaded");
	CHECK(one && one->level == LEVEL_WARNING && strstr(one->about, "2 \303\227 php-fpm, pool www (user 60001"));
	CHECK(find(&f, "extension-replaced") && strstr(find(&f, "extension-replaced")->about, "pool new"));
	one = find_about(&f, "socket-absent", "pool new");
	CHECK((one && one->level == LEVEL_PROBLEM) || !access("/run/strobe/strobe.sock", F_OK));	/* a daemon runs here */
	CHECK(find(&f, "process-unknown") && strstr(find(&f, "process-unknown")->about, "php8.2 (user 60002"));
	findings_done(&f);

	/* For a single process, the finding is the reason why there are no samples. */
	d.pid = "11";
	doctor_process(&f, &d);
	CHECK(find(&f, "not-loaded") && find(&f, "not-loaded")->level == LEVEL_PROBLEM);
	findings_done(&f);
	d.pid = "10";
	doctor_process(&f, &d);
	CHECK(find(&f, "master") && strstr(find(&f, "master")->cause, "its 3 workers do: 1") != NULL);
	findings_done(&f);
	d.pid = "99";
	doctor_process(&f, &d);
	CHECK_STR(find(&f, "process")->cause, "there is no such process");
	findings_done(&f);
	nftw(proc, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void hang(struct findings *f, const void *data)
{
	findings_add(f, LEVEL_OK, "A", "before", "x", NULL, "was looked at");
	findings_set_subject(f, "%s", (const char *)data);
	for (;;)
		pause();
}

static void die(struct findings *f, const void *data)
{
	findings_set_subject(f, "%s", (const char *)data);
	raise(*(const char *)data == 's' ? SIGSYS : SIGKILL);
}

TEST(a_check_that_hangs_or_crashes_costs_one_finding)
{
	struct findings f;

	findings_init(&f);
	bounded_check(&f, "A", NS_PER_SECOND, hang, "a dead mount");
	CHECK_INT(f.count, 2);
	CHECK_STR(f.items[0].check, "before");
	CHECK_STR(f.items[1].check, "timeout");
	CHECK_STR(f.items[1].about, "a dead mount");
	bounded_check(&f, "A", 600 * NS_PER_SECOND, die, "seccomp");
	CHECK_STR(f.items[2].check, "killed");
	CHECK(strstr(f.items[2].cause, "seccomp") != NULL);
	bounded_check(&f, "A", 600 * NS_PER_SECOND, die, "other");
	CHECK(strstr(f.items[3].cause, "signal 9") != NULL);
	findings_done(&f);
}

TEST_MAIN()
