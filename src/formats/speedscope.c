/* speedscope.c: the file format of https://www.speedscope.app.
 *
 *	{ "$schema": "https://www.speedscope.app/file-format-schema.json",
 *	  "shared": { "frames": [ { "name", "file", "line", "col" }, … ] },
 *	  "profiles": [
 *	    { "type": "sampled", "name", "unit", "startValue", "endValue",
 *	      "samples": [ [frame, frame, …], … ],	root first, indices of shared.frames
 *	      "weights": [ number, … ] },		one per sample
 *	    { "type": "evented", "name", "unit", "startValue", "endValue",
 *	      "events": [ { "type": "O" or "C", "frame", "at" }, … ] } ],
 *	  "name", "activeProfileIndex", "exporter" }
 *
 * unit is none, nanoseconds, microseconds, milliseconds, seconds or bytes. Our own files have one sampled profile per
 * column, named after it, and "strobe" with times, period and labels. The line of a frame is where its function
 * begins; but if there is a list "strobe_starts" with the starts, one per frame, the line of a frame is the executed
 * one. In files of other programs, profiles are threads: units of time become wall_ns, bytes memory_bytes, none samples.
 *
 * An event that closes a frame also closes frames opened inside it; one whose frame is not open is skipped and
 * counted. Caps: JSON_TEXT_MAX bytes, DEPTH_MAX frames of a stack.
 */
#include "speedscope.h"
#include "format.h"
#include "json_read.h"
#include "mem.h"
#include "line_places.h"
#include "text.h"
#include <limits.h>
#include <math.h>
#include <string.h>

#define DEPTH_MAX	65536u
#define CLOSE_LEVELS	1000u		/* levels up in which the frame of a closing event is searched */

static const struct {
	const char *unit, *column, *column_unit;
	int64_t scale;
} units[] = {
	{ "none", "samples", "count", 1 },
	{ "nanoseconds", "wall_ns", "nanoseconds", 1 },
	{ "microseconds", "wall_ns", "nanoseconds", 1000 },
	{ "milliseconds", "wall_ns", "nanoseconds", 1000000 },
	{ "seconds", "wall_ns", "nanoseconds", 1000000000 },
	{ "bytes", "memory_bytes", "bytes", 1 },
};

struct reader {
	struct profile *profile;
	struct line_place *frames;		/* frames of the profile, with executed lines */
	size_t frame_count;
	bool is_ours;
	uint32_t column;		/* column for the profile that is being read */
	int64_t scale;
	size_t number;			/* number of that profile, from 1 */
	size_t skipped;
	struct err *err;
};

static int read_frames(struct reader *r, json_t *frames, json_t *starts)
{
	json_t *frame;
	size_t i;

	if (!json_is_array(frames))
		return err_set(r->err, -EINVAL, "it has no list of frames in \"shared\"");
	r->frames = xmalloc(json_array_size(frames) * sizeof(*r->frames));
	json_array_foreach(frames, i, frame) {
		uint32_t line = json_line(json_object_get(frame, "line"));

		if (!json_is_string(json_object_get(frame, "name")))
			return err_set(r->err, -EINVAL, "frame %zu has no name", i);
		r->frames[i].frame = profile_frame(r->profile, profile_given_name(json_text(json_object_get(frame, "name"))),
						   json_text(json_object_get(frame, "file")),
						   starts ? json_line(json_array_get(starts, i)) : line);
		r->frames[i].line = starts ? line : 0;
	}
	r->frame_count = i;
	return 0;
}

static bool has_fractions(json_t *weights)
{
	json_t *weight;
	size_t i;

	json_array_foreach(weights, i, weight)
		if (json_is_real(weight) && json_real_value(weight) != floor(json_real_value(weight)))
			return true;
	return false;
}

/* Chooses by unit; in our own files by name. */
static int choose_column(struct reader *r, json_t *profile)
{
	const char *unit = json_string_value(json_object_get(profile, "unit"));
	const char *name = json_string_value(json_object_get(profile, "name"));
	char column[64];
	size_t i = 0;

	while (i < ARRAY_SIZE(units) && strcmp(units[i].unit, unit ? unit : "none"))
		i++;
	if (i == ARRAY_SIZE(units))
		return err_set(r->err, -EINVAL, "profile %zu has the unknown unit '%.40s'",
			       r->number, unit);
	r->scale = units[i].scale;
	snprintf(column, sizeof(column), "%s", r->is_ours && name && *name ? name : units[i].column);
	r->column = profile_column(r->profile, column, units[i].column_unit);
	if (r->column == UINT32_MAX)
		return err_set(r->err, -E2BIG, "it exceeds the limit of %u columns", PROFILE_COLUMNS);
	if (!strcmp(units[i].unit, "none") && has_fractions(json_object_get(profile, "weights")))
		profile_refine(r->profile, r->column);
	r->scale *= profile_scale(r->profile, r->column);
	return 0;
}

static int no_such_frame(struct reader *r, const char *what, size_t i)
{
	return err_set(r->err, -EINVAL, "%s %zu of profile %zu has a frame that does not exist", what, i, r->number);
}

static bool take_frame(const struct reader *r, json_t *index, struct line_place *ret)
{
	json_int_t i = json_integer_value(index);

	if (!json_is_integer(index) || i < 0 || (uint64_t)i >= r->frame_count)
		return false;
	*ret = r->frames[i];
	return true;
}

static int read_samples(struct reader *r, json_t *profile)
{
	json_t *samples = json_object_get(profile, "samples"), *weights = json_object_get(profile, "weights"), *sample,
		*index;
	double carry = 0;
	size_t i, k;

	if (!json_is_array(samples) || !json_is_array(weights) || json_array_size(samples) != json_array_size(weights))
		return err_set(r->err, -EINVAL, "the weights and samples of profile %zu differ in number", r->number);
	json_array_foreach(samples, i, sample) {
		uint32_t node = PROFILE_ROOT;
		struct line_place at;

		if (json_array_size(sample) > DEPTH_MAX)
			return err_set(r->err, -E2BIG, "sample %zu of profile %zu exceeds the limit of %u frames",
				       i, r->number, DEPTH_MAX);
		json_array_foreach(sample, k, index) {
			if (!take_frame(r, index, &at))
				return no_such_frame(r, "sample", i);
			node = profile_child_at(r->profile, node, at.frame, at.line);
		}
		if (!json_is_number(json_array_get(weights, i)))
			return err_set(r->err, -EINVAL, "weight %zu of profile %zu is not a number", i, r->number);
		profile_add(r->profile, node, r->column, json_scaled(json_array_get(weights, i), r->scale, &carry));
	}
	return 0;
}

/* Returns the node after closing `frame`; the node itself if it is not open within CLOSE_LEVELS levels. */
static uint32_t closed(const struct profile *p, uint32_t node, uint32_t frame)
{
	uint32_t up = node;

	for (unsigned i = 0; i < CLOSE_LEVELS && up != PROFILE_ROOT; i++, up = p->parents[up])
		if (p->node_frames[up] == frame)
			return p->parents[up];
	return node;
}

static int64_t difference(int64_t a, int64_t b)
{
	int64_t d;

	return __builtin_sub_overflow(a, b, &d) || d < 0 ? 0 : d;
}

static int read_events(struct reader *r, json_t *profile)
{
	json_t *events = json_object_get(profile, "events"), *event;
	uint32_t node = PROFILE_ROOT, depth = 0;
	struct line_place place;
	int64_t before = 0;
	size_t i;

	if (!json_is_array(events))
		return err_set(r->err, -EINVAL, "profile %zu has no events", r->number);
	json_array_foreach(events, i, event) {
		const char *type = json_string_value(json_object_get(event, "type"));
		int64_t at = json_scaled(json_object_get(event, "at"), r->scale, NULL);

		if (!take_frame(r, json_object_get(event, "frame"), &place))
			return no_such_frame(r, "event", i);
		/* Time outside all frames is not attributed. */
		if (node != PROFILE_ROOT)
			profile_add(r->profile, node, r->column, difference(at, before));
		before = i && at < before ? before : at;
		if (type && !strcmp(type, "O")) {
			if (++depth > DEPTH_MAX)
				return err_set(r->err, -E2BIG, "the open frames of profile %zu exceed the limit of %u",
					       r->number, DEPTH_MAX);
			node = profile_child_at(r->profile, node, place.frame, place.line);
		} else {
			uint32_t now = closed(r->profile, node, place.frame);

			r->skipped += now == node;
			for (; node != now; node = r->profile->parents[node])
				depth--;
		}
	}
	return 0;
}

static int read_profile(struct reader *r, json_t *profile)
{
	const char *type = json_string_value(json_object_get(profile, "type"));
	int code = choose_column(r, profile);

	if (code)
		return code;
	if (type && !strcmp(type, "sampled"))
		return read_samples(r, profile);
	if (type && !strcmp(type, "evented"))
		return read_events(r, profile);
	return err_set(r->err, -EINVAL, "profile %zu is neither sampled nor evented", r->number);
}

static int read_all(struct reader *r, json_t *all)
{
	json_t *profiles = json_object_get(all, "profiles"), *profile, *facts = json_object_get(all, "strobe");
	int code = read_frames(r, json_object_get(json_object_get(all, "shared"), "frames"),
			       json_object_get(all, "strobe_starts"));
	size_t i;

	if (code)
		return code;
	r->is_ours = !strncmp(json_text(json_object_get(all, "exporter")).p, "strobe@", 7);
	if (!json_array_size(profiles))
		return err_set(r->err, -EINVAL, "it has no profile");
	json_array_foreach(profiles, i, profile) {
		r->number = i + 1;
		if ((code = read_profile(r, profile)))
			return code;
	}
	if (json_is_object(facts))
		json_read_metadata(facts, r->profile);
	return 0;
}

static int speedscope_read(struct profile *p, struct input *in, const struct format_options *o, struct err *err)
{
	_cleanup_(json_decrefp_) json_t *all = json_read(in, false, err);
	_cleanup_(profile_freep) struct profile *one = profile_new();
	struct reader r = { .profile = one, .err = err };
	int code;

	profile_keep_lines(one, p->keeps_lines);
	code = all ? read_all(&r, all) : -EINVAL;
	free(r.frames);
	if (code < 0)
		return code;
	if (p->column_count + one->column_count > PROFILE_COLUMNS && p->column_count)
		return err_set(err, -E2BIG, "it would make more than %u value columns in all", PROFILE_COLUMNS);
	profile_merge(p, one);
	if (!r.skipped)
		return 0;
	err_set(err, -EINVAL, "%zu event%s a frame that is not open", r.skipped,
		r.skipped == 1 ? " closes" : "s close");
	return r.skipped < INT_MAX ? (int)r.skipped : INT_MAX;
}

static int speedscope_sniff(const char *bytes, size_t n)
{
	const struct str s = { bytes, n };
	size_t i = 0;

	while (i < n && strchr("\r\n\t \xef\xbb\xbf", bytes[i]) && bytes[i])
		i++;
	if (i == n || bytes[i] != '{')
		return 0;
	/* Inside a name, the quotes of a key would be preceded by a backslash. */
	if (text_has(s, "\"$schema\"") && text_has(s, "speedscope.app/file-format-schema"))
		return 98;
	/* The frames may be beyond the sniffed bytes. */
	return text_has(s, "\"profiles\"") && (text_has(s, "\"sampled\"") || text_has(s, "\"evented\"")) ? 92 : 0;
}

const struct format format_speedscope = {
	"speedscope",
	"speedscope speedscope.json",
	speedscope_sniff,
	speedscope_read,
	speedscope_write,
	.about = "JSON for www.speedscope.app; no negative values",
	.has_lines = true,
	.has_any_columns = true,
};
