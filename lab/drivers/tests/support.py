"""What several tests need."""
import sys
import tempfile
import types
import unittest


class DirectoryTest(unittest.TestCase):
    """A test with a directory of its own."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = directory.name


# our modules that import OpenStack's: each test gets them anew, with its own stubs
SERVICES = ('labdriver.nova', 'labdriver.nova_operations', 'labdriver.nova_compute',
            'labdriver.octavia', 'labdriver.octavia_agent', 'labdriver.cinder',
            'labdriver.certificates')


def stub_modules(case, modules):
    """Let `import name` find these while a test runs: {dotted name: attributes}.

    Only for the packages that hosts without OpenStack do not have.
    """
    before = set(sys.modules)

    def restore():
        for name in set(sys.modules) - before:
            if name in SERVICES or name.split('.')[0] in tops:
                del sys.modules[name]

    tops = {name.split('.')[0] for name in modules}
    case.addCleanup(restore)
    for name in modules:
        words = name.split('.')
        for end in range(1, len(words) + 1):
            package = '.'.join(words[:end])
            sys.modules.setdefault(package, types.ModuleType(package))
            if end > 1:
                setattr(sys.modules['.'.join(words[:end - 1])], words[end - 1],
                        sys.modules[package])
    for name, attributes in modules.items():
        vars(sys.modules[name]).update(attributes)
