"""Faults that tests inject into the creation of servers."""
import os

from labdriver.compute import faults
from tests.support import DirectoryTest


class FaultsTest(DirectoryTest):
    def ask(self, name, text):
        with open(os.path.join(self.directory, name), 'w', encoding='utf-8') as file:
            file.write(text)

    def test_nothing_asked(self):
        self.assertIsNone(faults.find_fault(self.directory, 'web'))
        self.assertIsNone(faults.find_fault(self.directory + '/missing', 'web'))

    def test_stays_until_its_file_is_gone(self):
        for fault in (faults.ERROR, faults.NO_BOOT):
            self.ask('web', fault + '\n')
            self.assertEqual(faults.find_fault(self.directory, 'web'), fault)
            self.assertEqual(faults.find_fault(self.directory, 'web'), fault)
        os.unlink(os.path.join(self.directory, 'web'))
        self.assertIsNone(faults.find_fault(self.directory, 'web'))

    def test_is_for_one_server(self):
        self.ask('web', 'error')
        self.assertIsNone(faults.find_fault(self.directory, 'other'))
        self.assertEqual(os.listdir(self.directory), ['web'])

    def test_unknown_fault_is_an_error(self):
        self.ask('web', 'explode')
        with self.assertRaisesRegex(ValueError, 'explode'):
            faults.find_fault(self.directory, 'web')

    def test_server_name_is_not_a_path(self):
        self.assertIsNone(faults.find_fault(self.directory, '../../etc/passwd'))
