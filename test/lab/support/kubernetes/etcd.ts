import { inServer } from "../machines/machines.js";

export interface EtcdMember {
  readonly id: string;
  readonly started: boolean;
  readonly name: string;
  readonly address: string;
  readonly learner: boolean;
}

const pki = "/etc/kubernetes/pki/etcd";
const flags = `--cacert ${pki}/ca.crt --cert ${pki}/server.crt --key ${pki}/server.key`;

/** Runs etcdctl in the etcd container of a control plane. `serverId` is the ID of its server. */
export const etcdctl = (serverId: string, line: string): Promise<string> =>
  inServer(
    serverId,
    `crictl exec $(crictl ps -q --name '^etcd$') etcdctl --endpoints https://127.0.0.1:2379 ${flags} ${line}`,
  );

/** Returns the members of etcd as the member on this server knows them. */
export async function etcdMembers(serverId: string): Promise<EtcdMember[]> {
  const lines = (await etcdctl(serverId, "member list")).trim().split("\n");
  return lines.map((line) => {
    const [id = "", state = "", name = "", peer = "", , learner = ""] = line.split(", ");
    const address = /^https:\/\/(.*):2380$/.exec(peer)?.[1] ?? peer;
    return { id, started: state === "started", name, address, learner: learner === "true" };
  });
}
