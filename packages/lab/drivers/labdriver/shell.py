"""Commands of the host."""
import subprocess

ANY_STATUS = range(256)


class CommandError(Exception):
    """A command exited with an unexpected status. str() contains its error output."""

    def __init__(self, command, status, output):
        super().__init__('%s: status %s: %s' % (' '.join(command), status, output.strip()))
        self.status = status
        self.output = output.strip()


def run(*command, ok=(0,)):
    """Run a command and return its standard output. Raise CommandError on a status not in ok."""
    words = [str(word) for word in command]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          errors='replace', check=False)
    if done.returncode not in ok:
        raise CommandError(words, done.returncode, done.stderr or done.stdout)
    return done.stdout


def succeeds(*command):
    """Return whether a command exits with status 0."""
    try:
        run(*command)
    except CommandError:
        return False
    return True
