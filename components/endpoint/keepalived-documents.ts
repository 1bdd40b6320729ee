import { apiPort } from "../../base/ports.js";

/** Variables that scripts/virtual-ip.sh reads. */
export const virtualIpValues = ["VIRTUAL_IP", "VIRTUAL_IP_CONFIG", "VIRTUAL_IP_READY"] as const;

/**
 * Values for the other kinds of endpoint: keepalived is disabled, if an earlier kind enabled it.
 */
export const noVirtualIp = { VIRTUAL_IP: "", VIRTUAL_IP_CONFIG: "", VIRTUAL_IP_READY: "" } as const;

export interface VirtualIp {
  readonly address: string;
  /** Position of this control plane in `addresses`. */
  readonly position: number;
  /** Addresses of all control planes in order. */
  readonly addresses: readonly string[];
}

/** Placeholder that the machine replaces with the interface that has its address. */
export const interfacePlaceholder = "@INTERFACE@";

/** Returns the URL at which an API server reports that it is ready. */
export const readyAt = (host: string): string => `https://${host}:${String(apiPort)}/readyz`;

/** VRRP router ID of all clusters: the security group blocks messages of other clusters. */
const routerId = 51;

/**
 * Returns the peers in keepalived.conf. A single control plane has itself as peer: without a peer
 * keepalived would use multicast, and release the address for seconds when the first peer is added.
 * Adding a further peer has no such cost.
 */
const peersOf = ({ addresses, position }: VirtualIp): readonly string[] =>
  addresses.length === 1 ? ["127.0.0.1"] : addresses.filter((_, other) => other !== position);

/**
 * Returns keepalived.conf of a control plane. It uses unicast, since not every network passes
 * multicast, and no preemption, since every move breaks connections. The address is on a control
 * plane whose API server is ready, or on none. During an election in etcd no API server is ready
 * for a second or two, so only the third failed check counts.
 */
export function keepalivedConfig(of: VirtualIp): string {
  const { address, position, addresses } = of;
  const peers = peersOf(of).map((peer) => `    ${peer}\n`);
  return `# Written by stackadm.
global_defs {
  enable_script_security
  script_user nobody
  vrrp_version 3
  vrrp_check_unicast_src
  # For whoever did not hear that the address moved.
  vrrp_garp_master_refresh 60
}

vrrp_script api {
  script "/usr/bin/curl -fsk -o /dev/null --max-time 2 ${readyAt("127.0.0.1")}"
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
