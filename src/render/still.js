/* Stands before the still picture of a page in a file. It makes text of the picture, by an element that is text where scripts run: parsing,
 * laying out and painting it takes a tenth of the time to open, and the page takes its place. Where this may not run the picture
 * stays one; and if the page's own script fails, in a browser that is too old for example, or has not begun two seconds after the file
 * was read, the text becomes the picture again. */
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
