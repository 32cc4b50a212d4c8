# source beside the values of its lines: by file, by function, for programs; the end of a path is enough
mkdir -p srv/app/src srv/app/lib
printf '<?php\nfunction total(array $cart): int {\n\t$sum = 0;\n\tforeach ($cart as $item) {\n\t\t$sum += price($item);\n\t}\n\treturn $sum;\n}\n\nfunction price($item): int {\n\treturn strlen($item) * rate();\n}\n\n\n\n\n\n\n\necho total($argv);\n' >srv/app/src/cart.php
printf '<?php\nfunction rate(): int { return 3; }\n' >srv/app/lib/rate.php
touch -d 2026-01-01 srv/app/src/cart.php srv/app/lib/rate.php
cat >cart.json <<'END'
{"$schema": "https://www.speedscope.app/file-format-schema.json", "shared": {"frames": [
 {"name": "php_execute_script", "file": "/usr/bin/php8.2"},
 {"name": "/srv/app/src/cart.php", "file": "/srv/app/src/cart.php", "line": 20},
 {"name": "total", "file": "/srv/app/src/cart.php", "line": 5},
 {"name": "price", "file": "/srv/app/src/cart.php", "line": 11},
 {"name": "rate", "file": "/srv/app/lib/rate.php", "line": 2},
 {"name": "total", "file": "/srv/app/src/cart.php", "line": 4},
 {"name": "strlen"}]},
 "profiles": [{"type": "sampled", "name": "samples", "unit": "none", "startValue": 0, "endValue": 100,
 "samples": [[0], [0, 1, 2, 3, 6], [0, 1, 2, 3], [0, 1, 2, 3, 4], [0, 1, 5], [0, 1, 2, 3, 2, 3]], "weights": [1, 30, 40, 5, 20, 4]}],
 "exporter": "strobe@0", "strobe": {"start_ns": 1780000000000000000, "end_ns": 1780000010000000000},
 "strobe_starts": [0, 1, 2, 10, 2, 2, 0]}
END
strobe convert cart.json -o cart.strobe
strobe annotate --root . cart.strobe
strobe annotate --root . cart.strobe price -C 0
strobe annotate --root . cart.strobe rate.php --all
strobe annotate --root . cart.strobe total --json | python3 -m json.tool --compact
strobe convert cart.json -o profile.strobe
strobe annotate --root . src/cart.php -C 0 --focus '^rate$'
strobe report cart.strobe --by line
strobe report cart.strobe
strobe convert cart.strobe -f folded
strobe convert cart.strobe --no-lines -f speedscope | grep -c strobe_starts
