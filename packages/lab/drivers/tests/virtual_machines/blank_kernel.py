"""A kernel that does nothing, for tests."""


def blank_kernel(path):
    """Write a file that qemu accepts as a kernel: only the header of a kernel with boot protocol
    2.2."""
    header = bytearray(4096)
    header[0x1f1] = 1                           # number of setup sectors
    header[0x1fe:0x208] = b'\x55\xaa\xeb\x00HdrS\x02\x02'
    header[0x211] = 1                           # flag LOADED_HIGH
    with open(path, 'wb') as file:
        file.write(header)
