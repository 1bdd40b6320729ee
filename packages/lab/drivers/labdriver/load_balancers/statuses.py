"""Octavia statuses of a load balancer and its parts (pure functions).

Reports have the format of DriverLibrary.update_loadbalancer_status: {kind: [{id, ..._status}]}.
"""
LOAD_BALANCERS = 'loadbalancers'
# first words of a haproxy status (`show stat`), and Octavia's operating status for them
OPERATING = (('UP', 'ONLINE'), ('no check', 'NO_MONITOR'), ('MAINT', 'OFFLINE'),
             ('DRAIN', 'DRAINING'), ('NOLB', 'DRAINING'), ('DOWN', 'ERROR'))


def is_pending(thing):
    """Return whether an object has a PENDING_... status."""
    return thing.provisioning_status.startswith('PENDING')


def is_pending_delete(thing):
    """Return whether an object has the status PENDING_DELETE."""
    return thing.provisioning_status == 'PENDING_DELETE'


def list_parts(balancer):
    """Yield (kind, object, whether to delete the object) for all parts of a load balancer.

    Children come before their parents. If a parent is deleted, its children are deleted too.
    """
    whole = is_pending_delete(balancer)
    for pool in balancer.pools:
        gone = whole or is_pending_delete(pool)
        for member in pool.members:
            yield 'members', member, gone or is_pending_delete(member)
        monitor = pool.health_monitor
        if monitor:
            yield 'healthmonitors', monitor, gone or is_pending_delete(monitor)
        yield 'pools', pool, gone
    for listener in balancer.listeners:
        yield 'listeners', listener, whole or is_pending_delete(listener)
    yield LOAD_BALANCERS, balancer, whole


def get_success_report(balancer):
    """Return the report after all changes of a load balancer were applied."""
    report = {}
    for kind, thing, gone in list_parts(balancer):
        if gone:
            entry = {'id': thing.id, 'provisioning_status': 'DELETED'}
            if kind == LOAD_BALANCERS:
                entry['operating_status'] = 'OFFLINE'
        elif is_pending(thing):
            entry = {'id': thing.id, 'provisioning_status': 'ACTIVE'}
            operating = get_initial_operating_status(kind, thing)
            if operating:
                entry['operating_status'] = operating
        else:
            continue
        report.setdefault(kind, []).append(entry)
    return report


def get_initial_operating_status(kind, thing):
    """Return the operating status of a changed object. None means: do not change the status.

    haproxy may not have checked the health of members yet.
    """
    if not thing.enabled:
        return 'OFFLINE'
    if kind != 'members':
        return 'ONLINE'
    monitor = thing.pool.health_monitor
    monitored = monitor and monitor.enabled and not is_pending_delete(monitor)
    return None if monitored else 'NO_MONITOR'


def get_failure_report(balancer):
    """Return the report after the changes of a load balancer could not be applied."""
    report = {}
    for kind, thing, _ in list_parts(balancer):
        if is_pending(thing) or kind == LOAD_BALANCERS:
            report.setdefault(kind, []).append({
                'id': thing.id, 'provisioning_status': 'ERROR', 'operating_status': 'ERROR'})
    return report


def get_operating_status(word, weight=None):
    """Return Octavia's operating status of a member.

    word: the member's status in haproxy. weight: the member's weight in haproxy, as a string.
    """
    if word.startswith('UP') and weight == '0':
        return 'DRAINING'
    return next((status for begin, status in OPERATING if word.startswith(begin)), 'ERROR')


def get_observed_report(balancer, rows):
    """Return the report with the statuses in haproxy's statistics that differ from the database."""
    words = {row['svname']: get_operating_status(row['status'], row['weight']) for row in rows}
    report, worst = {}, 'ONLINE'

    def note(kind, thing, status):
        if thing.operating_status != status:
            report.setdefault(kind, []).append({'id': thing.id, 'operating_status': status})

    for pool in balancer.pools:
        seen = [(member, words[member.id]) for member in pool.members if member.id in words]
        for member, status in seen:
            note('members', member, status)
        status = (get_pool_operating_status([status for _, status in seen]) if pool.enabled
                  else 'OFFLINE')
        note('pools', pool, status)
        worst = 'DEGRADED' if status in ('ERROR', 'DEGRADED') else worst
    note(LOAD_BALANCERS, balancer, worst if balancer.enabled else 'OFFLINE')
    return report


def get_pool_operating_status(members):
    """Return the operating status of a pool, from the statuses of its members."""
    bad = members.count('ERROR')
    if not bad:
        return 'ONLINE'
    return 'ERROR' if bad == len(members) else 'DEGRADED'


def get_listener_statistics(rows):
    """Return the listeners' statistics for DriverLibrary.update_listener_statistics."""
    fields = {'active_connections': 'scur', 'bytes_in': 'bin', 'bytes_out': 'bout',
              'request_errors': 'ereq', 'total_connections': 'stot'}
    return [dict({name: int(row[column] or 0) for name, column in fields.items()},
                 id=row['pxname']) for row in rows if row['svname'] == 'FRONTEND']
