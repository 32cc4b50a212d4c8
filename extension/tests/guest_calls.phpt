--TEST--
No system call of the program is interrupted at 1 kHz: sleeping, waiting, locks, pipes, sockets, children, clocks
--EXTENSIONS--
sockets
pcntl
--FILE--
<?php
require __DIR__ . '/guest.inc';

/* Each line of the table is a call that blocks: what it returns, and that it took as long as it should. Every one of them
 * would return early, or fail with EINTR, if a signal came to the thread that PHP runs in. */
$code = <<<'PHP'
<?php
set_error_handler(function ($level, $text) { if (error_reporting() & $level) echo "warning: $text\n"; return true; });

/* Prints what the call returns, and when that came before its time (in seconds) or much later. Where it waits for a child,
 * its time begins when that one was made, since on a busy machine the child may be ahead. */
function timed(string $name, float $least, callable $call, ?int $start = null): void
{
	$start ??= hrtime(true);
	$result = $call();
	$took = (hrtime(true) - $start) / 1e9;
	echo $name, ': ', json_encode($result), $took < $least ? " after only $took s" : '', $took > $least + 20 ? " after $took s" : '', "\n";
}

/* A child that does something a little later, without PHP code of its own being watched. */
function later(callable $do, float $seconds = 0.15): int
{
	$GLOBALS['made'] = hrtime(true);
	$pid = pcntl_fork();
	if ($pid === 0) {
		usleep((int)($seconds * 1e6));
		$do();
		exit(0);
	}
	return $pid;
}

function pair(): array
{
	socket_create_pair(AF_UNIX, SOCK_STREAM, 0, $pair);
	return $pair;
}

$directory = $argv[1] ?? __DIR__;
timed('sleep', 1, fn() => sleep(1));
timed('usleep', 0.15, fn() => usleep(150000));
timed('time_nanosleep', 0.15, fn() => time_nanosleep(0, 150000000));
timed('time_sleep_until', 0.14, fn() => time_sleep_until(microtime(true) + 0.15));

[$a, $b] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
timed('stream_select', 0.14, function () use ($a) { $r = [$a]; $w = $e = null; return [stream_select($r, $w, $e, 0, 150000), count($r)]; });
stream_set_timeout($a, 0, 150000);
timed('fread with a timeout', 0.14, fn() => [(string)fread($a, 10), stream_get_meta_data($a)['timed_out']]);
stream_set_timeout($a, 20);
$pid = later(function () use ($b) { fwrite($b, "first\n"); usleep(100000); fwrite($b, "second\n"); });
timed('fgets', 0.14, fn() => fgets($a), $made);
timed('fgets again', 0.24, fn() => fgets($a), $made);
timed('pcntl_waitpid', 0, fn() => pcntl_waitpid($pid, $status) === $pid && pcntl_wexitstatus($status) === 0);

[$c, $d] = pair();
timed('socket_select', 0.14, function () use ($c) { $r = [$c]; $w = $e = null; return [socket_select($r, $w, $e, 0, 150000), count($r)]; });
socket_set_option($c, SOL_SOCKET, SO_RCVTIMEO, ['sec' => 0, 'usec' => 150000]);
timed('socket_recv with a timeout', 0.13, fn() => [@socket_recv($c, $got, 10, 0), socket_last_error($c) === SOCKET_EAGAIN]);
socket_set_option($c, SOL_SOCKET, SO_RCVTIMEO, ['sec' => 20, 'usec' => 0]);
$pid = later(fn() => socket_write($d, 'hello'));
timed('socket_recv', 0.14, function () use ($c) { return [socket_recv($c, $got, 5, MSG_WAITALL), $got]; }, $made);
pcntl_waitpid($pid, $status);
$pid = later(function () use ($d) { socket_write($d, 'one '); usleep(100000); socket_write($d, 'two'); });
timed('socket_recv of all', 0.24, function () use ($c) { return [socket_recv($c, $got, 7, MSG_WAITALL), $got]; }, $made);
pcntl_waitpid($pid, $status);
$pid = later(fn() => socket_recv($d, $got, 1 << 22, MSG_WAITALL) === 1 << 22 ? null : exit(1));
timed('socket_write of 4 MB to a slow reader', 0.14, function () use ($c) {
	for ($sent = 0; $sent < 1 << 22; $sent += $n)
		if (!($n = socket_write($c, str_repeat('x', (1 << 22) - $sent))))
			return socket_last_error($c);
	return $sent;
}, $made);
timed('pcntl_wait', 0, fn() => pcntl_wait($status) === $pid && pcntl_wexitstatus($status) === 0);

$server = socket_create_listen(0);
socket_getsockname($server, $host, $port);
$pid = later(function () use ($port) { $s = stream_socket_client("tcp://127.0.0.1:$port"); fwrite($s, 'x'); });
timed('socket_accept', 0.14, fn() => socket_read(socket_accept($server), 1), $made);
pcntl_waitpid($pid, $status);
$listener = stream_socket_server('tcp://127.0.0.1:0');
timed('stream_socket_accept, nobody comes', 0.14, fn() => @stream_socket_accept($listener, 0.15));
$datagrams = socket_create(AF_INET, SOCK_DGRAM, SOL_UDP);
socket_bind($datagrams, '127.0.0.1');
socket_getsockname($datagrams, $host, $udp);
$pid = later(function () use ($udp) { $s = socket_create(AF_INET, SOCK_DGRAM, SOL_UDP); socket_sendto($s, 'dgram', 5, 0, '127.0.0.1', $udp); });
timed('socket_recvfrom', 0.14, function () use ($datagrams) { return [socket_recvfrom($datagrams, $got, 10, 0, $from, $p), $got]; }, $made);
pcntl_waitpid($pid, $status);

$lock = "$directory/lock";
$held = fopen($lock, 'c');
flock($held, LOCK_EX);
$pid = later(fn() => flock($held, LOCK_UN), 0.2);
fclose($held);
timed('flock, contended', 0.19, fn() => flock(fopen($lock, 'c'), LOCK_EX), $made);
pcntl_waitpid($pid, $status);
timed('pcntl_waitpid of a child that sleeps', 0.14, fn() => pcntl_waitpid($pid = later(fn() => exit(9)), $status) === $pid ? pcntl_wexitstatus($status) : -1);
timed('pcntl_wait, no child', 0, fn() => [pcntl_wait($status), pcntl_get_last_error() === PCNTL_ECHILD]);
pcntl_sigprocmask(SIG_BLOCK, [SIGUSR1]);
timed('pcntl_sigtimedwait', 0.14, fn() => @pcntl_sigtimedwait([SIGUSR1], $info, 0, 150000000));

timed('popen and pclose', 0.25, function () {
	$p = popen('sleep 0.15; echo one; sleep 0.1; echo two; exit 7', 'r');
	return [fgets($p), fgets($p), fgets($p), pclose($p)];
});
timed('popen for writing', 0.14, function () { $p = popen('sleep 0.15; exec cat > /dev/null', 'w'); return [fwrite($p, str_repeat('x', 300000)), pclose($p)]; });
timed('proc_open and proc_close', 0.14, function () {
	$p = proc_open(['sh', '-c', 'read line; sleep 0.15; echo got $line; exit 5'], [['pipe', 'r'], ['pipe', 'w'], ['pipe', 'w']], $pipes);
	fwrite($pipes[0], "it\n");
	return [stream_get_contents($pipes[1]), stream_get_contents($pipes[2]), proc_close($p)];
});
timed('exec', 0.14, function () { exec('sleep 0.15; echo a; echo b; exit 3', $lines, $status); return [$lines, $status]; });
timed('shell_exec', 0.14, fn() => shell_exec('sleep 0.15; echo shell'));
timed('system', 0.14, fn() => system('sleep 0.15; exit 4', $status) . $status);
timed('fopen of a fifo', 0.14, function () use ($directory) {
	exec('mkfifo ' . escapeshellarg("$directory/fifo"));
	$p = popen('sleep 0.15; echo through > ' . escapeshellarg("$directory/fifo"), 'r');
	return [fgets(fopen("$directory/fifo", 'r')), pclose($p)];
});

/* An HTTP server that takes its time. */
$pid = pcntl_fork();
if ($pid === 0) {
	for ($i = 0; $i < 2 + extension_loaded('curl') * 2; $i++) {
		$s = stream_socket_accept($listener, 20);
		fread($s, 4096);
		usleep(150000);
		fwrite($s, "HTTP/1.0 200 OK\r\nContent-Length: 6\r\n\r\nsl");
		usleep(100000);
		fwrite($s, 'ow!!');
		fclose($s);
	}
	exit(0);
}
$url = 'http://' . stream_socket_get_name($listener, false) . '/';
timed('file_get_contents over HTTP', 0.2, fn() => file_get_contents($url));
timed('fsockopen', 0.2, function () use ($url) {
	$s = fsockopen('127.0.0.1', parse_url($url, PHP_URL_PORT), $code, $text, 20);
	fwrite($s, "GET / HTTP/1.0\r\n\r\n");
	return substr(stream_get_contents($s), -6);
});
if (extension_loaded('curl')) {
	$get = function () use ($url) {
		$c = curl_init($url);
		curl_setopt_array($c, [CURLOPT_RETURNTRANSFER => true, CURLOPT_TIMEOUT => 20, CURLOPT_PROXY => '', CURLOPT_HTTP_VERSION => CURL_HTTP_VERSION_1_0]);
		return $c;
	};
	timed('curl_exec', 0.2, fn() => [curl_exec($c = $get()), curl_errno($c)]);
	timed('curl_multi_select', 0.2, function () use ($get) {
		$m = curl_multi_init();
		curl_multi_add_handle($m, $c = $get());
		do {
			curl_multi_exec($m, $running);
			if (curl_multi_select($m, 5) < 0)
				return 'failed';
		} while ($running);
		return curl_multi_getcontent($c);
	});
}
pcntl_waitpid($pid, $status);

/* Signals that the program itself asked for do interrupt it, and leave what they always leave. */
pcntl_async_signals(true);
pcntl_signal(SIGALRM, function () { echo "alarm\n"; }, false);
pcntl_alarm(1);
timed('sleep with an alarm', 0.9, fn() => sleep(3) >= 1);
if (extension_loaded('sysvsem')) {
	$semaphore = sem_get(ftok(__FILE__, 's'), 1);
	sem_acquire($semaphore);
	timed('sem_acquire, not to be had', 0, fn() => sem_acquire($semaphore, true));
	$pid = later(fn() => sem_release($semaphore), 0.25);
	timed('sem_acquire, contended', 0.24, fn() => sem_acquire($semaphore), $made);
	pcntl_waitpid($pid, $status);
	sem_remove($semaphore);
}
PHP;
$expected = <<<'TEXT'
sleep: 0
usleep: null
time_nanosleep: true
time_sleep_until: true
stream_select: [0,0]
fread with a timeout: ["",true]
fgets: "first\n"
fgets again: "second\n"
pcntl_waitpid: true
socket_select: [0,0]
socket_recv with a timeout: [false,true]
socket_recv: [5,"hello"]
socket_recv of all: [7,"one two"]
socket_write of 4 MB to a slow reader: 4194304
pcntl_wait: true
socket_accept: "x"
stream_socket_accept, nobody comes: false
socket_recvfrom: [5,"dgram"]
flock, contended: true
pcntl_waitpid of a child that sleeps: 9
pcntl_wait, no child: [-1,true]
pcntl_sigtimedwait: -1
popen and pclose: ["one\n","two\n",false,7]
popen for writing: [300000,0]
proc_open and proc_close: ["got it\n","",5]
exec: [["a","b"],3]
shell_exec: "shell\n"
system: "4"
fopen of a fifo: ["through\n",0]
file_get_contents over HTTP: "slow!!"
fsockopen: "slow!!"

TEXT;
if (PHP_VERSION_ID >= 80400)	/* whose own answer it is that the time is over */
	$expected = str_replace('pcntl_sigtimedwait: -1', 'pcntl_sigtimedwait: false', $expected);
$modules = [];
$directory = ini_get('extension_dir') ?: PHP_EXTENSION_DIR;
foreach (['sockets', 'curl', 'sysvsem'] as $name)
	if (file_exists("$directory/$name.so") || file_exists(PHP_EXTENSION_DIR . "/$name.so"))
		$modules[] = $name;
if (in_array('curl', $modules))
	$expected .= "curl_exec: [\"slow!!\",0]\ncurl_multi_select: \"slow!!\"\n";
$expected .= "alarm\nsleep with an alarm: true\n";
if (in_array('sysvsem', $modules))
	$expected .= "sem_acquire, not to be had: false\nsem_acquire, contended: true\n";
// It takes five seconds each time, so that those are left out that differ from the others only in what they make of it.
nobody_notices('calls', $code, $expected, ['extension' => $modules], ['loaded', 'idle observer', 'traced', 'traced with allocations',
	'xhprof, by samples', 'Strobe\\Sampler', 'every request a run']);
echo "done\n";
?>
--EXPECT--
done
