"""Commands of the host."""
import unittest

from labdriver import shell


class ShellTest(unittest.TestCase):
    def test_output(self):
        self.assertEqual(shell.run('echo', 1, 'two'), '1 two\n')

    def test_unexpected_status_has_the_error_output(self):
        with self.assertRaisesRegex(shell.CommandError, 'status 3: reason') as caught:
            shell.run('sh', '-c', 'echo reason >&2; exit 3')
        self.assertEqual(caught.exception.status, 3)

    def test_expected_status(self):
        self.assertEqual(shell.run('sh', '-c', 'echo x; exit 3', ok=(0, 3)), 'x\n')

    def test_arguments_are_not_shell(self):
        self.assertEqual(shell.run('echo', '$(id); `id`'), '$(id); `id`\n')

    def test_succeeds(self):
        self.assertTrue(shell.succeeds('true'))
        self.assertFalse(shell.succeeds('false'))
