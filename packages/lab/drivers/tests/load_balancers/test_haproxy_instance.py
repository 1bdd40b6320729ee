"""One load balancer on this host: network, haproxy and its statistics."""
import os
import socket
import threading
import unittest
from unittest import mock

from labdriver.load_balancers import haproxy_instance
from labdriver.shell import CommandError
from tests.commands import CommandsTest
from tests.load_balancers import objects
from tests.support import DirectoryTest


class HaproxyInstanceTest(DirectoryTest):
    def setUp(self):
        super().setUp()
        self.instance = haproxy_instance.HaproxyInstance(self.directory, objects.simple())
        self.run = self.patch('labdriver.load_balancers.haproxy_instance.run')
        self.active = self.patch('labdriver.load_balancers.haproxy_instance.succeeds',
                                 return_value=False)
        self.network = self.patch('labdriver.load_balancers.haproxy_instance.network')
        name = 'labdriver.load_balancers.haproxy_instance.HaproxyInstance.statistics'
        self.rows = self.patch(name, return_value=[
            {'pxname': 'listener', 'svname': 'FRONTEND'}, {'pxname': 'pool', 'svname': 'm1'},
            {'pxname': 'pool', 'svname': 'm2'}, {'pxname': 'pool', 'svname': 'BACKEND'}])

    def patch(self, name, **fields):
        patch = mock.patch(name, **fields)
        self.addCleanup(patch.stop)
        return patch.start()

    def ran(self, *words):
        """Return the commands that were run and begin with these words."""
        return [call.args for call in self.run.call_args_list
                if call.args[:len(words)] == words]

    def test_members_elsewhere_are_joined_without_another_way_out(self):
        port = {'id': '0123456789abcdef', 'mac': 'm', 'mtu': 1350}
        self.instance.join(port, '10.0.0.77', '24')
        self.network.plug.assert_called_once_with(port, 'lb-balancer', 'mem0123456789a')
        self.assertEqual(self.ran('ip'), [('ip', '-n', 'lb-balancer', 'addr', 'replace',
                                           '10.0.0.77/24', 'dev', 'mem0123456789a')])

    def test_first_time_it_is_started(self):
        self.instance.apply()
        self.assertEqual(len(self.ran('systemd-run')), 1)
        self.assertIn('frontend listener', self.instance._current())

    def test_nothing_changed_nothing_done(self):
        self.instance.apply()
        self.active.return_value = True
        self.run.reset_mock()
        self.instance.apply()
        self.run.assert_not_called()

    def test_change_is_a_reload(self):
        self.instance.apply()
        self.active.return_value = True
        self.instance.balancer.listeners[0].protocol_port = 8080
        self.instance.apply()
        self.assertEqual(len(self.ran('systemctl', 'kill', '--kill-who=main', '--signal=USR2')), 1)

    def test_stopped_unit_is_started_again(self):
        self.instance.apply()
        self.instance.apply()
        self.assertEqual(len(self.ran('systemd-run')), 2)

    def test_without_listener_nothing_runs(self):
        self.instance.apply()
        self.instance.balancer.listeners.clear()
        self.instance.apply()
        self.assertEqual(len(self.ran('systemctl', 'stop', self.instance.unit)), 1)
        self.assertEqual(self.instance._current(), '')

    def test_refused_configuration_does_not_replace_the_good_one(self):
        self.instance.apply()
        good = self.instance._current()
        self.instance.balancer.listeners[0].protocol_port = 0
        self.run.side_effect = CommandError(['haproxy'], 1, 'invalid port')
        with self.assertRaisesRegex(haproxy_instance.HaproxyError, 'invalid port'):
            self.instance.apply()
        self.assertEqual(self.instance._current(), good)

    def test_haproxy_that_does_not_come_up_is_an_error(self):
        self.rows.side_effect = ConnectionRefusedError
        self.run.return_value = 'cannot bind socket'
        with mock.patch('labdriver.load_balancers.haproxy_instance.START_TIMEOUT', 0), \
                self.assertRaisesRegex(haproxy_instance.HaproxyError, 'cannot bind socket'):
            self.instance.apply()

    def test_members_of_before_do_not_count_as_done(self):
        self.rows.return_value = self.rows.return_value[:2]
        with mock.patch('labdriver.load_balancers.haproxy_instance.START_TIMEOUT', 0), \
                self.assertRaises(haproxy_instance.HaproxyError):
            self.instance.apply()

    def test_address(self):
        self.instance.connect({'id': 'p'}, '24', '10.0.0.1')
        self.assertEqual(len(self.ran('ip', '-n', 'lb-balancer', 'addr', 'replace',
                                      '10.0.0.10/24')), 1)
        self.assertEqual(len(self.ran('ip', '-n', 'lb-balancer', 'route', 'replace', 'default',
                                      'via', '10.0.0.1')), 1)

    def test_network_without_gateway(self):
        self.instance.connect({'id': 'p'}, '24', None)
        self.assertEqual(self.ran('ip', '-n', 'lb-balancer', 'route'), [])

    def test_remove_leaves_nothing(self):
        self.instance.apply()
        self.instance.remove()
        self.assertEqual(os.listdir(self.directory), [])
        self.network.unplug.assert_called_once_with('f7b9d0f2-port')
        self.network.remove_namespace.assert_called_once_with('lb-balancer')


class StatisticsTest(unittest.TestCase):
    def test_columns_have_names(self):
        rows = haproxy_instance.parse_statistics('# pxname,svname,status,\nweb,FRONTEND,OPEN,\n'
                                                 'pool,m1,UP,\n\n')
        self.assertEqual([(row['pxname'], row['svname'], row['status']) for row in rows],
                         [('web', 'FRONTEND', 'OPEN'), ('pool', 'm1', 'UP')])


class StatisticsSocketTest(CommandsTest):
    """haproxy's statistics, from a real socket."""

    def setUp(self):
        super().setUp()
        self.instance = haproxy_instance.HaproxyInstance(self.directory, objects.simple())
        os.makedirs(self.instance.directory)

    def serve(self, *parts):
        """Answer one connection with these parts."""
        listening = socket.socket(socket.AF_UNIX)
        self.addCleanup(listening.close)
        listening.bind(self.instance.socket)
        listening.listen(1)
        self.asked = []

        def answer():
            connection, _ = listening.accept()
            with connection:
                self.asked.append(connection.recv(100))
                for part in parts:
                    connection.sendall(part)
        thread = threading.Thread(target=answer)
        thread.start()
        self.addCleanup(thread.join)

    def test_are_asked_for_and_read_to_the_end(self):
        self.serve(b'# pxname,svname,sta', b'tus,\nlistener,FRONTEND,OPEN,\npool,m1,UP,\n',
                   b'pool,BACKEND,UP,\n\n')
        self.assertEqual(self.instance.known(), {'listener', 'm1'})
        self.assertEqual(self.asked, [b'show stat\n'])

    def test_are_unknown_while_nothing_listens(self):
        self.assertFalse(self.instance.is_listening())
        self.assertIsNone(self.instance.known())
        with socket.socket(socket.AF_UNIX) as left:
            left.bind(self.instance.socket)    # a socket that a killed haproxy left
        self.assertTrue(self.instance.is_listening())
        self.assertIsNone(self.instance.known())
