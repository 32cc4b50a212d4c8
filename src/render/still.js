/* See put_still in html.c. */
(function () {
var main = document.currentScript.parentNode;

function show() {
	var text = document.contains(main) && main.querySelector("noscript");

	if (text)
		text.outerHTML = text.textContent;
}

addEventListener("error", show);
addEventListener("load", function () { setTimeout(show, 2000); });
document.write("<noscript>");
})();
