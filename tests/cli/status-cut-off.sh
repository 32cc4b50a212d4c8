# truncated or malformed answers are rejected
answer() {
	rm -f port
	python3 - "$1" <<'END' &
import socket, sys
s = socket.create_server(('127.0.0.1', 0))
open('port.tmp', 'w').write(str(s.getsockname()[1]))
__import__('os').rename('port.tmp', 'port')
c = s.accept()[0]
c.recv(4096)
c.sendall(sys.argv[1].encode().decode('unicode_escape').encode())
c.close()
END
	while [ ! -e port ]; do sleep 0.02; done
	strobe status --json --url "http://127.0.0.1:$(cat port)" 2>&1 | sed "s/$(cat port)/PORT/"
	wait
}
answer 'HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\n{}\n'
answer 'HTTP/1.0 200 OK\r\nContent-Length: 300\r\n\r\n{}\n'
answer 'HTTP/1.0 200 OK\r\n'
answer 'SSH-2.0-OpenSSH_9.2\r\n\r\n'
answer ''
