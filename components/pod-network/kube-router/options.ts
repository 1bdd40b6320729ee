import { z } from "zod";
import {
  address4,
  doc,
  list,
  oneOf,
  range4,
  record,
  secret,
  shown,
  truth,
  whole,
} from "../../arguments/values.js";

const within = (value: number, ranges: readonly (readonly [number, number])[]): boolean =>
  ranges.some(([least, most]) => least <= value && value <= most);

const bounded = (
  number: z.ZodType<number, number>,
  ranges: readonly (readonly [number, number])[],
  instead: string,
) =>
  number.refine((value) => within(value, ranges), {
    error: ({ input }) => `${shown(input)} ${instead}`,
  });

/** Numbers that the cluster's own autonomous system may have: private ones. */
const own = [
  [64512, 65535],
  [4200000000, 4294967294],
] as const;
/** Numbers that peers may have: all but reserved ones. */
const others = [
  [1, 23455],
  [23457, 63999],
  [64512, 65534],
  [131072, 4294967294],
] as const;

const asn = (ranges: readonly (readonly [number, number])[], instead: string) =>
  bounded(whole(1, "the number of an autonomous system"), ranges, instead);

const password = secret("is not a password; write it, encrypted");

const peer = record({
  address: address4.meta(
    doc("in place", "Address of a router outside of the cluster.", "**required** with a peer"),
  ),
  asn: asn(others, "is reserved; write the number that the router has").meta(
    doc("in place", "Number of its autonomous system.", "**required** with a peer"),
  ),
  port: bounded(whole(1, "a port"), [[1, 65535]], "is no port; write one up to 65535")
    .default(179)
    .meta(doc("in place", "Port at which it takes BGP.")),
  password: password
    .optional()
    .meta(
      doc(
        "in place",
        "Password of the sessions with it (TCP MD5), encrypted: `pulumi config set --path 'stackadm:cluster.podNetwork.peers[0].password' --secret`. In clear it is refused.",
      ),
    ),
});

/** Options of kube-router: overlay, peers, and what is advertised to them. */
export const kubeRouterOptions = record({
  kind: z.literal("kube-router"),
  asn: asn(own, "is not a private number; write one of 64512 to 65535 or 4200000000 to 4294967294")
    .default(64512)
    .meta(
      doc(
        "refused",
        "With `kube-router`: number of the autonomous system that the machines are. With another one for some of them they would stop telling each other their routes.",
      ),
    ),
  overlay: oneOf(["off", "subnet", "full"])
    .default("off")
    .meta(
      doc(
        "refused",
        "With `kube-router`: `off` routes packets of pods as they are, which the machines' ports then allow; `subnet` wraps those between subnets, for machines that you add in others; `full` wraps all.",
      ),
    ),
  tunnel: oneOf(["ipip", "fou"])
    .default("ipip")
    .meta(
      doc(
        "refused",
        "With `kube-router` and an overlay: `ipip`, 20 bytes more a packet, or `fou`, the same within UDP at port 5555, 32 bytes more, for networks that drop what they do not know. The machines' kernel has to have the modules.",
      ),
    ),
  peers: list(peer, 0, "a list of routers").default([]),
  multihop: bounded(whole(2, "a number of hops"), [[2, 255]], "is too far; write 255 at most")
    .optional()
    .meta(
      doc(
        "in place",
        "With `kube-router`: how many hops away peers of another autonomous system may be.",
        "they are in the machines' subnet",
      ),
    ),
  advertiseServices: list(
    oneOf(["cluster-ip", "external-ip", "load-balancer-ip"]),
    0,
    "a list of cluster-ip, external-ip and load-balancer-ip",
  )
    .default([])
    .meta(
      doc(
        "in place",
        "With `kube-router`: which addresses of Services the peers are told, as reached through every machine. Pods' ranges they are told anyway.",
      ),
    ),
  serviceRanges: list(range4("203.0.113.0/24"), 0, "a list of ranges")
    .default([])
    .meta(
      doc(
        "in place",
        "With `kube-router`: ranges of Services' external IPs and of load balancers' addresses that the machines themselves answer for. Their ports allow them, and kube-router takes no others.",
      ),
    ),
  serviceProxy: truth()
    .default(false)
    .meta(
      doc(
        "refused",
        "With `kube-router`: whether it is the Services' proxy, by IPVS, instead of kube-proxy, which is then left out. The machines' kernel has to have IPVS; that is looked at while they are prepared.",
      ),
    ),
  hairpin: truth()
    .default(false)
    .meta(
      doc(
        "in place",
        "With `kube-router` as service proxy: whether pods reach themselves through their own Service. kube-proxy lets them anyway.",
      ),
    ),
}).check(({ value, issues }) => {
  issues.push(...wrongRouter(value).map((one) => ({ ...one, code: "custom" as const })));
});

export type KubeRouterOptions = z.output<typeof kubeRouterOptions>;

interface Problem {
  readonly path: (string | number)[];
  readonly input: unknown;
  readonly message: string;
}

interface Written {
  readonly peers: readonly { readonly address: string }[];
  readonly multihop?: number | undefined;
  readonly advertiseServices: readonly string[];
  readonly serviceRanges: readonly string[];
  readonly serviceProxy: boolean;
  readonly hairpin: boolean;
}

/** Returns the problems: options without an effect, or with one that no peer sees. */
function wrongRouter(of: Written): Problem[] {
  const { peers, multihop, advertiseServices, serviceRanges } = of;
  const alone = "is for peers, and there are none; name one in podNetwork.peers, or leave it out";
  const outside = advertiseServices.filter((one) => one !== "cluster-ip");
  const addresses = peers.map(({ address }) => address);
  const problems: (Problem | false)[] = [
    peers.length === 0 &&
      advertiseServices.length > 0 && {
        ...{ path: ["advertiseServices"], input: advertiseServices, message: alone },
      },
    peers.length === 0 &&
      multihop !== undefined && { path: ["multihop"], input: multihop, message: alone },
    outside.length > 0 &&
      serviceRanges.length === 0 && {
        path: ["advertiseServices"],
        input: advertiseServices,
        message: `${outside.join(" and ")} are addresses that the machines' ports do not allow; write their ranges in podNetwork.serviceRanges`,
      },
    of.hairpin &&
      !of.serviceProxy && {
        path: ["hairpin"],
        input: true,
        message: "is kube-router's as service proxy; kube-proxy does it anyway: leave it out",
      },
    ...addresses.map(
      (address, index) =>
        addresses.indexOf(address) < index && {
          path: ["peers", index, "address"],
          input: address,
          message: `${address} is there twice; leave one out`,
        },
    ),
  ];
  return problems.flatMap((one) => (one === false ? [] : [one]));
}
