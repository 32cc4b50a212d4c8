# --inline asks addr2line, and nm where the address is that of the running process; --context adds source lines
mkdir tools
cat >tools/addr2line <<'END'
#!/bin/sh
echo "$*" >>asked
[ "$2" != 12 ] || printf '0x0000000000000012\nmix\nwords.c:4 (discriminator 3)\nhash\nwords.c:5\nmain\nwords.c:12\n'
[ "$2" != 0x1025 ] || printf '0x0000000000001025\ncompare\nwords.c:6\n'
[ "$2" != 7f0025 ] || printf '0x00000000007f0025\n??\n??:0\n'
[ "$2" != 99 ] || printf '0x0000000000000099\n??\n??:0\n'
END
cat >tools/nm <<'END'
#!/bin/sh
printf '0000000000000900 T compare_all\n0000000000001000 t compare\n                 U puts\n'
END
chmod +x tools/*
PATH=$PWD/tools:$PATH
sample() {
	printf 'words 12 1.5: cycles:\n\t%s\n\n' "$1"
}
{
	sample '12 main+0x12 (/srv/words)'
	sample '12 main+0x12 (/srv/words)'
	sample '7f0025 compare+0x25 (/srv/words)'
	sample '99 lost+0x1 (/srv/words)'
	sample '81 read ([kernel.kallsyms])'
	sample '82 L:run (/tmp/perf-12.map)'
	sample '83 [unknown] ([unknown])'
} >words
strobe collapse --inline words
strobe collapse --inline --context words
sort asked | uniq -c
echo == without addr2line
strobe=$(command -v strobe)
PATH=/nowhere
$strobe collapse --inline words
