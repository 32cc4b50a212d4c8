/* pprof_write.c: writes a sample per stack with values; labels common to all are comments "key=value".
 *
 * Columns keep their names and units. Strings in protobuf must be UTF-8; invalid bytes become U+FFFD, with a warning.
 */
#include "pprof.h"
#include "gzip.h"
#include "mem.h"
#include "notes.h"
#include "line_places.h"
#include "protobuf.h"
#include "text.h"
#include <string.h>

struct writer {
	const struct profile *profile;
	struct line_places places;
	uint32_t columns[PROFILE_COLUMNS], column_count;
	const char *period_type;	/* for pushes; NULL: for a file, whose columns keep their names */
	struct buf out, message, inner;
	struct intern strings;
	struct notes notes;
};

/* Adds a string as UTF-8; control characters are kept. */
static uint64_t string(struct writer *w, struct str s)
{
	_cleanup_(buf_done) struct buf safe = { 0 };

	buf_init(&safe);
	text_put_utf8(&safe, s);
	w->notes.names += safe.size != s.n || memcmp(safe.data, s.p, s.n);
	return intern_add(&w->strings, safe.data, safe.size);
}

static uint64_t c_string(struct writer *w, const char *s)
{
	return string(w, (struct str){ s, strlen(s) });
}

static void put_message(struct writer *w, uint32_t number)
{
	protobuf_put_bytes(&w->out, number, w->message.data, w->message.size);
	buf_reset(&w->message);
}

static void put_value_type(struct writer *w, uint32_t number, uint64_t type, const char *unit)
{
	protobuf_put_number(&w->message, PPROF_TYPE, type);
	protobuf_put_number(&w->message, PPROF_UNIT, c_string(w, unit));
	put_message(w, number);
}

static bool has_values(const struct writer *w, uint32_t node)
{
	for (uint32_t i = 0; i < w->column_count; i++)
		if (w->profile->columns[w->columns[i]].self[node])
			return true;
	return false;
}

/* A location is a function and one of its lines. */
static void put_sample(struct writer *w, uint32_t node)
{
	const struct profile *p = w->profile;

	buf_reset(&w->inner);
	for (uint32_t n = node; n != PROFILE_ROOT; n = p->parents[n])
		buf_put_varint(&w->inner, (uint64_t)line_place_of(&w->places, p, n) + 1);
	if (w->inner.size)
		protobuf_put_bytes(&w->message, PPROF_SAMPLE_LOCATION, w->inner.data, w->inner.size);
	buf_reset(&w->inner);
	for (uint32_t i = 0; i < w->column_count; i++)
		buf_put_varint(&w->inner, (uint64_t)p->columns[w->columns[i]].self[node]);
	protobuf_put_bytes(&w->message, PPROF_SAMPLE_VALUE, w->inner.data, w->inner.size);
	put_message(w, PPROF_SAMPLE);
}

/* Puts one mapping that claims to have all names; otherwise pprof would look for symbols. */
static void put_mapping(struct writer *w)
{
	const char *entry = labels_get(&w->profile->labels, "entry");

	protobuf_put_number(&w->message, PPROF_MAPPING_ID, 1);
	protobuf_put_number(&w->message, PPROF_MAPPING_FILE, c_string(w, entry ? entry : "php"));
	for (uint32_t i = 0; i < 3; i++)
		protobuf_put_number(&w->message, PPROF_MAPPING_HAS + i, 1);
	put_message(w, PPROF_MAPPING);
}

/* Puts a location with its executed line. Profiles without executed lines have the line of the definition, which
 * readers treat as unknown. */
static void put_location(struct writer *w, uint32_t i)
{
	const struct line_place *l = &w->places.list[i];

	buf_reset(&w->inner);
	protobuf_put_number(&w->inner, PPROF_LINE_FUNCTION, (uint64_t)l->frame + 1);
	protobuf_put_number(&w->inner, PPROF_LINE_LINE, l->line);
	protobuf_put_number(&w->message, PPROF_LOCATION_ID, (uint64_t)i + 1);
	protobuf_put_number(&w->message, PPROF_LOCATION_MAPPING, 1);
	protobuf_put_bytes(&w->message, PPROF_LOCATION_LINE, w->inner.data, w->inner.size);
	put_message(w, PPROF_LOCATION);
}

static void put_function(struct writer *w, uint32_t i)
{
	uint64_t name = string(w, profile_name(w->profile, i));

	protobuf_put_number(&w->message, PPROF_FUNCTION_ID, (uint64_t)i + 1);
	protobuf_put_number(&w->message, PPROF_FUNCTION_NAME, name);
	protobuf_put_number(&w->message, PPROF_FUNCTION_SYSTEM_NAME, name);
	protobuf_put_number(&w->message, PPROF_FUNCTION_FILE, string(w, profile_file(w->profile, i)));
	protobuf_put_number(&w->message, PPROF_FUNCTION_START, w->profile->frames[i].line);
	put_message(w, PPROF_FUNCTION);
}

const char *pprof_type(const char *column)
{
	static const char *const names[][2] = { { "cpu_ns", "cpu" }, { "wall_ns", "wall" }, { "off_cpu_ns", "off_cpu" } };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(column, names[i][0]))
			return names[i][1];
	return column;
}

/* Returns the name of a column's sample type as a string number. Pyroscope refuses sample types with "-". */
static uint64_t type_of(struct writer *w, uint32_t column)
{
	const char *name = w->profile->columns[column].name;
	_cleanup_(freep) char *pushed = w->period_type ? xstrdup(pprof_type(name)) : NULL;

	for (char *p = pushed; p && *p; p++)
		if (*p == '-')
			*p = '_';
	return c_string(w, pushed ? pushed : name);
}

static void put_facts(struct writer *w)
{
	const struct profile *p = w->profile;
	const char *clock = labels_get(&p->labels, "clock");
	uint32_t shown = w->column_count > 1 ? profile_pick_column(p, NULL) : w->columns[0];
	struct buf comment;

	protobuf_put_number(&w->out, PPROF_TIME, (uint64_t)p->start_ns);
	protobuf_put_number(&w->out, PPROF_DURATION, (uint64_t)p->end_ns - (uint64_t)p->start_ns);
	if (p->period_ns) {
		put_value_type(w, PPROF_PERIOD_TYPE, c_string(w, w->period_type ? w->period_type : clock ? clock :
													   "wall"),
			       "nanoseconds");
		protobuf_put_number(&w->out, PPROF_PERIOD, (uint64_t)p->period_ns);
	}
	buf_init(&comment);
	for (size_t i = 0; i < p->labels.count && !w->period_type; i++) {
		buf_reset(&comment);
		buf_printf(&comment, "%s=%s", p->labels.items[i].key, p->labels.items[i].value);
		protobuf_put_number(&w->out, PPROF_COMMENT, string(w, (struct str){ comment.data, comment.size }));
	}
	buf_done(&comment);
	protobuf_put_number(&w->out, PPROF_DEFAULT_TYPE, type_of(w, shown));
}

/* Puts each function after the first location that uses it. */
static void put_named(struct writer *w)
{
	_cleanup_(freep) bool *known = xcalloc((size_t)w->profile->frame_count + 1, sizeof(*known));

	for (uint32_t i = 0; i < w->places.count; i++) {
		uint32_t frame = w->places.list[i].frame;

		put_location(w, i);
		if (!known[frame])
			put_function(w, frame);
		known[frame] = true;
	}
}

static void put_all(struct writer *w)
{
	const struct profile *p = w->profile;

	intern_add(&w->strings, "", 0);
	for (uint32_t i = 0; i < w->column_count; i++)
		put_value_type(w, PPROF_SAMPLE_TYPE, type_of(w, w->columns[i]), p->columns[w->columns[i]].unit);
	for (uint32_t n = 0; n < p->node_count && !w->out.overflow; n++)
		if (has_values(w, n))
			put_sample(w, n);
	put_mapping(w);
	put_named(w);
	put_facts(w);
	/* Strings come last, when all are known; the order of fields does not matter. */
	for (size_t i = 0; i < w->strings.count; i++) {
		struct str s = intern_get(&w->strings, (uint32_t)i);

		protobuf_put_bytes(&w->out, PPROF_STRING, s.p, s.n);
	}
}

static int write_as(const struct profile *p, uint32_t column, const char *period_type, struct buf *out, struct err *err)
{
	struct writer w = { .profile = p, .period_type = period_type };
	int r;

	if (!p->column_count)
		return err_set(err, -ENODATA, "nothing to write: the profile has no values");
	for (uint32_t c = 0; c < p->column_count; c++)
		if (column == UINT32_MAX || c == column)
			w.columns[w.column_count++] = c;
	buf_init(&w.out);
	buf_init(&w.message);
	buf_init(&w.inner);
	intern_init(&w.strings);
	notes_init(&w.notes);
	line_places_init(&w.places, p);
	put_all(&w);
	r = notes_result(&w.notes, &w.out, "profile", err);
	if (r >= 0)
		buf_put(out, w.out.data, w.out.size);
	buf_done(&w.out);
	buf_done(&w.message);
	buf_done(&w.inner);
	intern_done(&w.strings);
	notes_done(&w.notes);
	line_places_done(&w.places);
	return r;
}

int pprof_write_plain(const struct profile *p, uint32_t column, struct buf *out, struct err *err)
{
	return write_as(p, column, NULL, out, err);
}

int pprof_write_pushed(const struct profile *p, const char *period_type, struct buf *out, struct err *err)
{
	_cleanup_(buf_done) struct buf plain = { 0 };
	int r;

	buf_init(&plain);
	r = write_as(p, UINT32_MAX, period_type, &plain, err);
	return r >= 0 && gzip_put(out, plain.data, plain.size, err) < 0 ? -EFBIG : r;
}

int pprof_write(const struct profile *p, uint32_t column, struct buf *out, struct err *err)
{
	_cleanup_(buf_done) struct buf plain = { 0 };
	int r;

	buf_init(&plain);
	r = pprof_write_plain(p, column, &plain, err);
	return r >= 0 && gzip_put(out, plain.data, plain.size, err) < 0 ? -EFBIG : r;
}
