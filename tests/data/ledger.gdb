[New LWP 26517]
[New LWP 26518]
[Thread debugging using libthread_db enabled]
Using host libthread_db library "/lib/x86_64-linux-gnu/libthread_db.so.1".
__futex_abstimed_wait_common64 (private=128, cancel=true, abstime=0x0, op=265, expected=26517, futex_word=0x7fb668c1d990) at ./nptl/futex-internal.c:57

Thread 3 (Thread 0x7fb66841c6c0 (LWP 26518) "ledger"):
#0  0x000055a93e9571a4 in (anonymous namespace)::Sorter::order (this=0x7fb66841becf, a=3) at prog/ledger.cc:9
#1  0x000055a93e957224 in sorter () at prog/ledger.cc:11
#2  0x00007fb668ca71f5 in start_thread (arg=<optimized out>) at ./nptl/pthread_create.c:442
#3  0x00007fb668d278ec in clone3 () at ../sysdeps/unix/sysv/linux/x86_64/clone3.S:81

Thread 2 (Thread 0x7fb668c1d6c0 (LWP 26517) "ledger"):
#0  0x00007fb668d1a26f in __GI___poll (fds=0x0, nfds=0, timeout=50) at ../sysdeps/unix/sysv/linux/poll.c:29
#1  0x000055a93e95752f in ledger::Book<int, std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > >::wait_for (this=0x7fb668c1ce90, ms=50) at prog/ledger.cc:7
#2  0x000055a93e957454 in ledger::Book<int, std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > >::settle (this=0x7fb668c1ce90, n=0) at prog/ledger.cc:7
#3  0x000055a93e957441 in ledger::Book<int, std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > >::settle (this=0x7fb668c1ce90, n=1) at prog/ledger.cc:7
#4  0x000055a93e957441 in ledger::Book<int, std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > >::settle (this=0x7fb668c1ce90, n=2) at prog/ledger.cc:7
#5  0x000055a93e957441 in ledger::Book<int, std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > >::settle (this=0x7fb668c1ce90, n=3) at prog/ledger.cc:7
#6  0x000055a93e9571eb in reader () at prog/ledger.cc:10
#7  0x00007fb668ca71f5 in start_thread (arg=<optimized out>) at ./nptl/pthread_create.c:442
#8  0x00007fb668d278ec in clone3 () at ../sysdeps/unix/sysv/linux/x86_64/clone3.S:81

Thread 1 (Thread 0x7fb669066440 (LWP 26515) "ledger"):
#0  __futex_abstimed_wait_common64 (private=128, cancel=true, abstime=0x0, op=265, expected=26517, futex_word=0x7fb668c1d990) at ./nptl/futex-internal.c:57
#1  __futex_abstimed_wait_common (futex_word=futex_word@entry=0x7fb668c1d990, expected=26517, clockid=clockid@entry=0, abstime=abstime@entry=0x0, private=private@entry=128, cancel=cancel@entry=true) at ./nptl/futex-internal.c:87
#2  0x00007fb668ca3f7b in __GI___futex_abstimed_wait_cancelable64 (futex_word=futex_word@entry=0x7fb668c1d990, expected=<optimized out>, clockid=clockid@entry=0, abstime=abstime@entry=0x0, private=private@entry=128) at ./nptl/futex-internal.c:139
#3  0x00007fb668ca8ce3 in __pthread_clockjoin_ex (threadid=140421418309312, thread_return=0x0, clockid=0, abstime=0x0, block=<optimized out>) at ./nptl/pthread_join_common.c:102
#4  0x000055a93e957279 in main () at prog/ledger.cc:12
[Inferior 1 (process 26515) detached]
[New LWP 26517]
[New LWP 26518]
[Thread debugging using libthread_db enabled]
Using host libthread_db library "/lib/x86_64-linux-gnu/libthread_db.so.1".
__futex_abstimed_wait_common64 (private=128, cancel=true, abstime=0x0, op=265, expected=26517, futex_word=0x7fb668c1d990) at ./nptl/futex-internal.c:57

Thread 3 (Thread 0x7fb66841c6c0 (LWP 26518) "ledger"):
#0  0x000055a93e9571ba in (anonymous namespace)::Sorter::order (this=0x7fb66841becf, a=3) at prog/ledger.cc:9
#1  0x000055a93e957224 in sorter () at prog/ledger.cc:11
#2  0x00007fb668ca71f5 in start_thread (arg=<optimized out>) at ./nptl/pthread_create.c:442
#3  0x00007fb668d278ec in clone3 () at ../sysdeps/unix/sysv/linux/x86_64/clone3.S:81

Thread 2 (Thread 0x7fb668c1d6c0 (LWP 26517) "ledger"):
#0  0x00007fb668d1a26f in __GI___poll (fds=0x0, nfds=0, timeout=50) at ../sysdeps/unix/sysv/linux/poll.c:29
#1  0x000055a93e95752f in ledger::Book<int, std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > >::wait_for (this=0x7fb668c1ce90, ms=50) at prog/ledger.cc:7
#2  0x000055a93e957454 in ledger::Book<int, std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > >::settle (this=0x7fb668c1ce90, n=0) at prog/ledger.cc:7
#3  0x000055a93e957441 in ledger::Book<int, std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > >::settle (this=0x7fb668c1ce90, n=1) at prog/ledger.cc:7
#4  0x000055a93e957441 in ledger::Book<int, std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > >::settle (this=0x7fb668c1ce90, n=2) at prog/ledger.cc:7
#5  0x000055a93e957441 in ledger::Book<int, std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > >::settle (this=0x7fb668c1ce90, n=3) at prog/ledger.cc:7
#6  0x000055a93e9571eb in reader () at prog/ledger.cc:10
#7  0x00007fb668ca71f5 in start_thread (arg=<optimized out>) at ./nptl/pthread_create.c:442
#8  0x00007fb668d278ec in clone3 () at ../sysdeps/unix/sysv/linux/x86_64/clone3.S:81

Thread 1 (Thread 0x7fb669066440 (LWP 26515) "ledger"):
#0  __futex_abstimed_wait_common64 (private=128, cancel=true, abstime=0x0, op=265, expected=26517, futex_word=0x7fb668c1d990) at ./nptl/futex-internal.c:57
#1  __futex_abstimed_wait_common (futex_word=futex_word@entry=0x7fb668c1d990, expected=26517, clockid=clockid@entry=0, abstime=abstime@entry=0x0, private=private@entry=128, cancel=cancel@entry=true) at ./nptl/futex-internal.c:87
#2  0x00007fb668ca3f7b in __GI___futex_abstimed_wait_cancelable64 (futex_word=futex_word@entry=0x7fb668c1d990, expected=<optimized out>, clockid=clockid@entry=0, abstime=abstime@entry=0x0, private=private@entry=128) at ./nptl/futex-internal.c:139
#3  0x00007fb668ca8ce3 in __pthread_clockjoin_ex (threadid=140421418309312, thread_return=0x0, clockid=0, abstime=0x0, block=<optimized out>) at ./nptl/pthread_join_common.c:102
#4  0x000055a93e957279 in main () at prog/ledger.cc:12
[Inferior 1 (process 26515) detached]
[New LWP 26517]
[New LWP 26518]
[Thread debugging using libthread_db enabled]
Using host libthread_db library "/lib/x86_64-linux-gnu/libthread_db.so.1".
__futex_abstimed_wait_common64 (private=128, cancel=true, abstime=0x0, op=265, expected=26517, futex_word=0x7fb668c1d990) at ./nptl/futex-internal.c:57

Thread 3 (Thread 0x7fb66841c6c0 (LWP 26518) "ledger"):
#0  0x000055a93e9571aa in (anonymous namespace)::Sorter::order (this=0x7fb66841becf, a=3) at prog/ledger.cc:9
#1  0x000055a93e957224 in sorter () at prog/ledger.cc:11
#2  0x00007fb668ca71f5 in start_thread (arg=<optimized out>) at ./nptl/pthread_create.c:442
#3  0x00007fb668d278ec in clone3 () at ../sysdeps/unix/sysv/linux/x86_64/clone3.S:81

Thread 2 (Thread 0x7fb668c1d6c0 (LWP 26517) "ledger"):
#0  0x00007fb668d1a26f in __GI___poll (fds=0x0, nfds=0, timeout=50) at ../sysdeps/unix/sysv/linux/poll.c:29
#1  0x000055a93e95752f in ledger::Book<int, std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > >::wait_for (this=0x7fb668c1ce90, ms=50) at prog/ledger.cc:7
#2  0x000055a93e957454 in ledger::Book<int, std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > >::settle (this=0x7fb668c1ce90, n=0) at prog/ledger.cc:7
#3  0x000055a93e957441 in ledger::Book<int, std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > >::settle (this=0x7fb668c1ce90, n=1) at prog/ledger.cc:7
#4  0x000055a93e957441 in ledger::Book<int, std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > >::settle (this=0x7fb668c1ce90, n=2) at prog/ledger.cc:7
#5  0x000055a93e957441 in ledger::Book<int, std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > >::settle (this=0x7fb668c1ce90, n=3) at prog/ledger.cc:7
#6  0x000055a93e9571eb in reader () at prog/ledger.cc:10
#7  0x00007fb668ca71f5 in start_thread (arg=<optimized out>) at ./nptl/pthread_create.c:442
#8  0x00007fb668d278ec in clone3 () at ../sysdeps/unix/sysv/linux/x86_64/clone3.S:81

Thread 1 (Thread 0x7fb669066440 (LWP 26515) "ledger"):
#0  __futex_abstimed_wait_common64 (private=128, cancel=true, abstime=0x0, op=265, expected=26517, futex_word=0x7fb668c1d990) at ./nptl/futex-internal.c:57
#1  __futex_abstimed_wait_common (futex_word=futex_word@entry=0x7fb668c1d990, expected=26517, clockid=clockid@entry=0, abstime=abstime@entry=0x0, private=private@entry=128, cancel=cancel@entry=true) at ./nptl/futex-internal.c:87
#2  0x00007fb668ca3f7b in __GI___futex_abstimed_wait_cancelable64 (futex_word=futex_word@entry=0x7fb668c1d990, expected=<optimized out>, clockid=clockid@entry=0, abstime=abstime@entry=0x0, private=private@entry=128) at ./nptl/futex-internal.c:139
#3  0x00007fb668ca8ce3 in __pthread_clockjoin_ex (threadid=140421418309312, thread_return=0x0, clockid=0, abstime=0x0, block=<optimized out>) at ./nptl/pthread_join_common.c:102
#4  0x000055a93e957279 in main () at prog/ledger.cc:12
[Inferior 1 (process 26515) detached]
