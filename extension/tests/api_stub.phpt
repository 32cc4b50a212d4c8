--TEST--
strobe.stub.php matches the extension: names, types, defaults, constants
--SKIPIF--
<?php if (!is_file(__DIR__ . '/../strobe.stub.php')) die('skip strobe.stub.php does not lie beside the tests'); ?>
--FILE--
<?php
const STUB = __DIR__ . '/../strobe.stub.php';

/* Everything about the namespace that a caller could see. Runs here, and in a PHP that has only the stub. */
const DESCRIBE = <<<'PHP'
function type(?ReflectionType $t): string
{
	return $t === null ? '' : ltrim((string)$t, '\\');
}

function signature(ReflectionFunctionAbstract $f): array
{
	$parameters = [];
	foreach ($f->getParameters() as $p)
		$parameters[$p->getName()] = [type($p->getType()), $p->isOptional(), $p->isPassedByReference(), $p->isVariadic(),
			$p->isDefaultValueAvailable() ? $p->getDefaultValue() : 'none'];
	return [$parameters, type($f->getReturnType() ?? ($f->hasTentativeReturnType() ? $f->getTentativeReturnType() : null)), $f->getNumberOfRequiredParameters()];
}

function describe(): array
{
	$all = [];
	foreach (get_defined_functions() as $functions)
		foreach ($functions as $name)
			if (str_starts_with($name, 'strobe\\'))
				$all['functions'][(new ReflectionFunction($name))->getName()] = signature(new ReflectionFunction($name));
	foreach (get_declared_classes() as $name) {
		$c = new ReflectionClass($name);
		if ($c->getNamespaceName() !== 'Strobe')
			continue;
		$interfaces = $c->getInterfaceNames();
		sort($interfaces);
		$all['classes'][$name] = ['final' => $c->isFinal(), 'parent' => $c->getParentClass() ? $c->getParentClass()->getName() : null,
			'interfaces' => $interfaces, 'constants' => $c->getConstants(), 'methods' => []];
		foreach ($c->getMethods() as $m)
			if ($m->getDeclaringClass()->getName() === $name)
				$all['classes'][$name]['methods'][$m->getName()] = [Reflection::getModifierNames($m->getModifiers()), signature($m)];
		ksort($all['classes'][$name]['methods']);
	}
	foreach (get_defined_constants() as $name => $value)
		if (str_starts_with($name, 'Strobe\\'))
			$all['constants'][$name] = $value;
	foreach ($all as &$part)
		ksort($part);
	ksort($all);
	return $all;
}
PHP;

eval(DESCRIBE);
$mine = json_encode(describe(), JSON_PRETTY_PRINT);
// Constants whose value only the C code has are UNKNOWN in the stub, as in those of PHP itself.
$code = 'const UNKNOWN = ' . var_export(Strobe\VERSION, true) . ';' . DESCRIBE . 'require ' . var_export(STUB, true) . '; echo json_encode(describe(), JSON_PRETTY_PRINT);';
$stub = shell_exec(escapeshellarg(PHP_BINARY) . ' -n -d display_errors=1 -r ' . escapeshellarg($code));
if ($mine !== $stub) {
	$a = explode("\n", $mine);
	$b = explode("\n", $stub);
	echo "only in the extension:\n", implode("\n", array_diff($a, $b)), "\nonly in the stub:\n", implode("\n", array_diff($b, $a)), "\n";
}
$d = describe();
echo count($d['functions']), ' functions, ', implode(' ', array_keys($d['classes'])), ', ', count($d['constants']), " constants\n";

/* Each of them is explained. */
foreach (['function', 'class', 'const'] as $what)
	preg_match_all("~^(?:    )?(?:public |static |final )*$what (\\w+)~m", file_get_contents(STUB), $found[$what], PREG_OFFSET_CAPTURE);
foreach ($found as $what => [, $names])
	foreach ($names as [$name, $at])
		if (!preg_match('~\*/\s*\n[^\n]*$~', substr(file_get_contents(STUB), 0, $at)))
			echo "$what $name has no description\n";
?>
--EXPECT--
13 functions, Strobe\Exception Strobe\Profile Strobe\Sampler Strobe\Trace Strobe\Unit, 8 constants
