export interface VirtualIp {
  readonly address: string;
  /** Of this control plane among `addresses`. */
  readonly position: number;
  /** Of all control planes, in their order. */
  readonly addresses: readonly string[];
}

/** Replaced on the machine by the interface that has its address. */
export const interfacePlaceholder = "@INTERFACE@";

/** Any number would do: only the cluster's own control planes reach each other. */
const routerId = 51;

/**
 * keepalived.conf of a control plane. Unicast, since not every network passes multicast; without preemption, so that the
 * address moves only when it has to. It goes where an API server answers, and stays nowhere where none does.
 */
export function keepalivedConfig({ address, position, addresses }: VirtualIp): string {
  const own = addresses[position] ?? "";
  const peers = addresses.filter((_, index) => index !== position);
  return `global_defs {
  enable_script_security
  script_user root
}

vrrp_script api {
  script "/usr/bin/curl -fsk -o /dev/null --max-time 2 https://127.0.0.1:6443/readyz"
  interval 2
  timeout 3
  fall 2
  rise 1
}

vrrp_instance api {
  state BACKUP
  nopreempt
  interface ${interfacePlaceholder}
  virtual_router_id ${String(routerId)}
  priority ${String(100 - position)}
  advert_int 1
  unicast_src_ip ${own}
  unicast_peer {
${peers.map((peer) => `    ${peer}\n`).join("")}  }
  virtual_ipaddress {
    ${address}/32
  }
  track_script {
    api
  }
}
`;
}
