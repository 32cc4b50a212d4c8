--TEST--
Symfony Messenger: with the listener in docs/recipes.md each message is a unit, traced by rate and marked when it fails
--EXTENSIONS--
sockets
--SKIPIF--
<?php
foreach (['Component/Messenger', 'Component/EventDispatcher', 'Contracts/Service'] as $part)
	if (!is_file("/usr/share/php/Symfony/$part/autoload.php"))
		die('skip the packages php-symfony-messenger, -event-dispatcher and -service-contracts are not all installed');
?>
--FILE--
<?php
require __DIR__ . '/strobe.inc';

$code = '<?php
error_reporting(E_ALL & ~E_DEPRECATED);
require "/usr/share/php/Symfony/Contracts/Service/autoload.php";
require "/usr/share/php/Symfony/Component/Messenger/autoload.php";
require "/usr/share/php/Symfony/Component/EventDispatcher/autoload.php";
' . <<<'PHP'
use Symfony\Component\EventDispatcher\EventDispatcher;
use Symfony\Component\EventDispatcher\EventSubscriberInterface;
use Symfony\Component\Messenger\Event\WorkerMessageFailedEvent;
use Symfony\Component\Messenger\Event\WorkerMessageHandledEvent;
use Symfony\Component\Messenger\Event\WorkerMessageReceivedEvent;
use Symfony\Component\Messenger\Event\WorkerRunningEvent;

final class StrobeSubscriber implements EventSubscriberInterface
{
	private ?Strobe\Unit $unit = null;

	public static function getSubscribedEvents(): array
	{
		return [
			WorkerMessageReceivedEvent::class => ['received', 1000],
			WorkerMessageHandledEvent::class => ['handled', -1000],
			WorkerMessageFailedEvent::class => ['failed', -1000],
		];
	}

	public function received(WorkerMessageReceivedEvent $event): void
	{
		$message = $event->getEnvelope()->getMessage();
		$this->unit = Strobe\Unit::begin($message::class, ['transport' => $event->getReceiverName()]);
	}

	public function handled(WorkerMessageHandledEvent $event): void
	{
		$this->unit?->end();
	}

	public function failed(WorkerMessageFailedEvent $event): void
	{
		$this->unit?->end(failed: true);
	}
}

final class SendMail { public function __construct(public int $id) {} }
final class Resize { public function __construct(public int $id) {} }

function send_mail(SendMail $m): void { Strobe\set_attribute('mail', $m->id); busy_ticked(0.05, 20); if ($m->id === 3) throw new RuntimeException('no such address'); }
function resize(Resize $m): void { busy_ticked(0.05, 20); }

use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Handler\HandlersLocator;
use Symfony\Component\Messenger\MessageBus;
use Symfony\Component\Messenger\Middleware\HandleMessageMiddleware;
use Symfony\Component\Messenger\Transport\InMemoryTransport;
use Symfony\Component\Messenger\Worker;

$transport = new InMemoryTransport;
foreach ([new SendMail(1), new Resize(2), new SendMail(3), new Resize(4), new SendMail(5)] as $message)
	$transport->send(new Envelope($message));
$bus = new MessageBus([new HandleMessageMiddleware(new HandlersLocator([SendMail::class => [fn(SendMail $m) => send_mail($m)], Resize::class => [fn(Resize $m) => resize($m)]]))]);
$dispatcher = new EventDispatcher;
$dispatcher->addSubscriber(new StrobeSubscriber);
$idle = 0;
$dispatcher->addListener(WorkerRunningEvent::class, function (WorkerRunningEvent $e) use (&$idle) { if ($e->isWorkerIdle() && ++$idle === 2) $e->getWorker()->stop(); });
(new Worker(['async' => $transport], $bus, $dispatcher))->run(['sleep' => 100000]);
echo count($transport->getAcknowledged()), ' ', count($transport->getRejected()), ' ', Strobe\labels()['transport'] ?? '-';
PHP . BUSY . BUSY_TICKED;
$run = profile($code, ['strobe.instrument' => '1', 'strobe.trace_rate' => '1', 'strobe.trace_keep' => 'failed',
	'extension' => [extension_path(), ...array_filter(['ctype', 'mbstring'], fn($m) => is_file(ini_get('extension_dir') . "/$m.so"))]]);
check($run->stdout === '5 0 -' || $run->stdout === '4 1 -', $run->stdout . $run->stderr);
$sums = $transports = [];
foreach ($run->sampled() as $m) {
	$l = $m['labels'];
	foreach ($m['stacks'] as [$path, $n])
		foreach (array_intersect(['send_mail', 'resize'], $path) as $f)
			$sums[$f][$l['entry']] = ($sums[$f][$l['entry']] ?? 0) + $n;
	$transports[$l['entry']] = $l['transport'] ?? '-';
}
ksort($transports);
check($transports === ['Resize' => 'async', 'SendMail' => 'async', 'script' => '-'], json_encode($transports));
foreach (['send_mail' => 'SendMail', 'resize' => 'Resize'] as $f => $entry)
	check(($sums[$f][$entry] ?? 0) >= 40 && $sums[$f][$entry] >= 0.98 * array_sum($sums[$f]), "$f: " . json_encode($sums));
$runs = array_map(fn($l) => implode(' ', array_map(fn($k) => $l[$k] ?? '-', ['entry', 'transport', 'source', 'failed', 'unfinished', 'mail'])), array_column($run->runs(), 'labels'));
check($runs === ['SendMail async sampled 1 - 3'], implode("\n", $runs));
echo "done\n";
?>
--EXPECT--
done
