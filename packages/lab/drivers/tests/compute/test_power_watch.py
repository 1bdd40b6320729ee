"""Changes of the power state."""
import unittest

from labdriver.compute import power_watch


class PowerWatchTest(unittest.TestCase):
    def setUp(self):
        self.watch = power_watch.PowerWatch()

    def changes(self, switched_on=False, **now):
        return self.watch.changes(now, lambda uuid: switched_on)

    def test_first_look_reports_nothing(self):
        self.assertEqual(self.changes(a=True, b=False), [])

    def test_changes_are_reported_once(self):
        self.changes(a=True, b=False)
        self.assertEqual(self.changes(a=False, b=True),
                         [('a', power_watch.STOPPED), ('b', power_watch.STARTED)])
        self.assertEqual(self.changes(a=False, b=True), [])

    def test_reboot_from_inside_is_no_stop(self):
        self.changes(a=True)
        self.assertEqual(self.changes(switched_on=True, a=False), [])
        self.assertEqual(self.changes(a=True), [])

    def test_server_that_is_first_seen_while_it_starts_runs(self):
        self.changes(switched_on=True, a=False)
        self.assertEqual(self.changes(switched_on=True, a=False), [], 'runc takes its time')
        self.assertEqual(self.changes(switched_on=True, a=True), [])

    def test_start_that_fails_is_a_stop(self):
        self.changes(switched_on=True, a=False)
        self.assertEqual(self.changes(a=False), [('a', power_watch.STOPPED)])

    def test_restart_that_does_not_come_is_a_stop(self):
        self.changes(a=True)
        self.changes(switched_on=True, a=False)
        self.assertEqual(self.changes(a=False), [('a', power_watch.STOPPED)])

    def test_deleted_servers_are_forgotten(self):
        self.changes(a=True)
        self.assertEqual(self.changes(), [])
        self.assertEqual(self.changes(a=False), [])

    def test_systemd_is_asked_only_about_what_stopped(self):
        self.changes(a=True, b=False)
        asked = []
        self.watch.changes({'a': True, 'b': False}, asked.append)
        self.assertEqual(asked, [])
