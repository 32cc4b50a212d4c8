# samples that the original loses: at the end of the text, with a name of one letter, with CRLF
printf 'php 12 1.5: cycles:\n\t7f01 main (/usr/bin/php)\n\nphp 12 1.6: cycles:\n\t7f02 add (/usr/bin/php)\n' | strobe collapse
printf 'php 12 1.5: cycles:\n\t7f01 main (/usr/bin/php)' | strobe collapse
printf 'c 12 1.5: cycles:\n\t7f01 main (/srv/c)\n\n' | strobe collapse
printf 'php 12 1.5: cycles:\r\n\t7f01 main (/usr/bin/php)\r\n\r\nphp 12 1.6: cycles:\r\n\t7f01 main (/usr/bin/php)\r\n\r\n' | strobe collapse
echo == without call chains
printf '     php 12 1.5:  250000 cycles:  7f01 main+0x1 (/usr/bin/php)\nV8 WorkerThread 12 1.6:  250000 cycles:  7f01 main+0x2 (/usr/bin/php)\n' | strobe collapse
echo == --srcline of text without source lines, and with some
printf 'php 12 1.5: cycles:\n\t7f02 add+0x1 (/usr/bin/php)\n\t7f01 main+0x1 (/usr/bin/php)\n\n' | strobe collapse --srcline
printf 'php 12 1.5: cycles:\n\t7f02 add+0x1 (/usr/bin/php)\n\t7f01 main+0x1 (/usr/bin/php)\n  main.c:7\n\n' | strobe collapse --srcline
