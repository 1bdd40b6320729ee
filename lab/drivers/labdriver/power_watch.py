"""Which servers went on or off since the last look."""

STARTED = 'started'
STOPPED = 'stopped'


class PowerWatch:
    """Compares looks at the servers; the first look at a server reports nothing."""

    def __init__(self):
        self._known = {}

    def changes(self, now, switched_on):
        """(uuid, STARTED or STOPPED) pairs.

        now: {uuid: runs}. switched_on(uuid) is asked about a server that does not run, though it
        did at the last look, or is new: one that will run in a moment (its first start, a reboot
        from inside) counts as running.
        """
        found = []
        for uuid, runs in now.items():
            before = self._known.get(uuid)
            now[uuid] = runs or (before is not False and switched_on(uuid))
            if before not in (None, now[uuid]):
                found.append((uuid, STARTED if runs else STOPPED))
        self._known = dict(now)
        return found
