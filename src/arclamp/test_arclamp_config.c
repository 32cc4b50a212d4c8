/* test_arclamp_config.c: arclamp-log's configuration files have the same meaning here. */
#include "arclamp_config.h"

#include "redis_url.h"
#include "test.h"

#define LOGS	"logs:\n  - {period: hourly, format: '%Y-%m-%d_%H', retain: 336}\n"

static struct arclamp_config config;
static struct err problem;

static int make(const char *text)
{
	struct yaml_tree t;
	int r;

	arclamp_config_done(&config);
	problem.text[0] = 0;
	r = yaml_tree_parse("a.yaml", text, strlen(text), &t, &problem);
	if (r >= 0)
		r = arclamp_config_make(t.root, &config, &problem);
	yaml_tree_done(&t);
	return r;
}

static const char *error_of(const char *text)
{
	CHECK(make(text) == -EINVAL);
	return problem.text;
}

/* Returns the source's URL, or the reason why there is none. */
static const char *source_of(const char *text)
{
	CHECK(!make(text));
	return config.source_url ? config.source_url : config.source_problem;
}

TEST(a_typical_file_is_read)
{
	CHECK(!make("base_path: /var/lib/traces/\n"
		    "logs:\n"
		    "  # two weeks\n"
		    "  - format: \"%Y-%m-%d_%H\"\n"
		    "    period: hourly\n"
		    "    retain: 336\n"
		    "  - format: '%Y-%m-%d.cpu'\n"
		    "    period: daily\n"
		    "    retain: '45'\n"
		    "    sample_pop: 10\n"
		    "    channel: excimer\n"
		    "redis:\n"
		    "  host: 127.0.0.1\n"
		    "  port: 6379\n"
		    "redis_channel: excimer\n"));
	CHECK_STR(config.logs.base, "/var/lib/traces");
	CHECK_INT(config.logs.group_count, 2);
	CHECK_STR(config.logs.groups[0].period, "hourly");
	CHECK_STR(config.logs.groups[0].format, "%Y-%m-%d_%H");
	CHECK_INT(config.logs.groups[0].retain, 336);
	CHECK_INT(config.logs.groups[0].sample_pop, 1);
	CHECK(!config.logs.groups[0].channel);
	CHECK_INT(config.logs.groups[1].retain, 45);
	CHECK_INT(config.logs.groups[1].sample_pop, 10);
	CHECK_STR(config.logs.groups[1].channel, "excimer");
	CHECK_STR(config.source_url, "redis://127.0.0.1:6379?channel=excimer");
	CHECK_INT(config.warning_count, 0);
}

TEST(defaults_match_those_of_client_and_server)
{
	CHECK_STR(source_of(LOGS "redis: {host: r}\n"), "redis://r:6379?channel=excimer,arclamp");
	CHECK_STR(config.logs.base, "/srv/arclamp/logs");
	CHECK_INT(config.warning_count, 1);
	CHECK_STR(config.warnings[0], "a.yaml:1: redis_channel is not set: listening on \"excimer\", the "
				      "channel of Arc Lamp's client, and \"arclamp\", the default of arclamp-log");
	CHECK_STR(source_of(LOGS "redis: {}\nredis_channel: x\n"), "redis://localhost:6379?channel=x");
}

TEST(redis_options_become_an_equivalent_url)
{
	struct redis_url u;

	CHECK_STR(source_of(LOGS "redis: {host: 10.0.0.1, port: '7000', db: 3, username: web, password: 'p@:/?#&%ä'}\n"
			    "redis_channel: [excimer, excimer-wall, 'a&b']\n"),
		  "redis://web:p%40%3A%2F%3F%23%26%25%C3%A4@10.0.0.1:7000/3?channel=excimer,excimer-wall,a%26b");
	CHECK(!redis_url_parse(config.source_url, &u, &problem));
	CHECK_STR(u.host, "10.0.0.1");
	CHECK_INT(u.port, 7000);
	CHECK_STR(u.user, "web");
	CHECK_STR(u.password, "p@:/?#&%ä");
	CHECK_INT(u.database, 3);
	CHECK_STR(redis_url_get(&u, "channel"), "excimer,excimer-wall,a&b");
	CHECK(!strstr(u.shown, "p%40"));
	redis_url_done(&u);
	CHECK_STR(source_of(LOGS "redis: {host: '::1', password: x}\nredis_channel: c\n"),
		  "redis://:x@[::1]:6379?channel=c");
	CHECK(!redis_url_parse(config.source_url, &u, &problem));
	CHECK_STR(u.host, "::1");
	CHECK_STR(u.password, "x");
	redis_url_done(&u);
}

TEST(channels_are_a_list_or_separated_by_commas)
{
	CHECK_STR(source_of(LOGS "redis: {}\nredis_channel: [a, b]\n"), "redis://localhost:6379?channel=a,b");
	CHECK_STR(source_of(LOGS "redis: {}\nredis_channel: a,b\n"), "redis://localhost:6379?channel=a,b");
	CHECK_STR(source_of(LOGS "redis: {}\nredis_channel: [a, 'b,c d']\n"),
		  "redis://localhost:6379?channel=a,b,c%20d");
	CHECK_STR(config.channels, "a,b,c%20d");
	CHECK(!make(LOGS "redis_channel: a\n"));
	CHECK_STR(config.channels, "a");		/* also for other sources than that Redis */
	CHECK(!make(LOGS "redis: {}\n"));
	CHECK(!config.channels);
}

TEST(a_unix_socket_replaces_host_and_port)
{
	CHECK_STR(source_of(LOGS "redis: {host: r, port: 1, unix_socket_path: /run/redis/a b.sock, db: 2, "
			    "password: x}\n"
			    "redis_channel: c\n"), "redis://:x@%2Frun%2Fredis%2Fa%20b.sock/2?channel=c");
	CHECK_STR(source_of(LOGS "redis: {host: r, unix_socket_path: }\nredis_channel: c\n"),
		  "redis://r:6379?channel=c");
}

TEST(redundant_options_are_accepted_silently_and_unknown_ones_are_named)
{
	CHECK(!make(LOGS "redis: {host: r, socket_timeout: 5, socket_keepalive: true, ssl: false, ssl_certfile: x, "
			 "health_check_interval: 30, decode_responses: no, tint: blue}\nredis_channel: c\ntaste: 1\n"));
	CHECK_INT(config.warning_count, 2);
	CHECK_STR(config.warnings[0], "a.yaml:5: 'taste' is unknown and was ignored");
	CHECK_STR(config.warnings[1], "a.yaml:3: 'redis: tint' is unknown and was ignored");
	CHECK(!make("logs: [{period: p, format: '%F', retain: 1, tint: 2}]\nredis: {}\nredis_channel: c\n"));
	CHECK_STR(config.warnings[0], "a.yaml:1: 'logs: tint' is unknown and was ignored");
}

TEST(redis_over_tls_is_verified_as_by_redis_py)
{
	CHECK_STR(source_of(LOGS "redis: {host: r, ssl: true}\nredis_channel: c\n"), "rediss://r:6379?channel=c");
	CHECK_STR(source_of(LOGS "redis: {host: r, port: 1, db: 2, password: x, ssl: true, ssl_ca_certs: /a b.pem, "
				 "ssl_certfile: /c, ssl_keyfile: /k, ssl_cert_reqs: required}\nredis_channel: c\n"),
		  "rediss://:x@r:1/2?channel=c&ca-file=%2Fa%20b.pem&cert-file=%2Fc&key-file=%2Fk");
	CHECK_INT(config.warning_count, 0);
	CHECK_STR(source_of(LOGS "redis: {host: r, ssl: true, ssl_cert_reqs: none}\nredis_channel: c\n"),
		  "rediss://r:6379?channel=c&verify=no");
	CHECK_STR(source_of(LOGS "redis: {host: r, ssl: true, ssl_cert_reqs: }\nredis_channel: c\n"),
		  "rediss://r:6379?channel=c&verify=no");
	CHECK_STR(source_of(LOGS "redis: {host: r, ssl: true, ssl_cert_reqs: some}\nredis_channel: c\n"),
		  "a.yaml:3: 'redis: ssl_cert_reqs' must be required, optional or none, not 'some'");
	CHECK_STR(source_of(LOGS "redis: {host: r, ssl: true, ssl_keyfile: /k}\nredis_channel: c\n"),
		  "a.yaml:3: 'redis' is not a valid address: key-file= needs cert-file=, the certificate that belongs to the key");
	CHECK_STR(source_of(LOGS "redis: {host: r, ssl: true, ssl_password: x, ssl_ciphers: y}\nredis_channel: c\n"),
		  "rediss://r:6379?channel=c");
	CHECK_INT(config.warning_count, 2);
	CHECK_STR(source_of(LOGS "redis: {unix_socket_path: /r, ssl: true}\nredis_channel: c\n"), "redis://%2Fr?channel=c");
}

TEST(unusable_redis_settings_matter_only_without_another_source)
{
	CHECK_STR(source_of(LOGS "redis: {unix_socket_path: redis.sock}\n"), "a.yaml:3: 'redis: unix_socket_path' "
		  "must be an absolute path");
	CHECK_STR(source_of(LOGS), "a.yaml:1: there is no 'redis' with host and port; name a source with --from, "
		  "such as resp://127.0.0.1:6379");
	CHECK_STR(source_of(LOGS "redis: {port: 70000}\n"),
		  "a.yaml:3: invalid 'redis: port: 70000'; use a whole number from 1 to 65535");
	CHECK_STR(source_of(LOGS "redis: {}\nredis_channel: 'a,'\n"), "a.yaml:4: invalid channel ''; use 1 to "
		  "200 bytes");
	CHECK_STR(source_of(LOGS "redis: {host: ''}\n"), "a.yaml:3: 'redis' is not a valid address: the host is "
		  "missing; a Redis URL looks like redis://host:6379/0?channel=excimer");
	CHECK(strstr(source_of(LOGS "redis: {host: 'a:b/c d'}\n"), "redis://a%3Ab%2Fc%20d:6379?"));
	CHECK_STR(source_of(LOGS "redis: {}\nredis_channel: []\n"), "a.yaml:4: 'redis_channel' is an empty list; "
		  "give a name");
}

TEST(incomplete_groups_are_rejected_with_their_line)
{
	CHECK_STR(error_of("redis: {}\n"), "a.yaml:1: missing 'logs', the list of log groups to write");
	CHECK_STR(error_of("logs: []\n"), "a.yaml:1: 'logs' has 0 groups; use 1 to 16");
	CHECK_STR(error_of("logs:\n  - {period: x, retain: 1}\n"), "a.yaml:2: a group of 'logs' has no 'format'");
	CHECK_STR(error_of("logs:\n  - {period: x, format: '%F'}\n"),
		  "a.yaml:2: a group of 'logs' has no 'retain', the number of older files to keep");
	CHECK_STR(error_of("logs:\n  - {period: x, format: '%F', retain: -1}\n"),
		  "a.yaml:2: invalid 'logs: retain: -1'; use a whole number from 0 to 10000000");
	CHECK_STR(error_of("logs:\n  - {period: x, format: '%Y/%m', retain: 1}\n"),
		  "a.yaml:2: the format '%Y/%m' cannot be used: its names contain '/', but a log is one file in "
		  "the directory of its period; use - or _ instead");
	CHECK_STR(error_of("logs:\n  - {period: ../x, format: '%F', retain: 1}\n"),
		  "a.yaml:2: the period '../x' is not a valid directory name; use one such as hourly");
	CHECK_STR(error_of("base_path: ''\n" LOGS), "a.yaml:1: 'base_path' is empty; give a directory such as "
		  "/srv/arclamp/logs");
	CHECK_STR(error_of("logs: hourly\n"), "a.yaml:1: 'logs' must be a list, not one value");
	CHECK_STR(error_of("- 1\n"), "a.yaml:1: the configuration must be a mapping (name: value), not a list");
}

TEST(a_file_of_arclamp_log_is_distinguished_from_one_of_strobe)
{
	static const struct { const char *text; bool is; } files[] = {
		{ LOGS, true }, { "base_path: /x\n" LOGS "redis: {}\n", true }, { "from: [x]\n", false }, { "", false },
		{ "logs: x\n", false }, { "logs: [x]\n", false }, { "logs: []\n", false }, { "- logs\n", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		struct yaml_tree t;

		CHECK(!yaml_tree_parse("a.yaml", files[i].text, strlen(files[i].text), &t, &problem));
		CHECK(arclamp_config_is(t.root) == files[i].is);
		yaml_tree_done(&t);
	}
	arclamp_config_done(&config);
}

TEST_MAIN()
