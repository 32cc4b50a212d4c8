--TEST--
Settings: safe defaults, invalid values are rejected, scripts cannot change the socket
--FILE--
<?php
foreach (ini_get_all('strobe') as $name => $v)
	echo "$name = ", var_export($v['global_value'], true), " access {$v['access']}\n";
foreach (['strobe.mode' => ['sample', 'off', '', 'always', 'SAMPLE'], 'strobe.clock' => ['cpu', 'wall', 'sundial'],
	'strobe.period' => ['0.001', '1', '0', '-1', '1e99', 'nan', 'soon', '0.01x', ''], 'strobe.request_rate' => ['0', '0.5', '1', '1.1', '-0.1', 'half'],
	'strobe.max_depth' => ['4', '8192', '3', '8193', '10.5', 'deep'], 'strobe.labels' => ['a=b'], 'strobe.socket' => ['/tmp/x'],
	'strobe.compat' => ['xhprof'], 'strobe.instrument' => ['1'], 'strobe.trigger_secret' => ['open'], 'strobe.trace_rate' => ['0.5', '2', '-1', 'all'],
	'strobe.trace_keep' => ['slow:500ms', 'slow:2s', 'status:5xx', 'status:404', 'failed', 'slow:500ms,status:5xx, failed ', '', 'slow', 'slow:', 'slow:5',
		'slow:0s', 'slow:-1s', 'slow:1.5s', 'slow:5m', 'slow:1s,slow:2s', 'slow:90000s', 'status:6xx', 'status:50', 'status:5x', 'status:5xxx', 'fast',
		'failed,', ',failed', 'failed;slow:1s', 'Failed'],
	'strobe.trace_max_nodes' => ['1024', '67108864', '1023', '67108865', '2000.5', 'many'],
	'strobe.trace_chart_calls' => ['1024', '16777216', '1023', '16777217'], 'strobe.trace_flame_chart' => ['1', 'off', 'maybe']] as $name => $values)
	foreach ($values as $v)
		echo "$name=$v: ", ini_set($name, $v) === false ? 'refused' : 'taken', "\n";
?>
--EXPECT--
strobe.clock = 'wall' access 7
strobe.compat = '' access 4
strobe.compat_builtins = '0' access 4
strobe.flush = '1' access 7
strobe.flush_waiting = '0' access 4
strobe.instrument = 'auto' access 4
strobe.labels = '' access 7
strobe.lines = '1' access 7
strobe.max_depth = '512' access 7
strobe.mode = 'off' access 7
strobe.period = '0.01' access 7
strobe.request_rate = '1.0' access 7
strobe.socket = '' access 4
strobe.trace_chart_calls = '1000000' access 7
strobe.trace_flame_chart = '0' access 7
strobe.trace_flush = '0' access 7
strobe.trace_keep = '' access 7
strobe.trace_max_nodes = '262144' access 7
strobe.trace_rate = '0' access 7
strobe.trigger_secret = '' access 6
strobe.mode=sample: taken
strobe.mode=off: taken
strobe.mode=: taken
strobe.mode=always: refused
strobe.mode=SAMPLE: refused
strobe.clock=cpu: taken
strobe.clock=wall: taken
strobe.clock=sundial: refused
strobe.period=0.001: taken
strobe.period=1: taken
strobe.period=0: refused
strobe.period=-1: refused
strobe.period=1e99: refused
strobe.period=nan: refused
strobe.period=soon: refused
strobe.period=0.01x: refused
strobe.period=: refused
strobe.request_rate=0: taken
strobe.request_rate=0.5: taken
strobe.request_rate=1: taken
strobe.request_rate=1.1: refused
strobe.request_rate=-0.1: refused
strobe.request_rate=half: refused
strobe.max_depth=4: taken
strobe.max_depth=8192: taken
strobe.max_depth=3: refused
strobe.max_depth=8193: refused
strobe.max_depth=10.5: refused
strobe.max_depth=deep: refused
strobe.labels=a=b: taken
strobe.socket=/tmp/x: refused
strobe.compat=xhprof: refused
strobe.instrument=1: refused
strobe.trigger_secret=open: refused
strobe.trace_rate=0.5: taken
strobe.trace_rate=2: refused
strobe.trace_rate=-1: refused
strobe.trace_rate=all: refused
strobe.trace_keep=slow:500ms: taken
strobe.trace_keep=slow:2s: taken
strobe.trace_keep=status:5xx: taken
strobe.trace_keep=status:404: taken
strobe.trace_keep=failed: taken
strobe.trace_keep=slow:500ms,status:5xx, failed : taken
strobe.trace_keep=: taken
strobe.trace_keep=slow: refused
strobe.trace_keep=slow:: refused
strobe.trace_keep=slow:5: refused
strobe.trace_keep=slow:0s: refused
strobe.trace_keep=slow:-1s: refused
strobe.trace_keep=slow:1.5s: refused
strobe.trace_keep=slow:5m: refused
strobe.trace_keep=slow:1s,slow:2s: refused
strobe.trace_keep=slow:90000s: refused
strobe.trace_keep=status:6xx: refused
strobe.trace_keep=status:50: refused
strobe.trace_keep=status:5x: refused
strobe.trace_keep=status:5xxx: refused
strobe.trace_keep=fast: refused
strobe.trace_keep=failed,: refused
strobe.trace_keep=,failed: refused
strobe.trace_keep=failed;slow:1s: refused
strobe.trace_keep=Failed: refused
strobe.trace_max_nodes=1024: taken
strobe.trace_max_nodes=67108864: taken
strobe.trace_max_nodes=1023: refused
strobe.trace_max_nodes=67108865: refused
strobe.trace_max_nodes=2000.5: refused
strobe.trace_max_nodes=many: refused
strobe.trace_chart_calls=1024: taken
strobe.trace_chart_calls=16777216: taken
strobe.trace_chart_calls=1023: refused
strobe.trace_chart_calls=16777217: refused
strobe.trace_flame_chart=1: taken
strobe.trace_flame_chart=off: taken
strobe.trace_flame_chart=maybe: refused
