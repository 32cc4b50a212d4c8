/* log.c: lines for the terminal or the journal; one write per line, so that lines of threads do not mix. */
#include "log.h"
#include "clock.h"
#include "secrets.h"
#include "text.h"
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>

#define PAUSE_NS	(60 * NS_PER_SECOND)

static atomic_int log_level = 2;

/* Priorities of the journal and of syslog. */
static const int priorities[] = { 3, 4, 6, 7 };

void log_set_level(int level)
{
	log_level = level;
}

bool log_is_due(int64_t *next_ns)
{
	int64_t now = clock_monotonic_ns();

	if (now < *next_ns)
		return false;
	*next_ns = now + PAUSE_NS;
	return true;
}

static void log_line(int level, const char *format, va_list ap)
{
	char text[2048];
	struct buf line;
	size_t done = 0;
	int saved = errno;

	if (level > log_level)
		return;
	if (vsnprintf(text, sizeof(text), format, ap) < 0)
		return;
	secrets_redact(text, sizeof(text));
	buf_init(&line);
	if (getenv("JOURNAL_STREAM"))
		buf_printf(&line, "<%d>", priorities[level]);
	else
		buf_puts(&line, "strobe: ");
	/* The line may quote text from outside: newlines and escape sequences are replaced. */
	text_put_plain(&line, (struct str){ text, strlen(text) });
	buf_putc(&line, '\n');
	while (done < line.size) {
		ssize_t n = write(STDERR_FILENO, line.data + done, line.size - done);

		if (n < 0 && errno != EINTR)
			break;
		if (n > 0)
			done += (size_t)n;
	}
	buf_done(&line);
	errno = saved;
}

#define DEFINE_LOG(name, level)				\
	void name(const char *format, ...)		\
	{						\
		va_list ap;				\
							\
		va_start(ap, format);			\
		log_line(level, format, ap);		\
		va_end(ap);				\
	}

DEFINE_LOG(log_error, 0)
DEFINE_LOG(log_warning, 1)
DEFINE_LOG(log_info, 2)
DEFINE_LOG(log_debug, 3)
