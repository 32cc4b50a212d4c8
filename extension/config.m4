dnl The extension `strobe`: phpize, ./configure, make.
dnl Headers of ../wire are shared with the daemon; sources never are, because phpize cannot build what lies outside.
dnl A package that was made for PECL brings the folder wire/ with it.

PHP_ARG_ENABLE([strobe],
  [whether to enable strobe],
  [AS_HELP_STRING([--enable-strobe], [Enable continuous profiling with Strobe])])

PHP_ARG_ENABLE([strobe-dev],
  [whether to turn warnings of strobe into errors],
  [AS_HELP_STRING([--enable-strobe-dev], [Strobe: many warnings, all of them errors (for its developers)])],
  [no], [no])

if test "$PHP_STROBE" != "no"; then
  STROBE_CFLAGS="-I@ext_srcdir@ -fvisibility=hidden -fno-tree-slp-vectorize -DZEND_ENABLE_STATIC_TSRMLS_CACHE=1"
  for folder in base sample send trace compat compat/excimer compat/xhprof api wire ../wire; do
    STROBE_CFLAGS="$STROBE_CFLAGS -I@ext_srcdir@/$folder"
  done
  if test "$PHP_STROBE_DEV" = "yes"; then
    STROBE_CFLAGS="$STROBE_CFLAGS -Wall -Wextra -Wno-unused-parameter -Wno-sign-compare -Wstrict-prototypes -Werror"
  fi

  dnl Hardening, unless who builds it chose their own or a sanitizer.
  case "$CFLAGS $CPPFLAGS" in
  *-fsanitize*) ;;
  *)
    STROBE_CFLAGS="$STROBE_CFLAGS -fstack-protector-strong"
    LDFLAGS="$LDFLAGS -Wl,-z,relro -Wl,-z,now"
    ;;
  esac
  case "$CFLAGS $CPPFLAGS" in
  *-fsanitize*|*_FORTIFY_SOURCE*|*-O0*) ;;
  *-O*) STROBE_CFLAGS="$STROBE_CFLAGS -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2" ;;
  esac

  AC_CHECK_HEADER([linux/futex.h], [],
    [AC_MSG_ERROR([strobe needs Linux: linux/futex.h was not found])])
  PHP_ADD_LIBRARY([pthread], [1], [STROBE_SHARED_LIBADD])
  PHP_SUBST([STROBE_SHARED_LIBADD])

  STROBE_SOURCES="strobe.c settings.c settings_report.c setting_words.c"
  STROBE_SOURCES="$STROBE_SOURCES base/function_name.c base/closure_home.c base/file_closures.c base/random.c"
  STROBE_SOURCES="$STROBE_SOURCES sample/sampler.c sample/samples.c sample/sampler_threads.c sample/open_call.c sample/ticker.c sample/stack.c sample/fiber_ends.c sample/trie.c sample/timers.c sample/lanes.c sample/alarms.c"
  STROBE_SOURCES="$STROBE_SOURCES sample/expiry.c sample/interrupts.c sample/timer_forks.c sample/watch.c"
  STROBE_SOURCES="$STROBE_SOURCES sample/guarded_read.c sample/tick_note.c sample/tick_snapshot.c sample/call_sites.c sample/jit.c sample/delivery.c sample/copies.c sample/open_samples.c"
  STROBE_SOURCES="$STROBE_SOURCES trace/tracer.c trace/call_tree.c trace/nodes.c trace/function_table.c trace/block_arena.c trace/calls.c trace/observe.c"
  STROBE_SOURCES="$STROBE_SOURCES trace/strands.c trace/compile.c trace/allocations.c trace/blocks.c trace/project.c trace/trace_copy.c trace/spill.c trace/name_filter.c trace/call_chart.c"
  STROBE_SOURCES="$STROBE_SOURCES trace/ticks.c trace/cpu_clock.c"
  STROBE_SOURCES="$STROBE_SOURCES compat/standin.c"
  STROBE_SOURCES="$STROBE_SOURCES compat/excimer/excimer.c compat/excimer/excimer_event.c compat/excimer/excimer_log.c"
  STROBE_SOURCES="$STROBE_SOURCES compat/excimer/excimer_log_class.c compat/excimer/excimer_formats.c"
  STROBE_SOURCES="$STROBE_SOURCES compat/excimer/excimer_profiler.c compat/excimer/excimer_timer.c"
  STROBE_SOURCES="$STROBE_SOURCES compat/xhprof/call_pairs.c compat/xhprof/recording.c compat/xhprof/sampled.c compat/xhprof/info.c"
  STROBE_SOURCES="$STROBE_SOURCES compat/xhprof/tideways.c compat/xhprof/xhprof.c compat/xhprof/uprofiler.c"
  STROBE_SOURCES="$STROBE_SOURCES send/message.c send/request_labels.c send/label_sets.c send/run_message.c send/sender.c send/send_queue.c send/socket_path.c send/platform.c"
  STROBE_SOURCES="$STROBE_SOURCES api/strobe_api.c api/api_thread.c api/functions.c api/trace_class.c api/sampler_class.c api/profile_class.c"
  STROBE_SOURCES="$STROBE_SOURCES api/tree_values.c api/tree_walk.c api/folded.c api/speedscope.c api/pprof.c api/flat.c"
  STROBE_SOURCES="$STROBE_SOURCES api/secret.c api/trigger.c api/request_url.c api/request_trace.c api/open_run.c api/send_runs.c"
  STROBE_SOURCES="$STROBE_SOURCES api/sampled_tree.c api/export_xhprof.c api/status.c"
  STROBE_SOURCES="$STROBE_SOURCES api/scopes.c api/unit_class.c api/label_arguments.c api/trace_keep.c api/worker.c"

  PHP_NEW_EXTENSION([strobe], [$STROBE_SOURCES], [$ext_shared],, [$STROBE_CFLAGS])
  for folder in base sample send trace compat compat/excimer compat/xhprof api; do
    PHP_ADD_BUILD_DIR([$ext_builddir/$folder])
  done
fi
