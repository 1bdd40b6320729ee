import { apiPort } from "../../base/ports.js";

/** Variables that virtual-ip.sh reads. */
export const virtualIpVariables = ["VIRTUAL_IP", "VIRTUAL_IP_CONFIG", "VIRTUAL_IP_READY"] as const;

/**
 * Variables of virtual-ip.sh for endpoints without a virtual IP. The script then disables
 * keepalived, which may run because the endpoint was a virtual IP before.
 */
export const disabledVirtualIpValues = {
  VIRTUAL_IP: "",
  VIRTUAL_IP_CONFIG: "",
  VIRTUAL_IP_READY: "",
} as const;

export interface KeepalivedSettings {
  readonly address: string;
  /** Position of this control plane in `addresses`. */
  readonly position: number;
  /** Addresses of all control planes, ordered by position. */
  readonly addresses: readonly string[];
}

/** Placeholder for the network interface with the machine's address. virtual-ip.sh replaces it. */
export const interfacePlaceholder = "@INTERFACE@";

/** Returns the URL at which an API server reports whether it is ready. */
export const getReadyzUrl = (host: string): string => `https://${host}:${String(apiPort)}/readyz`;

/**
 * VRRP router ID. All clusters can use the same ID, because the security group blocks messages of
 * other clusters.
 */
const routerId = 51;

/**
 * Returns the peers in keepalived.conf. The only control plane of a cluster gets the loopback
 * address as peer. Without a peer, keepalived would use multicast. keepalived would then release
 * the virtual IP for seconds when the first real peer is added. Adding a further peer does not
 * release the virtual IP.
 */
const peersOf = ({ addresses, position }: KeepalivedSettings): readonly string[] =>
  addresses.length === 1 ? ["127.0.0.1"] : addresses.filter((_, other) => other !== position);

/**
 * Returns keepalived.conf of a control plane. Only a control plane with a ready API server can have
 * the virtual IP. The settings have these reasons:
 *
 * - unicast: some networks do not pass multicast
 * - no preemption: each move of the virtual IP breaks connections
 * - three failed checks: during an etcd election, no API server is ready for a second or two
 */
export function renderKeepalivedConfig(of: KeepalivedSettings): string {
  const { address, position, addresses } = of;
  const peers = peersOf(of).map((peer) => `    ${peer}\n`);
  return `# Written by stackadm.
global_defs {
  enable_script_security
  script_user nobody
  vrrp_version 3
  vrrp_check_unicast_src
  # Repeats the announcement for hosts that missed the move of the address.
  vrrp_garp_master_refresh 60
}

vrrp_script api {
  script "/usr/bin/curl -fsk -o /dev/null --max-time 2 ${getReadyzUrl("127.0.0.1")}"
  interval 2
  timeout 3
  fall 3
  rise 1
  init_fail
}

vrrp_instance api {
  state BACKUP
  nopreempt
  interface ${interfacePlaceholder}
  virtual_router_id ${String(routerId)}
  priority ${String(200 - position)}
  advert_int 1
  unicast_src_ip ${addresses[position] ?? ""}
  unicast_peer {
${peers.join("")}  }
  virtual_ipaddress {
    ${address}/32 dev ${interfacePlaceholder}
  }
  track_script {
    api
  }
}
`;
}
