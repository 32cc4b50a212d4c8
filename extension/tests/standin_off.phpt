--TEST--
Without strobe.compat, or with unknown names in it, no module stands in and pages are unchanged
--EXTENSIONS--
sockets
--FILE--
<?php
require __DIR__ . '/strobe.inc';

foreach (['', 'nonsense', 'xhprofx,xhpro', ',, ,'] as $compat) {
	$run = profile('<?php var_dump(extension_loaded("xhprof"), function_exists("tideways_xhprof_enable"), defined("UPROFILER_FLAGS_CPU"), ini_get("xhprof.output_dir"));',
		['strobe.mode' => 'off', 'display_startup_errors' => '0', 'error_log' => '/dev/null', 'strobe.compat' => $compat]);
	check($run->status === 0 && $run->stdout === "bool(false)\nbool(false)\nbool(false)\nbool(false)\n" && $run->stderr === '', "nothing: $run->stdout $run->stderr");
}
echo "done\n";
?>
--EXPECT--
done
