# The same program in another directory and with a line more above its closures has not changed; only the slower function has.
cat > a.folded <<'END'
/srv/shop/relA/index.php;App\Kernel::run;App\Cart::{closure:/srv/shop/relA/src/Cart.php(40)};strlen 300
/srv/shop/relA/index.php;App\Kernel::run;App\Cart::{closure:/srv/shop/relA/src/Cart.php(41)};strrev 200
/srv/shop/relA/index.php;/srv/shop/relA/src/routes.php;{closure:/srv/shop/relA/src/routes.php(9)};usort 400
/srv/shop/relA/index.php;/usr/share/php/Twig/autoload.php 300
/srv/shop/relA/index.php;/srv/shop/relA/index.php(12) : eval()'d code 200
END
sed 's,relA/,relB/,g; s,(40),(41),; s,Cart.php(41)};strrev,Cart.php(42)};strrev,; s,(9),(13),; s,(12) :,(14) :,' a.folded > b.folded
strobe diff --fail-over 0.1 --all a.folded b.folded
echo "exit $?"
sed 's,usort 400,usort 900,' b.folded > slower.folded
strobe diff --fail-over 1 a.folded slower.folded
echo "exit $?"
# Compared as written for difffolded.pl.
strobe diff --folded a.folded b.folded | wc -l
# So it is in an archive.
sed 's,/srv/shop/relA/,phar:///srv/shop/relA/shop.phar/,g' a.folded > a-phar.folded
sed 's,/srv/shop/relB/,phar:///srv/shop/relB/shop.phar/,g' b.folded > b-phar.folded
strobe diff --fail-over 0.1 a-phar.folded b-phar.folded
echo "exit $?"
