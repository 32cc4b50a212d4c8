--TEST--
Stand-in modules match the originals: version, functions, parameters, constants, settings, phpinfo
--INI--
display_startup_errors=0
error_log=/dev/null
strobe.compat=tideways_xhprof, xhprof,uprofiler nonsense	more
xhprof.sampling_interval=2000
xhprof.output_dir=/somewhere
tideways.clock_use_rdtsc=1
--FILE--
<?php
foreach (['tideways_xhprof', 'xhprof', 'uprofiler'] as $name) {
	$e = new ReflectionExtension($name);
	echo $name, ' ', json_encode([extension_loaded($name), phpversion($name), $e->getVersion(), $e->isPersistent()]), "\n";
	foreach ($e->getFunctions() as $f) {
		$parameters = array_map(fn($p) => $p->getType() . '$' . $p->getName() . ($p->isOptional() ? '?' : ''), $f->getParameters());
		echo "\t", $f->getName(), '(', implode(', ', $parameters), ")", $f->getReturnType(), "\n";
	}
	foreach ($e->getConstants() as $constant => $value)
		echo "\t$constant = $value\n";
	foreach ($e->getINIEntries() as $setting => $value)
		echo "\t", $setting, ' = ', var_export($value, true), ' ', ini_get_all($name)[$setting]['access'], "\n";
	if (get_extension_funcs($name) !== array_keys($e->getFunctions()) || !in_array($name, get_loaded_extensions()))
		echo "not in the lists\n";
}
echo ini_get('tideways.clock_use_rdtsc'), ini_set('tideways_xhprof.clock_use_rdtsc', 1) === false ? ' system' : ' settable', "\n";

ob_start();
phpinfo(INFO_MODULES);
$info = ob_get_clean();
foreach (['tideways_xhprof', 'xhprof', 'uprofiler'] as $name) {
	preg_match("~^$name\n\n(.*?)\n\n~ms", $info, $m);
	echo "[$name]\n", $m[1], "\n";
}
foreach (['Stands in for', 'Does not stand in for', 'Unknown names'] as $row)
	if (preg_match("~^$row.*~m", $info, $m))
		echo $m[0], "\n";
?>
--EXPECTF--
tideways_xhprof [true,"5.0.4","5.0.4",true]
	tideways_xhprof_enable($options?)
	tideways_xhprof_disable()
	TIDEWAYS_XHPROF_FLAGS_MEMORY = 6
	TIDEWAYS_XHPROF_FLAGS_MEMORY_MU = 2
	TIDEWAYS_XHPROF_FLAGS_MEMORY_PMU = 4
	TIDEWAYS_XHPROF_FLAGS_CPU = 1
	TIDEWAYS_XHPROF_FLAGS_NO_BUILTINS = 8
	TIDEWAYS_XHPROF_FLAGS_MEMORY_ALLOC = 16
	TIDEWAYS_XHPROF_FLAGS_MEMORY_ALLOC_AS_MU = 48
	tideways_xhprof.clock_use_rdtsc = '0' 4
xhprof [true,"2.3.10","2.3.10",true]
	xhprof_enable($flags?, $options?)
	xhprof_disable()
	xhprof_sample_enable()
	xhprof_sample_disable()
	XHPROF_FLAGS_NO_BUILTINS = 1
	XHPROF_FLAGS_CPU = 2
	XHPROF_FLAGS_MEMORY = 4
	xhprof.collect_additional_info = '0' 7
	xhprof.output_dir = '/somewhere' 7
	xhprof.sampling_depth = '2147483647' 7
	xhprof.sampling_interval = '2000' 7
uprofiler [true,"0.11","0.11",true]
	uprofiler_enable($flags?, $options?)
	uprofiler_disable()
	uprofiler_sample_enable()
	uprofiler_sample_disable()
	UPROFILER_FLAGS_NO_BUILTINS = 1
	uprofiler_FLAGS_NO_BUILTINS = 1
	UPROFILER_FLAGS_CPU = 2
	uprofiler_FLAGS_CPU = 2
	UPROFILER_FLAGS_MEMORY = 4
	uprofiler_FLAGS_MEMORY = 4
	UPROFILER_FLAGS_FUNCTION_INFO = 8
	uprofiler_FLAGS_FUNCTION_INFO = 8
	uprofiler.output_dir = '' 7
1 system
[tideways_xhprof]
Version => 5.0.4
Clock Source => tsc
Provided by => Strobe %s
[xhprof]
xhprof support => enabled
Version => 2.3.10
Provided by => Strobe %s
[uprofiler]
uprofiler => enabled
uprofiler => 0.11
Provided by => Strobe %s
Stands in for => tideways_xhprof, xhprof, uprofiler
Unknown names in strobe.compat => nonsense, more
