import { z } from "zod";
import {
  ipv4AddressField,
  doc,
  list,
  oneOf,
  ipv4RangeField,
  strictObject,
  secretField,
  shortValue,
  booleanField,
  integerField,
} from "../../schema/fields.js";

const within = (value: number, ranges: readonly (readonly [number, number])[]): boolean =>
  ranges.some(([least, most]) => least <= value && value <= most);

const bounded = (
  number: z.ZodType<number, number>,
  ranges: readonly (readonly [number, number])[],
  instead: string,
) =>
  number.refine((value) => within(value, ranges), {
    error: ({ input }) => `${shortValue(input)} ${instead}`,
  });

/** Allowed AS numbers of the cluster: private numbers. */
const own = [
  [64512, 65535],
  [4200000000, 4294967294],
] as const;
/** Allowed AS numbers of peers: all numbers that are not reserved. */
const others = [
  [1, 23455],
  [23457, 63999],
  [64512, 65534],
  [131072, 4294967294],
] as const;

const asn = (ranges: readonly (readonly [number, number])[], instead: string) =>
  bounded(integerField(1, "the number of an autonomous system"), ranges, instead);

const password = secretField("is not a password; write it, encrypted");

const peer = strictObject({
  address: ipv4AddressField.meta(
    doc("in place", "Address of a router outside the cluster.", "**required** with a peer"),
  ),
  asn: asn(others, "is reserved; write the number that the router has").meta(
    doc("in place", "Number of its autonomous system.", "**required** with a peer"),
  ),
  port: bounded(integerField(1, "a port"), [[1, 65535]], "is no port; write one up to 65535")
    .default(179)
    .meta(doc("in place", "Port on which it accepts BGP.")),
  password: password
    .optional()
    .meta(
      doc(
        "in place",
        "Password of the BGP sessions with it (TCP MD5), encrypted: `pulumi config set --path 'stackadm:cluster.podNetwork.peers[0].password' --secret`. A password in clear text is refused.",
      ),
    ),
});

/**
 * Options of kube-router: overlay, BGP peers, and Service addresses that are advertised to the
 * peers.
 */
export const kubeRouterOptionsSchema = strictObject({
  kind: z.literal("kube-router"),
  asn: asn(own, "is not a private number; write one of 64512 to 65535 or 4200000000 to 4294967294")
    .default(64512)
    .meta(
      doc(
        "refused",
        "With `kube-router`: number of the machines' autonomous system. While only some machines had a new number, they would not exchange routes with the others.",
      ),
    ),
  overlay: oneOf(["off", "subnet", "full"])
    .default("off")
    .meta(
      doc(
        "refused",
        "With `kube-router`: `off` routes packets of pods unchanged, and the machines' ports allow them; `subnet` encapsulates packets between subnets, for machines that you add in other subnets; `full` encapsulates all.",
      ),
    ),
  tunnel: oneOf(["ipip", "fou"])
    .default("ipip")
    .meta(
      doc(
        "refused",
        "With `kube-router` and an overlay: `ipip` adds 20 bytes to a packet; `fou` does the same within UDP at port 5555 and adds 32 bytes, for networks that drop unknown protocols. The machines' kernel must have the modules.",
      ),
    ),
  peers: list(peer, 0, "a list of routers").default([]),
  multihop: bounded(
    integerField(2, "a number of hops"),
    [[2, 255]],
    "is too far; write 255 at most",
  )
    .optional()
    .meta(
      doc(
        "in place",
        "With `kube-router`: greatest number of hops to peers of another autonomous system.",
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
        "With `kube-router`: addresses of Services that are advertised to the peers, with every machine as next hop. Pod ranges are always advertised.",
      ),
    ),
  serviceRanges: list(ipv4RangeField("203.0.113.0/24"), 0, "a list of ranges")
    .default([])
    .meta(
      doc(
        "in place",
        "With `kube-router`: ranges of Services' external IPs and of load balancers' addresses that the machines themselves answer for. The machines' ports allow them, and kube-router accepts no others.",
      ),
    ),
  serviceProxy: booleanField()
    .default(false)
    .meta(
      doc(
        "refused",
        "With `kube-router`: whether it proxies Services, with IPVS, instead of kube-proxy, which is then omitted. The machines' kernel must have IPVS, which is checked while they are prepared.",
      ),
    ),
  hairpin: booleanField()
    .default(false)
    .meta(
      doc(
        "in place",
        "With `kube-router` as service proxy: whether pods can reach themselves through their own Service. With kube-proxy they always can.",
      ),
    ),
}).check(({ value, issues }) => {
  issues.push(...wrongRouter(value).map((one) => ({ ...one, code: "custom" as const })));
});

export type KubeRouterOptions = z.output<typeof kubeRouterOptionsSchema>;

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

/**
 * Returns the problems with the options: an option has no effect, a peer is listed twice, or the
 * machines' ports do not allow an advertised address.
 */
function wrongRouter(of: Written): Problem[] {
  const { peers, multihop, advertiseServices, serviceRanges } = of;
  const alone = "is for peers, and there are none; name one in podNetwork.peers, or leave it out";
  const outside = advertiseServices.filter((one) => one !== "cluster-ip");
  const addresses = peers.map(({ address }) => address);
  const problems: (Problem | false)[] = [
    peers.length === 0 &&
      advertiseServices.length > 0 && {
        path: ["advertiseServices"],
        input: advertiseServices,
        message: alone,
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
