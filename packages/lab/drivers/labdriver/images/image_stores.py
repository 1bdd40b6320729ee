"""Images of servers: files, and tar archives that are unpacked once into a btrfs subvolume."""
import os

from labdriver.file_lock import hold_lock
from labdriver.images import root_subvolumes
from labdriver.shell import CommandError, run


class ImageError(Exception):
    """The image cannot be used. str() gives the reason in one sentence."""


class ImageFileStore:
    """Images as files below one directory, shared by all compute services of the host."""

    def __init__(self, directory):
        self.directory = directory
        os.makedirs(directory, exist_ok=True)

    def ensure(self, image_id, fetch):
        """Return the path of the image's file. The first caller downloads it with fetch(path).

        Other callers wait. The next call repeats an interrupted download.
        """
        path = os.path.join(self.directory, image_id)
        with hold_lock(path + '.lock'):
            if not os.path.exists(path):
                fetch(path + '.part')
                os.rename(path + '.part', path)
        return path


class UnpackedImageStore:
    """Unpacked images below one directory, shared by all compute services of the host."""

    def __init__(self, directory):
        self.directory = directory
        os.makedirs(directory, exist_ok=True)

    def ensure(self, image_id, fetch):
        """Return the subvolume of the image. The first caller downloads the image with fetch(path).

        Other callers wait. The next call repeats an interrupted download.
        """
        path = os.path.join(self.directory, image_id)
        if os.path.isdir(path):
            return path
        with hold_lock(path + '.lock'):
            if not os.path.isdir(path):
                self._unpack(path, fetch)
        return path

    def _unpack(self, path, fetch):
        archive, part = path + '.tar', path + '.part'
        root_subvolumes.delete(part)
        try:
            fetch(archive)
            root_subvolumes.create(part)
            run('tar', '-xf', archive, '-C', part, '--numeric-owner', '--xattrs',
                '--xattrs-include=*')
            if not os.path.lexists(part + '/sbin/init'):
                raise ImageError('image %s has no /sbin/init' % os.path.basename(path))
            os.rename(part, path)
        except CommandError as error:
            raise ImageError('image %s is not a tar archive: %s'
                             % (os.path.basename(path), error.output[:100])) from error
        finally:
            root_subvolumes.delete(part)
            if os.path.exists(archive):
                os.unlink(archive)
