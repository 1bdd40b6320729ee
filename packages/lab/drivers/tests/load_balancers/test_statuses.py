"""The statuses that are reported to Octavia."""
import unittest

from labdriver.load_balancers import statuses
from tests.load_balancers import objects


def by_id(report, key='provisioning_status'):
    """Return {id: status} of a report, over all kinds."""
    return {entry['id']: entry[key] for entries in report.values() for entry in entries
            if key in entry}


def row(name, status='', kind=None, **fields):
    """Return a row of haproxy's statistics."""
    return dict({'pxname': 'pool', 'svname': name, 'status': status, 'weight': '1', 'scur': '',
                 'bin': '', 'bout': '', 'ereq': '', 'stot': ''}, **fields)


def pending_tree(status='PENDING_CREATE'):
    """Return a load balancer whose parts all have one provisioning status."""
    one = objects.pool(members=[objects.member('m1', provisioning_status=status)],
                       provisioning_status=status,
                       health_monitor=objects.monitor(provisioning_status=status))
    return objects.balancer([objects.listener(default_pool=one, provisioning_status=status)],
                            [one], provisioning_status=status)


class SuccessReportTest(unittest.TestCase):
    def test_everything_that_was_created_at_once_becomes_active(self):
        self.assertEqual(by_id(statuses.get_success_report(pending_tree())), dict.fromkeys(
            ('m1', 'monitor', 'pool', 'listener', 'balancer'), 'ACTIVE'))

    def test_nothing_pending_is_nothing_to_report(self):
        self.assertEqual(statuses.get_success_report(objects.simple()), {})

    def test_cascade_delete(self):
        tree = pending_tree('ACTIVE')
        tree.provisioning_status = 'PENDING_DELETE'
        self.assertEqual(set(by_id(statuses.get_success_report(tree)).values()), {'DELETED'})
        self.assertEqual(len(by_id(statuses.get_success_report(tree))), 5)

    def test_what_is_in_a_deleted_pool_goes_too(self):
        tree = pending_tree('ACTIVE')
        tree.provisioning_status = 'PENDING_UPDATE'
        tree.pools[0].provisioning_status = 'PENDING_DELETE'
        self.assertEqual(by_id(statuses.get_success_report(tree)), {
            'm1': 'DELETED', 'monitor': 'DELETED', 'pool': 'DELETED', 'balancer': 'ACTIVE'})

    def test_single_deletes(self):
        tree = objects.simple(provisioning_status='PENDING_UPDATE')
        tree.pools[0].members[0].provisioning_status = 'PENDING_DELETE'
        tree.listeners[0].provisioning_status = 'PENDING_DELETE'
        self.assertEqual(by_id(statuses.get_success_report(tree)), {
            'm1': 'DELETED', 'listener': 'DELETED', 'balancer': 'ACTIVE'})

    def test_batch_update_of_members(self):
        tree = objects.simple(provisioning_status='PENDING_UPDATE')
        for member, status in zip(tree.pools[0].members, ('PENDING_CREATE', 'PENDING_UPDATE')):
            member.provisioning_status = status
        self.assertEqual(by_id(statuses.get_success_report(tree)), {
            'm1': 'ACTIVE', 'm2': 'ACTIVE', 'balancer': 'ACTIVE'})

    def test_leaves_come_before_what_holds_them(self):
        kinds = [kind for kind, _, _ in statuses.list_parts(pending_tree())]
        self.assertEqual(kinds, ['members', 'healthmonitors', 'pools', 'listeners',
                                 'loadbalancers'])


class OperatingStatusTest(unittest.TestCase):
    def operating(self, tree):
        return by_id(statuses.get_success_report(tree), 'operating_status')

    def test_monitored_members_wait_for_their_first_check(self):
        self.assertNotIn('m1', self.operating(pending_tree()))

    def test_members_without_monitor(self):
        tree = pending_tree()
        tree.pools[0].health_monitor = None
        self.assertEqual(self.operating(tree)['m1'], 'NO_MONITOR')

    def test_members_of_a_monitor_that_goes(self):
        tree = pending_tree()
        tree.pools[0].health_monitor.provisioning_status = 'PENDING_DELETE'
        self.assertEqual(self.operating(tree)['m1'], 'NO_MONITOR')

    def test_disabled_things_are_offline(self):
        tree = pending_tree()
        tree.enabled = tree.listeners[0].enabled = tree.pools[0].members[0].enabled = False
        found = self.operating(tree)
        self.assertEqual((found['balancer'], found['listener'], found['m1'], found['pool']),
                         ('OFFLINE', 'OFFLINE', 'OFFLINE', 'ONLINE'))

    def test_words_of_haproxy(self):
        for word, status in (('UP', 'ONLINE'), ('UP 1/3', 'ONLINE'), ('no check', 'NO_MONITOR'),
                             ('MAINT', 'OFFLINE'), ('DRAIN', 'DRAINING'), ('DOWN', 'ERROR'),
                             ('DOWN 1/2', 'ERROR'), ('NOLB', 'DRAINING'), ('?', 'ERROR')):
            self.assertEqual(statuses.get_operating_status(word), status)

    def test_weight_zero_means_draining(self):
        self.assertEqual(statuses.get_operating_status('UP', '0'), 'DRAINING')
        self.assertEqual(statuses.get_operating_status('DOWN', '0'), 'ERROR')
        self.assertEqual(statuses.get_operating_status('no check', '0'), 'NO_MONITOR')


class FailureReportTest(unittest.TestCase):
    def test_what_waits_and_the_load_balancer_are_in_error(self):
        tree = objects.simple(provisioning_status='PENDING_UPDATE')
        tree.pools[0].members[1].provisioning_status = 'PENDING_CREATE'
        self.assertEqual(by_id(statuses.get_failure_report(tree)),
                         {'m2': 'ERROR', 'balancer': 'ERROR'})


class ObservedReportTest(unittest.TestCase):
    def setUp(self):
        self.tree = objects.simple()
        for member in self.tree.pools[0].members:
            member.operating_status = 'ONLINE'

    def report(self, first, second):
        return by_id(statuses.get_observed_report(self.tree, [row('m1', first), row('m2', second)]),
                     'operating_status')

    def test_only_differences_are_reported(self):
        self.assertEqual(self.report('UP', 'UP'), {})

    def test_one_bad_member_degrades(self):
        self.assertEqual(self.report('UP', 'DOWN'), {
            'm2': 'ERROR', 'pool': 'DEGRADED', 'balancer': 'DEGRADED'})

    def test_only_bad_members(self):
        self.assertEqual(self.report('DOWN', 'DOWN 1/2'), {
            'm1': 'ERROR', 'm2': 'ERROR', 'pool': 'ERROR', 'balancer': 'DEGRADED'})

    def test_recovery(self):
        self.tree.operating_status = self.tree.pools[0].operating_status = 'DEGRADED'
        self.assertEqual(self.report('UP', 'UP'), {'pool': 'ONLINE', 'balancer': 'ONLINE'})

    def test_members_that_haproxy_does_not_know_are_left_alone(self):
        self.assertEqual(statuses.get_observed_report(self.tree, []), {})

    def test_draining_is_not_an_error(self):
        self.assertEqual(self.report('DRAIN', 'UP'), {'m1': 'DRAINING'})


class StatisticsTest(unittest.TestCase):
    def test_only_frontends_count(self):
        rows = [row('FRONTEND', pxname='listener', scur='1', bin='20', bout='300', ereq='',
                    stot='4'), row('m1'), row('BACKEND')]
        self.assertEqual(statuses.get_listener_statistics(rows), [{
            'id': 'listener', 'active_connections': 1, 'bytes_in': 20, 'bytes_out': 300,
            'request_errors': 0, 'total_connections': 4}])
