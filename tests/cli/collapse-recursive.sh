# direct recursion becomes one frame, indirect recursion stays
printf 'main;walk;walk;walk;read 1\nmain;walk;read 2\nmain;walk;visit;walk;visit 4\nmain;main 8\n' >recursive
strobe collapse --recursive recursive
strobe collapse recursive
