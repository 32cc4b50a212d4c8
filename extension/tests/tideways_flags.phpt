--TEST--
tideways_xhprof: each flag has its value and enables its columns, in the order of the original
--INI--
strobe.compat=tideways_xhprof
--FILE--
<?php
foreach (['CPU', 'MEMORY_MU', 'MEMORY_PMU', 'MEMORY', 'NO_BUILTINS', 'MEMORY_ALLOC', 'MEMORY_ALLOC_AS_MU'] as $flag)
	echo $flag, ' ', constant("TIDEWAYS_XHPROF_FLAGS_$flag"), "\n";

function keep(int $bytes) { static $kept = []; $kept[] = str_repeat('x', $bytes); }
function leaf() { keep(100000); keep(100000); }

foreach ([0, 1, 2, 4, 6, 7, 8, 16, 17, 22, 32, 48, 50, 55, 1 << 20] as $flags) {
	var_dump(tideways_xhprof_enable($flags));
	leaf();
	$r = tideways_xhprof_disable();
	echo $flags, ': ', implode(' ', array_keys($r['main()'])), '; ', implode(' ', array_keys($r['main()==>leaf'])), "\n";
	foreach (['main()', 'main()==>leaf', 'leaf==>keep'] as $pair) {
		$v = $r[$pair];
		if (isset($v['mu']) && ($v['mu'] < 200000 || $v['mu'] > 220000))
			echo "$pair mu {$v['mu']}\n";
		if (isset($v['pmu']) && ($v['pmu'] < 0 || $v['pmu'] > 2100000))
			echo "$pair pmu {$v['pmu']}\n";
		if (isset($v['mem.na']) && ($v['mem.na'] < 2 || $v['mem.na'] > 40 || $v['mem.nf'] > $v['mem.na'] ||
				$v['mem.aa'] < 200000 || $v['mem.aa'] > 220000))
			echo "$pair ", json_encode($v), "\n";
		if (isset($v['cpu']) && ($v['cpu'] < 0 || $v['cpu'] > $v['wt'] + 5000))
			echo "$pair cpu {$v['cpu']} of {$v['wt']}\n";
	}
	if (isset($r['keep==>str_repeat']) !== !($flags & 8) || isset($r['main()==>tideways_xhprof_disable']) !== !($flags & 8))
		echo "builtins\n";
}
?>
--EXPECT--
CPU 1
MEMORY_MU 2
MEMORY_PMU 4
MEMORY 6
NO_BUILTINS 8
MEMORY_ALLOC 16
MEMORY_ALLOC_AS_MU 48
NULL
0: ct wt; ct wt
NULL
1: ct wt cpu; ct wt cpu
NULL
2: ct wt mu; ct wt mu
NULL
4: ct wt pmu; ct wt pmu
NULL
6: ct wt mu pmu; ct wt mu pmu
NULL
7: ct wt cpu mu pmu; ct wt cpu mu pmu
NULL
8: ct wt; ct wt
NULL
16: ct wt mem.na mem.nf mem.aa; ct wt mem.na mem.nf mem.aa
NULL
17: ct wt mem.na mem.nf mem.aa cpu; ct wt mem.na mem.nf mem.aa cpu
NULL
22: ct wt mem.na mem.nf mem.aa mu pmu; ct wt mem.na mem.nf mem.aa mu pmu
NULL
32: ct wt; ct wt
NULL
48: ct wt mem.na mem.nf mem.aa mu; ct wt mem.na mem.nf mem.aa mu
NULL
50: ct wt mem.na mem.nf mem.aa mu; ct wt mem.na mem.nf mem.aa mu
NULL
55: ct wt mem.na mem.nf mem.aa cpu mu pmu; ct wt mem.na mem.nf mem.aa cpu mu pmu
NULL
1048576: ct wt; ct wt
