PeriodType: cpu nanoseconds
Period: 10000000
Time: 2024-05-06 18:29:01.123456 +0200 CEST
Duration: 2.51
Samples:
samples/count cpu/nanoseconds
         19  190000000: 1 2 3 
          5   50000000: 4 2 3 
          2   20000000: 5 3 
          1   10000000: 9 3 
                thread:[worker]
          7   70000000: 4 2 3 
Locations
     1: 0x49b2f5 M=1 queue/job.(*Parser).next /home/dev/queue/job/parse.go:39 s=0
             queue/job.(*Parser).skip /home/dev/queue/job/parse.go:30 s=0
     2: 0x49b1c2 M=1 queue/job.Run /home/dev/queue/job/run.go:112 s=0
     3: 0x4379f2 M=1 runtime.main /usr/lib/go/src/runtime/proc.go:250 s=0
     4: 0x47c61c M=1 syscall.Syscall /usr/lib/go/src/syscall/syscall_linux.go:68 s=0
     5: 0x40bf64 M=1 runtime.mallocgc /usr/lib/go/src/runtime/malloc.go:907 s=0
Mappings
1: 0x400000/0x4a1000/0x0 /home/dev/queue/queue  [FN]
