"""Which servers went on or off since the last look."""

STARTED = 'started'
STOPPED = 'stopped'


class PowerWatch:
    """Compares looks at the servers; the first look at a server reports nothing."""

    def __init__(self):
        self._known = {}

    def changes(self, now, restarting):
        """(uuid, STARTED or STOPPED) pairs.

        now: {uuid: runs}. restarting(uuid) is asked about a server that has stopped: one that is
        about to run again (a reboot from inside) is not reported.
        """
        found = []
        for uuid, runs in now.items():
            before = self._known.get(uuid, runs)
            if before and not runs and restarting(uuid):
                now[uuid] = True
            elif before != runs:
                found.append((uuid, STARTED if runs else STOPPED))
        self._known = dict(now)
        return found
