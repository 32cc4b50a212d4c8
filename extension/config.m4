dnl The extension `strobe`: phpize, ./configure, make.
dnl Headers of ../wire are shared with the daemon; sources never are, because phpize cannot build what lies outside.

PHP_ARG_ENABLE([strobe],
  [whether to enable strobe],
  [AS_HELP_STRING([--enable-strobe], [Enable continuous profiling with Strobe])])

PHP_ARG_ENABLE([strobe-dev],
  [whether to turn warnings of strobe into errors],
  [AS_HELP_STRING([--enable-strobe-dev], [Strobe: many warnings, all of them errors (for its developers)])],
  [no], [no])

if test "$PHP_STROBE" != "no"; then
  STROBE_CFLAGS="-I@ext_srcdir@/../wire -fvisibility=hidden -DZEND_ENABLE_STATIC_TSRMLS_CACHE=1"
  if test "$PHP_STROBE_DEV" = "yes"; then
    STROBE_CFLAGS="$STROBE_CFLAGS -Wall -Wextra -Wno-unused-parameter -Wno-sign-compare -Wstrict-prototypes -Werror"
  fi

  AC_CHECK_HEADER([linux/futex.h], [],
    [AC_MSG_ERROR([strobe needs Linux: linux/futex.h was not found])])
  PHP_ADD_LIBRARY([pthread], [1], [STROBE_SHARED_LIBADD])
  PHP_SUBST([STROBE_SHARED_LIBADD])

  PHP_NEW_EXTENSION([strobe],
    [strobe.c settings.c sampler.c ticker.c stack.c trie.c text.c message.c request_labels.c sender.c],
    [$ext_shared],, [$STROBE_CFLAGS])
fi
