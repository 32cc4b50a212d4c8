/* top_view.h: the user's choice of view, and the keys that change it. Pure: takes a key, returns an action. */
#ifndef TOP_TOP_VIEW_H
#define TOP_TOP_VIEW_H

#include "requests.h"
#include "top_rows.h"

/* Characters are represented by their code points. */
enum top_key {
	TOP_KEY_NONE,
	TOP_KEY_TAB = '\t', TOP_KEY_ENTER = '\n', TOP_KEY_ESCAPE = 27,
	TOP_KEY_UP = 0x110000, TOP_KEY_DOWN, TOP_KEY_LEFT, TOP_KEY_RIGHT, TOP_KEY_PAGE_UP, TOP_KEY_PAGE_DOWN, TOP_KEY_HOME,
	TOP_KEY_END, TOP_KEY_BACK_TAB, TOP_KEY_BACKSPACE, TOP_KEY_HELP, TOP_KEY_RESIZE, TOP_KEY_OTHER
};

enum top_action {
	TOP_NOTHING,
	TOP_REDRAW,			/* the same rows must be redrawn */
	TOP_REFILL,			/* rows have changed */
	TOP_RESET,			/* reset the recording's sums */
	TOP_SAVE,			/* save to `input` */
	TOP_QUIT,
};

enum top_prompt { TOP_NO_PROMPT, TOP_PROMPT_FILTER, TOP_PROMPT_SAVE };

#define TOP_INPUT_MAX	200u

struct top_view {
	enum top_by by;
	bool has_pid;			/* processes are counted separately */
	bool has_on_cpu, has_off_cpu;	/* whether these are measured at all */
	enum top_sort sort;
	enum live_period period;
	bool paused, help, notes;
	bool requests;			/* show current requests instead of the table */
	char *stack;			/* the stack shown instead of the rows; NULL: none */
	struct live_scope scope;	/* the view owns `value` */
	char *scope_value;
	char filter[TOP_INPUT_MAX + 1];
	bool has_filter;
	regex_t regex;
	enum top_prompt prompt;
	char input[TOP_INPUT_MAX + 1];
	char message[300];		/* the result of the last action, or "" */
	size_t selected, first;		/* rows */
	size_t page;			/* rows that fit on the screen, set when drawing */
	const struct top_rows *rows;	/* the rows shown */
	const struct request_rows *request_rows;
};

void top_view_init(struct top_view *v);
void top_view_done(struct top_view *v);

/* Handles a key. `suggested` is the default name of a file to save to. */
enum top_action top_view_key(struct top_view *v, uint32_t key, const char *suggested);

/* Sets or, with "", removes the filter. Returns -EINVAL with a sentence, and changes nothing, if it is not a valid
 * expression. */
int top_view_filter(struct top_view *v, const char *text, struct err *err);

/* Keeps the selected row visible and within the table. */
void top_view_clamp(struct top_view *v);

/* Fills rows in display order. The selection stays on its row; the previous rows must still be valid. */
void top_view_fill(struct top_view *v, const struct live *l, struct top_rows *rows);

/* Replaces the requests shown, keeping the selection. */
void top_view_take_requests(struct top_view *v, const struct request_rows *before, const struct request_rows *rows);

/* Returns the lines of help, keys and their actions, and their number. */
size_t top_view_help(const char *const **ret);

#endif
