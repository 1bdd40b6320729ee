"""Detection of changes of the servers' power state."""

STARTED = 'started'
STOPPED = 'stopped'


class PowerWatch:
    """Comparison of the servers' states with those of the last call. A new server is no change."""

    def __init__(self):
        self._known = {}

    def changes(self, now, switched_on):
        """Return (uuid, STARTED or STOPPED) pairs for servers whose state has changed.

        now: {uuid: whether the server has a process}. switched_on(uuid): whether a server without a
        process is starting or rebooting. Such a server counts as running. switched_on is not called
        for a server that was off at the last call.
        """
        found = []
        for uuid, runs in now.items():
            before = self._known.get(uuid)
            now[uuid] = runs or (before is not False and switched_on(uuid))
            if before not in (None, now[uuid]):
                found.append((uuid, STARTED if runs else STOPPED))
        self._known = dict(now)
        return found
