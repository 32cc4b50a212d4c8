--TEST--
excimer: a typical site collector takes one staggered sample per request and sends it from the flush callback through a client that may fail
--INI--
strobe.compat=excimer
--FILE--
<?php
namespace {
require __DIR__ . '/excimer.inc';

class RedisException extends Exception {}

/* Keeps what is published; a timeout is an exception, as php-redis does it. */
class Redis
{
	public static array $published = [];
	public static ?string $failure = null;

	public function connect($host, $port = 6379, $timeout = 0.0)
	{
		return self::$failure !== 'connect';
	}

	public function publish($channel, $message)
	{
		if (self::$failure === 'read')
			throw new RedisException('read error on connection');
		self::$published[] = [$channel, $message];
		return 1;
	}
}
}

namespace Site {
use ExcimerProfiler;
use Redis;

class Collector
{
	public static array $errors = [];

	public static function begin(array $options): void
	{
		static $profiler;

		if (!extension_loaded('excimer'))
			throw new \Exception('no excimer');
		$profiler = new ExcimerProfiler;
		$profiler->setEventType(EXCIMER_REAL);
		$profiler->setPeriod($options['period']);
		$profiler->setMaxDepth(250);
		$profiler->setFlushCallback(static function ($log) use ($options) {
			self::send(explode("\n", $log->formatCollapsed()), $options);
		}, 1);
		$profiler->start();
	}

	private static function send(array $lines, array $options): void
	{
		$error = null;
		try {
			$redis = new Redis();
			if (!$redis->connect($options['host'], $options['port'], $options['timeout'])) {
				$error = 'connect_error';
			} else {
				$entry = realpath($_SERVER['SCRIPT_FILENAME']) . ';';
				foreach ($lines as $line) {
					if ($line === '')
						continue;
					if (substr($line, 0, strlen($entry)) !== $entry)
						$line = $entry . $line;
					$redis->publish('excimer', $line);
				}
			}
		} catch (\Exception $e) {
			$error = 'exception';
		}
		if ($error)
			self::$errors[] = $error;
	}
}
}

namespace {
function handle_request(): void { render_page(250); }
function render_page(int $deep): void { $deep ? render_page($deep - 1) : \Page::output(); }
class Page
{
	static function output(): void { (function () { work(0.001); })(); }
	function __destruct() { work(0.01); }
}

$_SERVER['SCRIPT_FILENAME'] = __FILE__;
Site\Collector::begin(['period' => 0.002, 'host' => '127.0.0.1', 'port' => 6379, 'timeout' => 0.1]);
check(work_until(fn() => count(Redis::$published) > 3), 'lines of the shallow stack');
$shallow = Redis::$published;
Redis::$published = [];
for ($end = microtime(true) + 30; count(Redis::$published) < 20 && microtime(true) < $end;)
	handle_request();

foreach ([...$shallow, ...Redis::$published] as [$channel, $line]) {
	check($channel === 'excimer', $channel);
	check(preg_match('~^' . preg_quote(__FILE__) . ';\S+ 1?\d*$~', $line) === 1, "file;frames count: $line");
	check(substr_count($line, ';') <= 253, "not deeper than was asked for: $line");
}
$deep = array_filter(array_column(Redis::$published, 1), fn($l) => str_contains($l, ';excimer_truncated;'));
check($deep !== [] && str_starts_with(reset($deep), __FILE__ . ';excimer_truncated;render_page;render_page;'), 'the entry point is put before a cut stack');
check((bool)preg_grep('~;Page::output;\{closure:\S+\(\d+\)\};work \d+$~', $deep), 'names: ' . substr(reset($deep), -120));

foreach (['connect', 'read'] as Redis::$failure)
	check(work_until(fn() => count(Site\Collector::$errors) > (Redis::$failure === 'read' ? 3 : 2)), 'failures are survived');
check(in_array('connect_error', Site\Collector::$errors, true), json_encode(Site\Collector::$errors));
Redis::$failure = 'read';
check(work_until(fn() => in_array('exception', Site\Collector::$errors, true)), 'also exceptions');
Redis::$failure = null;
Redis::$published = [];

/* A request that is too short for its period mostly sends nothing, and now and then one line. */
Site\Collector::begin(['period' => 60, 'host' => '127.0.0.1', 'port' => 6379, 'timeout' => 0.1]);
Redis::$published = [];
$page = new Page();
unset($page);
check(count(Redis::$published) <= 1, 'at most one: ' . json_encode(Redis::$published));
echo "done\n";
}
?>
--EXPECT--
done
