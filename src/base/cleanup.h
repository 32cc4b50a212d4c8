/* cleanup.h: resources that free themselves at the end of their scope.
 *
 * Declare the variable with _cleanup_, initially empty (`= NULL`, `= -1`, `= { 0 }`) so that an early return is
 * harmless; transfer ownership with TAKE_PTR or TAKE_FD. */
#ifndef BASE_CLEANUP_H
#define BASE_CLEANUP_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define _cleanup_(f)	__attribute__((cleanup(f)))
#define _printf_(a, b)	__attribute__((format(printf, a, b)))

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* Evaluates to the pointer and sets the variable to NULL. */
#define TAKE_PTR(p) __extension__ ({ __typeof__(p) taken_ = (p); (p) = NULL; taken_; })

/* Evaluates to the descriptor and sets the variable to -1. */
#define TAKE_FD(fd) __extension__ ({ int taken_ = (fd); (fd) = -1; taken_; })

static inline void freep(void *p)
{
	free(*(void **)p);
}

static inline void fd_closep(int *fd)
{
	int saved = errno;

	if (*fd >= 0)
		close(*fd);
	errno = saved;
}

static inline void file_closep(FILE **f)
{
	if (*f)
		fclose(*f);
}

/* Defines `x_freep` for use with _cleanup_ from a function `x_free(struct x *)`. */
#define DEFINE_FREEP(type, function)				\
	static inline void function##p(type **p)		\
	{							\
		if (*p)						\
			function(*p);				\
	}

#endif
