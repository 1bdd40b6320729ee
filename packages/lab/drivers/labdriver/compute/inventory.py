"""Resources of the host. Each compute service reports an equal share of this one host."""

GIB = 1 << 30


def parse_memory_mb(meminfo):
    """Return (total, available) MiB, from the text of /proc/meminfo."""
    sizes = {line.split(':')[0]: line.split()[1] for line in meminfo.splitlines() if ':' in line}
    return int(sizes['MemTotal']) // 1024, int(sizes['MemAvailable']) // 1024


def compute_host_share(cpus, meminfo, disk, hosts):
    """Return an equal share of the host for one of `hosts` services.

    disk: an os.statvfs result. Returns {vcpus, memory_mb, memory_mb_used, local_gb,
    local_gb_used}.
    """
    total, available = parse_memory_mb(meminfo)
    disk_total = disk.f_blocks * disk.f_frsize // GIB
    disk_free = disk.f_bavail * disk.f_frsize // GIB
    return {
        'vcpus': max(1, cpus // hosts),
        'memory_mb': total // hosts,
        'memory_mb_used': (total - available) // hosts,
        'local_gb': max(1, disk_total // hosts),
        'local_gb_used': (disk_total - disk_free) // hosts,
    }


def get_placement_inventory(total, ratio):
    """Return the Placement inventory of one resource class.

    max_unit includes overcommitment, because a flavor can be larger than a small host's share.
    """
    return {'total': total, 'reserved': 0, 'min_unit': 1, 'max_unit': max(1, int(total * ratio)),
            'step_size': 1, 'allocation_ratio': ratio}
