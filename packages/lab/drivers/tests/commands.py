"""Stubs for commands of the host, which record their calls and keep the state that a test needs."""
import os
from unittest import mock

from tests.support import DirectoryTest

PORT = {'id': '0123456789abcdef', 'mac': 'fa:16:3e:00:00:01', 'mtu': 1350}
# stub of `ip`, whose devices and namespaces are files below $ROOT
IP = r'''
inside=
if [ "$1" = -n ]; then inside="$ROOT/netns-$2"; shift 2; fi
case "$1 $2" in
  "netns add") touch "$ROOT/netns/$3"; mkdir -p "$ROOT/netns-$3" ;;
  "netns del") rm -rf "$ROOT/netns/$3" "$ROOT/netns-$3" ;;
  "link add")
    if [ -e "$ROOT/net/$3" ]; then echo "File exists" >&2; exit 2; fi
    touch "$ROOT/net/$3"
    while [ $# -gt 0 ]; do
      case "$1" in name) peer=$2 ;; netns) touch "$ROOT/netns-$2/$peer" ;; esac
      shift
    done ;;
  "link del") rm "$ROOT/net/$3" ;;
  "link show") [ -e "$inside/$4" ] ;;
  "-o link") for f in "$inside"/*; do echo "2: ${f##*/}@if7: <UP> mtu 1350"; done ;;
esac
'''


class CommandsTest(DirectoryTest):
    """A test with stub commands, which come before the host's commands on the PATH."""

    def setUp(self):
        super().setUp()
        self.bin = self.directory + '/bin'
        os.makedirs(self.bin)
        patch = mock.patch.dict(os.environ, ROOT=self.directory,
                                PATH=self.bin + ':' + os.environ['PATH'])
        patch.start()
        self.addCleanup(patch.stop)

    def stub(self, name, body=''):
        """Create a command that records its calls and then runs body, a shell script."""
        path = os.path.join(self.bin, name)
        with open(path, 'w', encoding='utf-8') as file:
            file.write('#!/bin/sh\necho "%s $*" >>"$ROOT/calls"\n%s\n' % (name, body))
        os.chmod(path, 0o755)

    def calls(self, *words):
        """Return the calls that begin with these words, in order."""
        try:
            with open(self.directory + '/calls', encoding='utf-8') as file:
                lines = file.read().splitlines()
        except FileNotFoundError:
            return []
        return [line.rstrip() for line in lines if line.startswith(' '.join(words))]

    def forget(self):
        """Delete the recorded calls."""
        if os.path.exists(self.directory + '/calls'):
            os.unlink(self.directory + '/calls')


class LinksTest(CommandsTest):
    """A test in which devices and namespaces of the host are files."""

    def setUp(self):
        super().setUp()
        for name in ('net', 'netns'):
            os.makedirs(os.path.join(self.directory, name))
        for name, path in (('LINKS', '/net/'), ('NAMESPACES', '/netns/'),
                           ('SETTINGS', '/conf/')):
            patch = mock.patch('labdriver.network.' + name, self.directory + path)
            patch.start()
            self.addCleanup(patch.stop)
        self.stub('ip', IP)

    def links(self):
        return sorted(os.listdir(self.directory + '/net'))
