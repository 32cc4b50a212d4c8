/* runs_upload.c: files uploaded with the form of the list, one or many. A file named ID.SOURCE.xhprof or
 * ID.SOURCE.uprofiler keeps both names, as with `strobe import`. */

#include "runs.h"

#include "clock.h"
#include "form_token.h"
#include "html.h"
#include "multipart.h"
#include "run_name.h"
#include "runs_add.h"

#include <string.h>

#define FORM_NS		(60 * NS_PER_SECOND)	/* after that, no further file is read */

struct upload {
	struct server_context *context;
	const struct request *request;
	char source[STROBE_WIRE_RUN_KEY + 1];		/* source for files that have none; "" is "default" */
	char token[FORM_TOKEN + 1];
	unsigned files, stored, stored_before;
	int status;					/* status of the first file that was refused; 0: none */
	struct store_new_run last;
	struct buf rows;				/* table of results */
};

static void set_label(struct profile *p, const char *key, const char *value)
{
	if (*value && !labels_get(&p->labels, key))
		labels_set(&p->labels, key, strlen(key), value, strlen(value));
}

/* Fills in missing labels: the profile's own come first, then those of the file name, then the form's. */
static void set_default_name(struct profile *p, const char *file, const char *source)
{
	char hash[STROBE_WIRE_RUN_KEY + 1];
	struct run_name named;

	if (run_name_of_file(file, &named)) {
		set_label(p, "source", named.source);
		set_label(p, "id", named.id);
	}
	set_label(p, "source", source);
	if (!labels_get(&p->labels, "id") && run_name_of_profile(p, hash))
		set_label(p, "id", hash);
}

static void put_row(struct upload *u, const char *file, const struct store_new_run *run, const char *sentence)
{
	buf_puts(&u->rows, "<tr><th scope=\"row\">");
	html_text(&u->rows, file);
	buf_puts(&u->rows, "</th><th scope=\"row\">");
	if (sentence)
		html_text(&u->rows, sentence);
	else
		buf_printf(&u->rows, "<a href=\"/runs/%s/%s\">%s/%s</a>%s", run->source, run->id, run->source, run->id,
			   run->result ? "" : ", which was stored before");
	buf_puts(&u->rows, "</th></tr>\n");
}

static int take_file(struct upload *u, const char *name, const struct multipart_part *part, struct err *err)
{
	_cleanup_(profile_freep) struct profile *p = profile_new();
	struct store_new_run run;
	uint64_t charged = 0;
	int status;

	if (clock_wall_ns() - u->request->now_ns > FORM_NS)
		return runs_fail(err, 413, "not read: the files before it took longer than %lld seconds; send it again",
				 FORM_NS / NS_PER_SECOND);
	if (!part->size)
		return runs_fail(err, 400, "the file is empty, so it has no profile");
	status = runs_read(u->context, name, part->bytes, part->size, p, &charged, err);
	if (!status) {
		set_default_name(p, part->file, u->source);
		status = runs_store(u->context, p, u->request->now_ns, &run);
		if (status)
			*err = run.err;
	}
	memory_cap_release(&u->context->memory, charged);
	if (status)
		return status;
	put_row(u, name, &run, NULL);
	u->last = run;
	u->stored += run.result == 1;
	u->stored_before += !run.result;
	return 0;
}

/* A value that is too long becomes an invalid token or source instead of being truncated. */
static void take_field(const struct multipart_part *part, char *ret, size_t size)
{
	bool fits = part->size < size;

	memcpy(ret, fits ? part->bytes : "?", fits ? part->size : 1);
	ret[fits ? part->size : 1] = 0;
}

/* Fields come before the files. */
static void take_part(struct upload *u, const struct multipart_part *part)
{
	const char *name = *part->file ? part->file : "a file without a name";
	struct err err = { 0 };
	int status;

	if (!part->is_file) {
		if (!strcmp(part->name, FORM_TOKEN_NAME))
			take_field(part, u->token, sizeof(u->token));
		else if (!strcmp(part->name, "source"))
			take_field(part, u->source, sizeof(u->source));
		return;
	}
	if (!*part->file && !part->size)	/* nothing was chosen */
		return;
	u->files++;
	status = take_file(u, name, part, &err);
	if (status) {
		u->status = u->status ? u->status : status;
		put_row(u, name, NULL, err.text);
	}
}

static int take_form(struct upload *u, struct err *err)
{
	const struct request *q = u->request;
	struct multipart_part part;
	struct multipart m;
	int e = multipart_begin(&m, q->body, q->body_size, err);

	while (e >= 0 && (e = multipart_next(&m, &part, err)) > 0) {
		if (part.is_file && !form_token_matches(q->form_token, u->token))
			break;
		if (part.is_file && *u->source && !strobe_wire_is_run_key(u->source, strlen(u->source)))
			return runs_fail(err, 400, "'%.80s' cannot be the source of a run: 1 to %u letters, digits, '.', '_' "
						   "or '-'",
					 u->source, STROBE_WIRE_RUN_KEY);
		take_part(u, &part);
	}
	if (e < 0)
		return 400;
	if (!form_token_matches(q->form_token, u->token))
		return runs_reject_old_form(err);
	return u->files ? 0 : runs_fail(err, 400, "no file was chosen");
}

static void show(struct upload *u, struct response *r)
{
	runs_page_begin(u->request, r, "Upload – Strobe");
	r->status = u->status;
	buf_printf(&r->body, "</header>\n<main>\n<section class=\"plain\" aria-label=\"Upload\">\n<h2>Stored %u of %u file%s",
		   u->stored, u->files, u->files == 1 ? "" : "s");
	if (u->stored_before)
		buf_printf(&r->body, "; %u %s stored before", u->stored_before, u->stored_before == 1 ? "was" : "were");
	buf_puts(&r->body, "</h2>\n<table>\n<tbody>\n");
	buf_put(&r->body, u->rows.data, u->rows.size);
	buf_puts(&r->body, "</tbody>\n</table>\n<p><a href=\"/runs\">All runs</a></p>\n</section>\n");
	runs_page_end(r);
}

void runs_upload(struct server_context *s, const struct request *q, struct response *r)
{
	struct upload u = { .context = s, .request = q };
	_cleanup_(buf_done) struct buf address = { 0 };
	struct err err = { 0 };
	int status;

	buf_init(&u.rows);
	buf_init(&address);
	status = q->body_size ? take_form(&u, &err) : runs_fail(&err, 400, "no file was chosen");
	if (status && !u.files) {
		runs_page_error(q, r, status, err.text);
	} else if (status || u.status) {
		if (status)
			put_row(&u, "the rest", NULL, err.text);
		u.status = u.status ? u.status : status;
		show(&u, r);
	} else {
		buf_puts(&address, "/runs");
		if (u.files == 1)
			buf_printf(&address, "/%s/%s", u.last.source, u.last.id);
		runs_lead_to(r, 303, &address);
	}
	buf_done(&u.rows);
}
