#!/usr/bin/env bash
# Sets up a new golden cloud: message bus, databases, identities, services, offering.
# Runs once, inside the cloud. Reads /etc/lab/cloud.env (passwords, names).
# Prints one line per step.
set -Eeuo pipefail
# shellcheck source=/dev/null
. /etc/lab/cloud.env
: "${DATABASE_PASSWORD:?}" "${BUS_PASSWORD:?}" "${ADMIN_PASSWORD:?}" "${REGION:?}" "${AUTH_URL:?}"
LOG=/var/log/lab-first-boot.log

step() { echo "$*"; }
quiet() { "$@" >>"$LOG" 2>&1; }

# wait_for SECONDS COMMAND...: runs the command every half second until it succeeds.
wait_for() {
  local until=$((SECONDS + $1))
  shift
  until "$@" >/dev/null 2>&1; do
    if ((SECONDS > until)); then
      echo "never came true: $*" >&2
      return 1
    fi
    sleep 0.5
  done
}

message_bus() {
  wait_for 90 rabbitmqctl -q await_startup
  quiet rabbitmqctl -q add_user lab "$BUS_PASSWORD"
  quiet rabbitmqctl -q set_permissions lab '.*' '.*' '.*'
  quiet rabbitmqctl -q delete_user guest
}

databases() {
  wait_for 90 mysqladmin -s ping
  local name
  {
    for name in keystone glance placement nova_api nova nova_cell0 neutron cinder octavia barbican; do
      echo "create database $name;"
    done
    for name in localhost 127.0.0.1; do
      echo "create user lab@'$name' identified by '$DATABASE_PASSWORD';"
      echo "grant all on *.* to lab@'$name';"
    done
  } | mysql
}

identity() {
  mkdir -p /etc/keystone/fernet-keys /etc/keystone/credential-keys
  quiet keystone-manage db_sync
  quiet keystone-manage fernet_setup --keystone-user root --keystone-group root
  quiet keystone-manage credential_setup --keystone-user root --keystone-group root
  OS_BOOTSTRAP_PASSWORD=$ADMIN_PASSWORD quiet keystone-manage bootstrap \
    --bootstrap-region-id "$REGION" --bootstrap-public-url "$AUTH_URL" \
    --bootstrap-internal-url "$AUTH_URL" --bootstrap-admin-url "$AUTH_URL"
  systemctl start os-keystone
}

# Registers the lab's driver under the name amphora, the provider that clients use by default.
# Octavia's own amphora driver needs images of amphorae, which the lab does not have.
load_balancer_driver() {
  local registered=(/usr/lib/python3/dist-packages/octavia-*.egg-info/entry_points.txt)
  sed -i '/^\[octavia\.api\.drivers\]$/,/^$/s/^amphora = .*/amphora = labdriver.load_balancers.octavia:LabProviderDriver/' "${registered[@]}"
  grep -qx 'amphora = labdriver.load_balancers.octavia:LabProviderDriver' "${registered[@]}"
}

small_databases() {
  quiet glance-manage db_sync
  quiet placement-manage db sync
  quiet octavia-db-manage upgrade head
  quiet cinder-manage db sync
  quiet barbican-db-manage upgrade
  step "databases of Glance, Placement, Octavia, Cinder and Barbican are made"
}

neutron_database() {
  quiet neutron-db-manage --config-file /etc/neutron/neutron.conf \
    --config-file /etc/neutron/plugins/ml2/ml2_conf.ini upgrade head
  step "database of Neutron is made"
}

nova_databases() {
  quiet nova-manage api_db sync
  quiet nova-manage cell_v2 map_cell0 \
    --database_connection "mysql+pymysql://lab:$DATABASE_PASSWORD@127.0.0.1/nova_cell0"
  quiet nova-manage cell_v2 create_cell --name cell1
  quiet nova-manage db sync
  step "databases of Nova are made"
}

# Runs functions in parallel. Fails if one of the functions fails.
together() {
  local jobs=() name
  for name in "$@"; do
    "$name" &
    jobs+=("$!")
  done
  for name in "${jobs[@]}"; do
    wait "$name"
  done
}

# Runs without `quiet`, because bootstrap.py prints its own progress lines.
identities() { python3 /usr/local/lib/lab/bootstrap.py identities; }

failed() {
  echo "first boot failed in line $1; the end of $LOG:" >&2
  tail -n 20 "$LOG" >&2
}
trap 'failed $LINENO' ERR

mkdir -p /srv/lab/images /srv/lab/nova/instances /srv/lab/cinder /srv/lab/volumes /srv/lab/octavia /srv/lab/faults/front
load_balancer_driver
step "waiting for the message bus and the database server"
together message_bus databases
step "making the identity service"
identity
together small_databases neutron_database nova_databases identities
step "starting the services"
units=(/etc/systemd/system/os-*.service)
quiet systemctl enable "${units[@]}"
systemctl start --no-block "${units[@]##*/}"
python3 /usr/local/lib/lab/bootstrap.py offering
step "done"
