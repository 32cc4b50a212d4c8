--TEST--
Symfony: with the listener in docs/recipes.md the entry is the route, for code after the router and for the run
--EXTENSIONS--
sockets
--SKIPIF--
<?php
foreach (['HttpKernel', 'Routing', 'EventDispatcher'] as $component)
	if (!is_file("/usr/share/php/Symfony/Component/$component/autoload.php"))
		die('skip the packages php-symfony-http-kernel, php-symfony-routing and php-symfony-event-dispatcher are not installed');
?>
--FILE--
<?php
require __DIR__ . '/strobe.inc';

$code = '<?php
error_reporting(E_ALL & ~E_DEPRECATED);
foreach (["HttpKernel", "Routing", "EventDispatcher"] as $component)
	require "/usr/share/php/Symfony/Component/$component/autoload.php";
' . <<<'PHP'
use Symfony\Component\EventDispatcher\EventDispatcher;
use Symfony\Component\EventDispatcher\EventSubscriberInterface;
use Symfony\Component\HttpKernel\Event\RequestEvent;
use Symfony\Component\HttpKernel\KernelEvents;

/* RouterListener has priority 32. */
final class StrobeRoutes implements EventSubscriberInterface
{
	public static function getSubscribedEvents(): array
	{
		return [KernelEvents::REQUEST => ['routed', 31]];
	}

	public function routed(RequestEvent $event): void
	{
		$route = $event->getRequest()->attributes->get('_route');
		if ($event->isMainRequest() && $route)
			Strobe\set_entry($route);
	}
}

use Symfony\Component\HttpFoundation\Request;
use Symfony\Component\HttpFoundation\RequestStack;
use Symfony\Component\HttpFoundation\Response;
use Symfony\Component\HttpKernel\Controller\ArgumentResolver;
use Symfony\Component\HttpKernel\Controller\ControllerResolver;
use Symfony\Component\HttpKernel\EventListener\RouterListener;
use Symfony\Component\HttpKernel\HttpKernel;
use Symfony\Component\Routing\Matcher\UrlMatcher;
use Symfony\Component\Routing\RequestContext;
use Symfony\Component\Routing\Route;
use Symfony\Component\Routing\RouteCollection;

function show_cart(int $id): Response { busy(0.3); return new Response("cart $id"); }
function boot(): void { busy(0.3); }

boot();
$routes = new RouteCollection;
$routes->add('home', new Route('/', ['_controller' => fn() => new Response('home')]));
$routes->add('cart_show', new Route('/cart/{id}', ['_controller' => 'show_cart'], ['id' => '\d+']));
$dispatcher = new EventDispatcher;
$dispatcher->addSubscriber(new RouterListener(new UrlMatcher($routes, new RequestContext), new RequestStack));
$dispatcher->addSubscriber(new StrobeRoutes);
$kernel = new HttpKernel($dispatcher, new ControllerResolver, new RequestStack, new ArgumentResolver);
echo $kernel->handle(Request::create('/cart/17'))->getContent();
PHP . substr('<?php ' . BUSY, 5);
$run = profile($code, ['strobe.instrument' => '1', 'strobe.trace_rate' => '1',
	'extension' => [extension_path(), ...array_filter(['ctype', 'mbstring'], fn($m) => is_file(ini_get('extension_dir') . "/$m.so"))]]);
check($run->stdout === 'cart 17', $run->stdout . $run->stderr);
$sums = [];
foreach ($run->sampled() as $m)
	foreach ($m['stacks'] as [$path, $n])
		foreach (array_intersect(['boot', 'show_cart'], $path) as $f)
			$sums[$f][$m['labels']['entry']] = ($sums[$f][$m['labels']['entry']] ?? 0) + $n;
foreach (['boot' => 'script', 'show_cart' => 'cart_show'] as $f => $entry)
	check(($sums[$f][$entry] ?? 0) > 100 && $sums[$f][$entry] >= 0.9 * array_sum($sums[$f]), "$f: " . json_encode($sums));
$entries = array_map(fn($m) => $m['labels']['entry'], $run->runs());
check($entries === ['cart_show'], json_encode($entries));
echo "done\n";
?>
--EXPECT--
done
