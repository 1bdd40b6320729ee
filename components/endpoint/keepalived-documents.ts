import { apiPort } from "../../base/ports.js";

/** What scripts/virtual-ip.sh reads. */
export const virtualIpValues = ["VIRTUAL_IP", "VIRTUAL_IP_CONFIG", "VIRTUAL_IP_READY"] as const;

/** For every other kind of endpoint: no keepalived, and none that is left of an earlier kind. */
export const noVirtualIp = { VIRTUAL_IP: "", VIRTUAL_IP_CONFIG: "", VIRTUAL_IP_READY: "" } as const;

export interface VirtualIp {
  readonly address: string;
  /** Of this control plane among `addresses`. */
  readonly position: number;
  /** Of all control planes, in their order. */
  readonly addresses: readonly string[];
}

/** Replaced on the machine by the interface that has its address. */
export const interfacePlaceholder = "@INTERFACE@";

/** Where an API server says that it is ready. */
export const readyAt = (host: string): string => `https://${host}:${String(apiPort)}/readyz`;

/** One for all clusters: what another one says does not get through the security group. */
const routerId = 51;

/**
 * Who hears it. Alone, a control plane talks to itself: without a peer keepalived would speak multicast, and let go of the
 * address for seconds when the first peer comes; another peer costs nothing.
 */
const peersOf = ({ addresses, position }: VirtualIp): readonly string[] =>
  addresses.length === 1 ? ["127.0.0.1"] : addresses.filter((_, other) => other !== position);

/**
 * keepalived.conf of a control plane. Unicast, since not every network passes multicast; without preemption, since every
 * change of hands breaks connections. The address is where an API server is ready, and nowhere where none is. An election in
 * etcd makes no API server ready for a second or two: three questions bridge that.
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
