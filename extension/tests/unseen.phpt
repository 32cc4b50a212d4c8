--TEST--
Sampling is invisible to a program: no interrupted call, no signal, no random number, no descriptor, no output
--EXTENSIONS--
sockets
pcntl
--FILE--
<?php
require __DIR__ . '/strobe.inc';

$code = '<?php
mt_srand(1); echo mt_rand(), " ", mt_rand(), "\n"; srand(5); echo rand(), "\n";
$t = microtime(true); var_dump(sleep(1)); var_dump(microtime(true) - $t >= 1);
$t = microtime(true); usleep(120000); var_dump(microtime(true) - $t >= 0.12);
var_dump(time_nanosleep(0, 120000000));
var_dump(time_sleep_until(microtime(true) + 0.05));
$pair = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
$r = [$pair[0]]; $w = $e = null;
$t = microtime(true); var_dump(stream_select($r, $w, $e, 0, 150000), microtime(true) - $t >= 0.149);
stream_set_timeout($pair[0], 0, 120000);
var_dump(fread($pair[0], 10), stream_get_meta_data($pair[0])["timed_out"]);
var_dump(fgets(popen("sleep 0.1; echo piped", "r")));
var_dump(exec("sleep 0.1; echo executed"));
pcntl_async_signals(true);
pcntl_signal(SIGALRM, function () { echo "alarm\n"; });
pcntl_alarm(1); var_dump(sleep(3) > 0);
pcntl_signal(SIGPROF, function () { echo "SIGPROF?\n"; });
var_dump(pcntl_sigtimedwait([SIGUSR1], $info, 0, 100000000));
$pid = pcntl_fork(); if (!$pid) { usleep(100000); exit(3); }
var_dump(pcntl_waitpid($pid, $status) === $pid, pcntl_wexitstatus($status));
$lock = fopen(__FILE__, "r"); var_dump(flock($lock, LOCK_SH));
fclose(STDIN); $in = fopen("/dev/null", "r"); echo readlink("/proc/self/fd/0"), "\n";
$open = array_filter(array_map("intval", scandir("/proc/self/fd")), fn($n) => $n > 2 && $n < 48);
echo "descriptors: ", count($open), "\n";
echo "threads signaled: ", preg_match_all("/^SigPnd:\t(?!0+$)/m", file_get_contents("/proc/self/status")), "\n";
error_clear_last(); var_dump(error_get_last());
try { throw new Exception("x"); } catch (Exception $e) { echo $e->getLine(), "\n"; }
function gen() { try { yield 1; yield 2; } finally { echo "finally\n"; } }
foreach (gen() as $v) { echo $v, "\n"; break; }
echo json_encode(debug_backtrace()), "\n";
exit(9);
';
$sampled = profile($code, ['strobe.period' => '0.0005']);
$plain = profile($code, ['strobe.mode' => 'off']);
check($sampled->samples() > 500 && $plain->samples() === 0, 'one is sampled, the other is not: ' . $sampled->samples());
$a = preg_replace('~strobe-test[^/]*~', '', $sampled->stdout);
$b = preg_replace('~strobe-test[^/]*~', '', $plain->stdout);
check($a === $b, "the outputs differ:\n$a\n--- without\n$b");
check($sampled->stderr === $plain->stderr && $sampled->status === 9 && $plain->status === 9, 'status and errors are the same');
foreach (['alarm', 'piped', 'executed', 'finally'] as $word)
	check(str_contains($plain->stdout, $word), "the program gets to '$word': $plain->stdout");
echo "done\n";
?>
--EXPECT--
done
