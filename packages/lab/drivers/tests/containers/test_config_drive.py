"""The config drive of a server."""
import os
import stat

from labdriver.containers import config_drive
from tests.support import DirectoryTest


def content(path):
    """Return the content of a file."""
    with open(path, 'rb') as file:
        return file.read()


class ConfigDriveTest(DirectoryTest):
    FILES = (('openstack/latest/meta_data.json', b'{"uuid": "1"}'),
             ('openstack/latest/user_data', '#!/bin/sh\n'))

    def setUp(self):
        super().setUp()
        self.drive = os.path.join(self.directory, 'config-drive')

    def test_has_text_and_bytes(self):
        config_drive.write(self.drive, self.FILES)
        for name, data in self.FILES:
            data = data if isinstance(data, bytes) else data.encode()
            self.assertEqual(content(os.path.join(self.drive, name)), data)

    def test_is_readable_by_root_only(self):
        config_drive.write(self.drive, self.FILES)
        self.assertEqual(stat.S_IMODE(os.stat(self.drive).st_mode), 0o700)
        for directory, _, names in os.walk(self.drive):
            for name in names:
                mode = os.stat(os.path.join(directory, name)).st_mode
                self.assertEqual(stat.S_IMODE(mode), 0o400)

    def test_writing_again_leaves_nothing_of_before(self):
        config_drive.write(self.drive, [('old', 'x')])
        config_drive.write(self.drive, self.FILES)
        self.assertEqual(os.listdir(self.drive), ['openstack'])
        self.assertEqual(os.listdir(self.directory), ['config-drive'])

    def test_nothing_is_written_outside(self):
        for name in ('../escaped', '/etc/escaped', 'a/../../../escaped'):
            with self.assertRaises(ValueError):
                config_drive.write(self.drive, [(name, 'x')])
        self.assertFalse(os.path.exists(self.drive))
