// Explains how to get the first profile into an empty store.

export function HowToStart() {
	return <>
		<p>Profile one script, with no set-up:</p>
		<pre>strobe run -- php script.php</pre>
		<p>Or always, with these lines in php.ini, and PHP restarted:</p>
		<pre>{'extension=strobe.so\nstrobe.mode=sample'}</pre>
	</>;
}
