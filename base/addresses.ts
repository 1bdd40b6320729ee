import { Address4, Address6 } from "ip-address";

const isIpv4 = (address: string): boolean => Address4.isValid(address);

/** Of an address or a range. */
export const isIpv6 = (address: string): boolean => !isIpv4(address);

const parsed = (range: string): Address4 | Address6 =>
  isIpv4(range) ? new Address4(range) : new Address6(range);

const limits = (range: string): readonly [bigint, bigint] => {
  const address = parsed(range);
  return [address.startAddress().bigInt(), address.endAddress().bigInt()];
};

/** Whether two ranges have an address in common. */
export function overlaps(one: string, other: string): boolean {
  if (isIpv4(one) !== isIpv4(other)) return false;
  const [first, last] = limits(one);
  const [otherFirst, otherLast] = limits(other);
  return first <= otherLast && otherFirst <= last;
}

/** Whether an address can be a machine's in the range: its first belongs to the network, its last is the broadcast. */
export function isHostOf(range: string, address: string): boolean {
  const [first, last] = limits(range);
  const [it] = limits(address);
  return first < it && it < last;
}

/** The first address that can be a machine's: Neutron gives it to the router. */
export const firstHostOf = (range: string): string =>
  Address4.fromBigInt(limits(range)[0] + 1n).address;

/** What is left of a range's addresses for machines without the first one and those of `taken`: first and last of each stretch. */
export function stretchesWithout(
  range: string,
  taken: readonly string[],
): readonly { readonly start: string; readonly end: string }[] {
  const [network, broadcast] = limits(range);
  const gaps = [...new Set(taken.map((address) => limits(address)[0]))].sort((one, other) =>
    one < other ? -1 : 1,
  );
  const starts = [network + 1n, ...gaps].map((gap) => gap + 1n);
  const ends = [...gaps, broadcast].map((gap) => gap - 1n);
  const text = (address: bigint): string => Address4.fromBigInt(address).address;
  return starts.flatMap((start, index) => {
    const end = ends[index] ?? start - 1n;
    return start > end ? [] : [{ start: text(start), end: text(end) }];
  });
}

/** The address of the `kubernetes` service: the first of the range, which kubeadm puts in the API's certificate. */
export function firstServiceAddress(services: string): string {
  return firstHostOf(services);
}

/** The length of a range's prefix: 64 of fd00:10::/64. */
export const prefixOf = (range: string): number => parsed(range).subnetMask;

/** The address of the family, of those that a port has. */
export const addressOf = (family: "IPv4" | "IPv6", addresses: readonly string[]): string =>
  addresses.find((address) => isIpv4(address) === (family === "IPv4")) ?? "";

/** How Neutron gives machines their IPv6 addresses, in its words. */
export const ipv6Modes = ["slaac", "dhcpv6-stateful"] as const;
export type Ipv6Mode = (typeof ipv6Modes)[number];

/** The ranges inside a cluster, of one family. */
export interface ClusterRanges {
  readonly pods: string;
  readonly services: string;
}

/** The ranges of pods or services, that of IPv4 first, as Kubernetes has them. */
export const rangesOf = (
  which: keyof ClusterRanges,
  network: ClusterRanges & { readonly ipv6?: ClusterRanges | undefined },
): readonly string[] => [network[which], ...(network.ipv6 ? [network.ipv6[which]] : [])];
