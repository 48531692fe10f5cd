"""A TCP relay that cuts its connections, as a broken network does."""

import socket
import threading
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit


class Relay:
    """Forwards connections to the service at `url`. `cut` ends the open ones, and `url` accepts new ones."""

    def __init__(self, url: str) -> None:
        address = urlsplit(url)
        self._target = (address.hostname or "", address.port or 0)
        self._server = socket.create_server(("127.0.0.1", 0))
        self._sockets: list[socket.socket] = []
        self.url = f"http://127.0.0.1:{self._server.getsockname()[1]}"
        self.connections = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        sockets, self._sockets = self._sockets, []
        for one in sockets:
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()
        self.cut()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._server.accept()
                target = socket.create_connection(self._target)
            except OSError:
                return
            self.connections += 1
            self._sockets += [client, target]
            threading.Thread(target=_copy, args=(client, target), daemon=True).start()
            threading.Thread(target=_copy, args=(target, client), daemon=True).start()


def _copy(source: socket.socket, target: socket.socket) -> None:
    try:
        while data := source.recv(65_536):
            target.sendall(data)
        target.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
