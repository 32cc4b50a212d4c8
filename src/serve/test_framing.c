/* test_framing.c: unambiguous requests in pieces of any size, and requests that are refused. */
#include "framing.h"

#include "test.h"

#define HOST	"Host: localhost\r\n"
#define POST	"POST /api/v1/runs HTTP/1.1\r\n" HOST

/* A literal with NULs in it. */
#define BYTES(text)	text, sizeof(text) - 1

/* The result must not depend on the pieces. Returns the number of valid bytes. */
static size_t take(const char *bytes, size_t n, const char **ret_problem)
{
	struct framing whole;
	size_t fine;

	framing_init(&whole);
	fine = framing_take(&whole, bytes, n);
	for (size_t piece = 1; piece <= 7; piece++) {
		struct framing f;

		framing_init(&f);
		for (size_t i = 0; i < n && !f.problem; i += piece)
			framing_take(&f, bytes + i, n - i < piece ? n - i : piece);
		CHECK((f.problem == NULL) == (whole.problem == NULL));
		if (f.problem && whole.problem)
			CHECK_STR(f.problem, whole.problem);
	}
	*ret_problem = whole.problem;
	return fine;
}

static void check_fine(const char *bytes, size_t n)
{
	const char *problem;

	CHECK_INT(take(bytes, n, &problem), n);
	CHECK_STR(problem ? problem : "", "");
}

static void check_refused(const char *bytes, size_t n, const char *sentence)
{
	const char *problem;

	CHECK_INT(take(bytes, n, &problem), 0);
	if (!problem || !strstr(problem, sentence))
		CHECK_STR(problem ? problem : "", sentence);
}

TEST(requests_of_programs_and_browsers_are_accepted)
{
	check_fine(BYTES("GET / HTTP/1.1\r\n" HOST "\r\n"));
	check_fine(BYTES("GET /?a=b%00&c HTTP/1.0\n\n"));
	check_fine(BYTES("\r\n\r\nGET / HTTP/1.1\r\n" HOST "X-Empty:\r\nX-Tab:\ta\tb \r\nX: \xc3\xa4\r\n\r\n"));
	check_fine(BYTES(POST "Content-Length: 3\r\n\r\n\0\r\n"));
	check_fine(BYTES(POST "content-length:\t3 \t\r\n\r\nabc" POST "Content-Length: 0\r\n\r\n" POST "\r\n"));
	check_fine(BYTES(POST "Transfer-Encoding:Chunked\r\n\r\n3;x=\"y\"\r\n\0\r\n\r\n01a\r\n" "abcdefghijklmnopqrstuvwxyz\r\n0\r\nX: y\r\n\r\nGET / HTTP/1.1\r\n\r\n"));
}

TEST(ambiguous_lengths_are_rejected)
{
	static const char more[] = "more than one of Content-Length and Transfer-Encoding";

	check_refused(BYTES(POST "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabc"), more);
	check_refused(BYTES(POST "Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc"), more);
	check_refused(BYTES(POST "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n"), more);
	check_refused(BYTES(POST "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n"), more);
	check_refused(BYTES(POST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n"), more);
	check_refused(BYTES(POST "Content-Length: 3, 3\r\n\r\nabc"), "not a number");
	check_refused(BYTES(POST "Content-Length: 3 3\r\n\r\nabc"), "two values");
	check_refused(BYTES(POST "Content-Length: +3\r\n\r\nabc"), "not a number");
	check_refused(BYTES(POST "Content-Length: 0x3\r\n\r\nabc"), "not a number");
	check_refused(BYTES(POST "Content-Length:\r\n\r\nabc"), "not a number");
	check_refused(BYTES(POST "Content-Length: 9999999999999999999\r\n\r\n"), "not a number");
	check_refused(BYTES(POST "Transfer-Encoding: gzip, chunked\r\n\r\n"), "not chunked");
	check_refused(BYTES(POST "Transfer-Encoding: identity\r\n\r\n"), "not chunked");
	check_refused(BYTES(POST "Transfer-Encoding: chunkedx\r\n\r\n"), "not chunked");
	check_refused(BYTES(POST "Transfer-Encoding: chunk\r\n\r\n"), "not chunked");
	check_refused(BYTES("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"), "not in HTTP/1.0");
	check_refused(BYTES(POST "Transfer-Encoding: chunked\r\n\r\n0\r\nContent-Length: 3\r\n\r\n"), "follows the body");
}

TEST(header_names_must_be_followed_directly_by_a_colon)
{
	static const char token[] = "not a token followed by a colon";

	check_refused(BYTES(POST "Transfer-Encoding : chunked\r\n\r\n"), token);
	check_refused(BYTES(POST "Transfer-Encoding\t: chunked\r\n\r\n"), token);
	check_refused(BYTES(POST "Content-Length : 3\r\n\r\n"), token);
	check_refused(BYTES(POST " Transfer-Encoding: chunked\r\n\r\n"), token);
	check_refused(BYTES(POST "X: a\r\n\tb\r\n\r\n"), token);
	check_refused(BYTES(POST "junk\r\n\r\n"), token);
	check_refused(BYTES(POST ": x\r\n\r\n"), "no name");
}

TEST(control_characters_are_rejected_everywhere)
{
	check_refused(BYTES("G\0ET / HTTP/1.1\r\n\r\n"), "the method");
	check_refused(BYTES("GET /\0x HTTP/1.1\r\n\r\n"), "the first line");
	check_refused(BYTES("GET / HTTP/1.1\0\r\n\r\n"), "the first line");
	check_refused(BYTES("GET / HTTP/1.1\r\nHost: localhost\0evil\r\n\r\n"), "a control byte");
	check_refused(BYTES("GET / HTTP/1.1\r\nX\0A: b\r\n\r\n"), "name");
	check_refused(BYTES(POST "Content-Length: 3\0\r\n\r\nabc"), "a control byte");
	check_refused(BYTES(POST "Transfer-Encoding: chunked\0\r\n\r\n"), "a control byte");
	check_refused(BYTES(POST "X: a\rContent-Length: 3\r\n\r\n"), "a CR is not followed by LF");
	check_refused(BYTES(POST "\rX\r\n\r\n"), "a CR is not followed by LF");
	check_refused(BYTES(POST "X: a\x7f\r\n\r\n"), "a control byte");
	check_refused(BYTES(POST "Transfer-Encoding: chunked\r\n\r\n1;\0\r\n"), "the size of a chunk");
}

TEST(malformed_request_lines_and_chunks_are_rejected)
{
	check_refused(BYTES("GET  / HTTP/1.1\r\n\r\n"), "the first line");
	check_refused(BYTES("GET / x HTTP/1.1\r\n\r\n"), "the first line");
	check_refused(BYTES("GET /\r\n\r\n"), "the first line");
	check_refused(BYTES("GET / HTTP/1.2\r\n\r\n"), "the first line");
	check_refused(BYTES("GET / HTTP/2.0\r\n\r\n"), "HTTP/2 is not supported, only HTTP/1.1");
	check_refused(BYTES(" GET / HTTP/1.1\r\n\r\n"), "the first line");
	check_refused(BYTES(POST "Transfer-Encoding: chunked\r\n\r\n-1\r\n"), "the size of a chunk");
	check_refused(BYTES(POST "Transfer-Encoding: chunked\r\n\r\n\r\n"), "the size of a chunk");
	check_refused(BYTES(POST "Transfer-Encoding: chunked\r\n\r\n0000000000000001\r\n"), "the size of a chunk");
	check_refused(BYTES(POST "Transfer-Encoding: chunked\r\n\r\n1\r\nab\r\n"), "longer than its size");
}

TEST(the_length_of_each_request_target_is_limited)
{
	static char two[2 * FRAMING_TARGET_MAX + 100];
	struct framing f;
	size_t n = 0, fine;

	for (int i = 0; i < 2; i++) {
		n += (size_t)sprintf(two + n, "GET /");
		memset(two + n, 'a', FRAMING_TARGET_MAX - 1);
		n += FRAMING_TARGET_MAX - 1;
		fine = n;
		n += (size_t)sprintf(two + n, " HTTP/1.1\r\n\r\n");
	}
	check_fine(two, n);
	two[fine] = 'a';
	check_refused(two + n / 2, n / 2, "too long");
	framing_init(&f);
	CHECK_INT(framing_take(&f, two, n), n / 2);
	CHECK(f.is_long);
}

TEST(requests_before_a_rejected_one_are_kept)
{
	static const char first[] = "GET / HTTP/1.1\r\n\r\n" POST "Content-Length: 2\r\n\r\nab\r\n",
			  both[] = "GET / HTTP/1.1\r\n\r\n" POST "Content-Length: 2\r\n\r\nab\r\nGET / HTTP/1.1\r\nX : y\r\n\r\n";
	struct framing f;

	framing_init(&f);
	CHECK_INT(framing_take(&f, both, sizeof(both) - 1), sizeof(first) - 1);
	CHECK(f.problem);
	CHECK_INT(framing_take(&f, "GET / HTTP/1.1\r\n\r\n", 18), 0);
}

TEST_MAIN()
