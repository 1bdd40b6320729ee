"""Changes of the servers' power state."""

STARTED = 'started'
STOPPED = 'stopped'


class PowerWatch:
    """Comparison of the servers' states. The first state of a server is not reported."""

    def __init__(self):
        self._known = {}

    def changes(self, now, switched_on):
        """Return (uuid, STARTED or STOPPED) pairs.

        now: {uuid: runs}. switched_on(uuid) is called for a server that does not run but is new
        or ran before. A server that will run in a moment (its first start, a reboot from inside)
        counts as running.
        """
        found = []
        for uuid, runs in now.items():
            before = self._known.get(uuid)
            now[uuid] = runs or (before is not False and switched_on(uuid))
            if before not in (None, now[uuid]):
                found.append((uuid, STARTED if runs else STOPPED))
        self._known = dict(now)
        return found
