--TEST--
Laravel: the service provider in docs/recipes.md runs without PHP warnings, names requests by route, and makes each job a unit
--EXTENSIONS--
sockets
--SKIPIF--
<?php
if (!is_file(__DIR__ . '/../../docs/recipes.md'))
	die('skip the documents are not beside the extension');
?>
--FILE--
<?php
require __DIR__ . '/strobe.inc';

$laravel = strstr(file_get_contents(__DIR__ . '/../../docs/recipes.md'), "## Laravel\n");
check(preg_match('/^    namespace App.*?^    }\n/ms', $laravel, $found) === 1, 'no provider in the recipe');

/* Stand-ins for the classes of Laravel, with the calls and properties that the provider uses. */
$laravel = <<<'PHP'
namespace Illuminate\Queue\Events {
	abstract class JobEvent { public function __construct(public $job) {} }
	class JobProcessing extends JobEvent {}
	class JobProcessed extends JobEvent {}
	class JobExceptionOccurred extends JobEvent {}
}
namespace Illuminate\Routing {
	class Route { public function __construct(private string $uri) {} public function uri() { return $this->uri; } }
}
namespace Illuminate\Routing\Events {
	class RouteMatched { public function __construct(public \Illuminate\Routing\Route $route) {} }
}
namespace Illuminate\Support {
	abstract class ServiceProvider { public function __construct(protected $app) {} }
}
namespace Illuminate\Support\Facades {
	abstract class Listeners {
		private static array $all = [];
		public static function listen(string $event, callable $f): void { self::$all[$event][] = $f; }
		public static function dispatch(object $e): void { foreach (self::$all[$e::class] ?? [] as $f) $f($e); }
	}
	class Event extends Listeners {}
	class Queue extends Listeners {
		public static function before(callable $f): void { self::listen(\Illuminate\Queue\Events\JobProcessing::class, $f); }
		public static function after(callable $f): void { self::listen(\Illuminate\Queue\Events\JobProcessed::class, $f); }
		public static function exceptionOccurred(callable $f): void { self::listen(\Illuminate\Queue\Events\JobExceptionOccurred::class, $f); }
	}
}
namespace {
	class Job {
		public function __construct(private string $name, private Closure $work) {}
		public function resolveName() { return $this->name; }
		public function getQueue() { return 'mail'; }
		public function fire() { ($this->work)(); }
	}

	function work(Job $job): void
	{
		Illuminate\Support\Facades\Event::dispatch(new Illuminate\Queue\Events\JobProcessing($job));
		try {
			$job->fire();
			Illuminate\Support\Facades\Event::dispatch(new Illuminate\Queue\Events\JobProcessed($job));
		} catch (RuntimeException) {
			Illuminate\Support\Facades\Event::dispatch(new Illuminate\Queue\Events\JobExceptionOccurred($job));
		}
	}

	function entry(): string { return (Strobe\labels()['entry'] ?? '-') . ' ' . (Strobe\labels()['queue'] ?? '-'); }

	error_reporting(E_ALL);
	set_error_handler(function ($level, $message) { throw new ErrorException($message, 0, $level); });
	require $argv[1];
	(new App\Providers\StrobeServiceProvider(null))->boot();
	$seen = [];
	work(new Job('SendMail', function () use (&$seen) {
		$seen[] = entry();
		work(new Job('Resize', function () use (&$seen) { $seen[] = entry(); throw new RuntimeException; }));
		$seen[] = entry();
	}));
	$seen[] = entry();
	Illuminate\Support\Facades\Event::dispatch(new Illuminate\Routing\Events\RouteMatched(new Illuminate\Routing\Route('cart/{id}')));
	$seen[] = entry();
	echo implode(', ', $seen);
}
PHP;
$provider = tempnam(sys_get_temp_dir(), 'strobe');
file_put_contents($provider, "<?php\n" . preg_replace('/^    /m', '', $found[0]));
$code = str_replace('$argv[1]', var_export($provider, true), "<?php\n$laravel");
$run = profile($code, ['strobe.instrument' => '1', 'strobe.trace_rate' => '1']);
unlink($provider);
check($run->stdout === 'SendMail mail, Resize mail, SendMail mail, script -, cart/{id} -', $run->stdout . $run->stderr);
$runs = array_map(fn($l) => $l['entry'] . ' ' . ($l['failed'] ?? '-'), array_column($run->runs(), 'labels'));
sort($runs);
check($runs === ['Resize 1', 'SendMail -', 'cart/{id} -'], implode("\n", $runs));
echo "done\n";
?>
--EXPECT--
done
