/* resp.h: the server side of the Redis protocol: parses commands and writes replies. Independent of sockets.
 *
 * A command is an array of byte strings, or, typed in telnet, one line:
 *
 *	*3\r\n $7\r\n PUBLISH\r\n $7\r\n excimer\r\n $12\r\n main;work 1\r\n	(without the spaces)
 *	PUBLISH excimer "main;work 1"\n
 *
 * A command is valid if, checked in this order,
 *   1. an array's count is a number of at most `arguments_max`; 0 or less is skipped,
 *   2. each argument begins with '$' and a length from 0 to `argument_max`,
 *   3. the bytes are followed by \r\n; so are both numbers,
 *   4. a line is at most RESP_LINE_MAX bytes, and its quotes are closed.
 */
#ifndef REDIS_RESP_H
#define REDIS_RESP_H

#include "buf.h"
#include "intern.h"

#include <sys/types.h>

#define RESP_LINE_MAX		(64u * 1024)
#define RESP_ARGUMENT_MAX	(64u * 1024 * 1024)	/* a message of wire/strobe_wire.h fits */
#define RESP_ARGUMENTS_MAX	1024u

/* Before the login, a client may only send what a login needs. */
#define RESP_STRANGER_ARGUMENT_MAX	(16u * 1024)
#define RESP_STRANGER_ARGUMENTS_MAX	10u

struct resp_parser {
	size_t argument_max, arguments_max;	/* may be changed between commands */
	struct str *arguments;			/* arguments of the command found by resp_next; they point into its data */
	size_t count;
	char error[64];				/* error of a malformed command: "invalid bulk length" */

	/* private: how far an incomplete command has been parsed, from its first byte */
	size_t at, scanned, wanted;
	struct resp_part { size_t at, n; } *parts;
	size_t part_count, part_capacity, capacity;
	struct buf line;			/* the arguments of an inline command, without their quotes */
};

void resp_init(struct resp_parser *p);
void resp_done(struct resp_parser *p);

/* Looks for a command at the start of `data`. Returns its size, with its arguments in `p` (none: nothing to do), 0 if
 * it is incomplete, or -EBADMSG with `p->error` for invalid input, after which nothing more can be read. After 0,
 * call it again with the same bytes followed by more; they may have moved in memory. Nothing is parsed twice except
 * an incomplete number. */
ssize_t resp_next(struct resp_parser *p, const char *data, size_t n);

/* Returns the minimum size of the incomplete command. */
size_t resp_need(const struct resp_parser *p);

/* --- Replies. `version` is the protocol that the client requested, 2 or 3 --- */

void resp_put_status(struct buf *b, const char *text);			/* +OK */
void resp_put_error(struct buf *b, const char *format, ...) _printf_(2, 3);	/* -ERR …; line breaks are removed */
void resp_put_integer(struct buf *b, int64_t v);
void resp_put_bulk(struct buf *b, const void *bytes, size_t n);
void resp_put_text(struct buf *b, const char *text);
void resp_put_null(struct buf *b, int version);
void resp_put_array(struct buf *b, size_t count);			/* `count` replies follow */
void resp_put_map(struct buf *b, size_t pairs, int version);		/* twice as many follow */

#endif
