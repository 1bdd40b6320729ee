"""Helpers of several tests."""
import sys
import tempfile
import types
import unittest


class DirectoryTest(unittest.TestCase):
    """A test with its own directory."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = directory.name


# modules of the lab that import OpenStack; each test imports these modules again with its stubs
SERVICES = ('labdriver.block_storage.cinder', 'labdriver.compute.nova',
            'labdriver.compute.nova_compute', 'labdriver.compute.nova_operations',
            'labdriver.load_balancers.certificates', 'labdriver.load_balancers.octavia',
            'labdriver.load_balancers.octavia_agent')


def stub_modules(case, modules):
    """Make `import name` find stubs while a test runs. modules: {dotted name: attributes}.

    Use this function only for packages that hosts without OpenStack do not have.
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
