"""The program nova-compute, with Nova replaced by stubs."""
import importlib
import sys
from types import SimpleNamespace
from unittest import mock

from tests.compute.nova_stubs import nova_stubs
from tests.support import DirectoryTest, stub_modules


class LauncherTest(DirectoryTest):
    def setUp(self):
        super().setUp()
        self.compute = mock.Mock(main=mock.Mock(return_value=0))
        self.update = mock.Mock()
        api = type('API', (), {'_update_port_binding_for_instance':
                               lambda *args, **kwargs: self.update(*args, **kwargs)})
        stub_modules(self, dict(nova_stubs(self.directory), **{
            'nova.cmd': {'compute': self.compute},
            'nova.network': {'neutron': SimpleNamespace(API=api)}}))
        sys.modules['nova.cmd.compute'] = self.compute
        self.api = api()
        self.launcher = importlib.import_module('labdriver.compute.nova_compute')

    def test_nova_finds_the_driver_under_the_name_it_is_configured_with(self):
        with self.assertRaises(SystemExit):
            self.launcher.main()
        self.assertIs(importlib.import_module('nova.virt.lab'), self.launcher.lab)
        self.compute.main.assert_called_once_with()

    def test_ports_are_bound_to_the_host_of_the_agent_also_by_a_resize(self):
        with self.assertRaises(SystemExit):
            self.launcher.main()
        self.api._update_port_binding_for_instance('context', 'instance', 'labcloud-a',
                                                   migration='resize')
        self.update.assert_called_once_with(self.api, 'context', 'instance', 'labcloud',
                                            migration='resize')
