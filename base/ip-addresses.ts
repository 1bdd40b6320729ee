import { Address4, Address6 } from "ip-address";

const isIpv4 = (address: string): boolean => Address4.isValid(address);

/** Returns whether an address or range is IPv6. */
export const isIpv6 = (address: string): boolean => Address6.isValid(address);

const parsed = (range: string): Address4 | Address6 =>
  isIpv4(range) ? new Address4(range) : new Address6(range);

const limits = (range: string): readonly [bigint, bigint] => {
  const address = parsed(range);
  return [address.startAddress().bigInt(), address.endAddress().bigInt()];
};

/** Returns whether two ranges have a common address. */
export function rangesOverlap(one: string, other: string): boolean {
  if (isIpv4(one) !== isIpv4(other)) return false;
  const [first, last] = limits(one);
  const [otherFirst, otherLast] = limits(other);
  return first <= otherLast && otherFirst <= last;
}

/**
 * Returns whether a machine in the range can have the address. The first (network) and the last
 * (broadcast) address of the range are excluded.
 */
export function isHostAddressIn(range: string, address: string): boolean {
  const [first, last] = limits(range);
  const [it] = limits(address);
  return first < it && it < last;
}

/**
 * Returns the range's first host address. By default, Neutron assigns this address to the router.
 */
export const getFirstHostAddress = (range: string): string =>
  Address4.fromBigInt(limits(range)[0] + 1n).address;

/**
 * Returns the free parts of a range. The first host address and the addresses in `taken` are not
 * free. Each part is given by its first and last address.
 */
export function listFreeAddressRanges(
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

/**
 * Returns the address of the `kubernetes` Service, which is the first address of the Service range.
 * kubeadm adds this address to the API server's certificate.
 */
export function getFirstServiceAddress(services: string): string {
  return getFirstHostAddress(services);
}

/** Returns the prefix length of a range: 64 for fd00:10::/64. */
export const getPrefixLength = (range: string): number => parsed(range).subnetMask;

/** Returns the first address of the given IP family. Returns an empty text if there is none. */
export const findAddressOfFamily = (
  family: "IPv4" | "IPv6",
  addresses: readonly string[],
): string => addresses.find((address) => isIpv4(address) === (family === "IPv4")) ?? "";

/** Neutron's names of the IPv6 address modes that machines support. */
export const ipv6Modes = ["slaac", "dhcpv6-stateful"] as const;
export type Ipv6AddressMode = (typeof ipv6Modes)[number];

/** Pod range and Service range of a cluster for one IP family. */
export interface PodAndServiceRanges {
  readonly pods: string;
  readonly services: string;
}

/** Returns the Pod ranges or the Service ranges of a cluster. The IPv4 range is first. */
export const listClusterRanges = (
  which: keyof PodAndServiceRanges,
  network: PodAndServiceRanges & { readonly ipv6?: PodAndServiceRanges | undefined },
): readonly string[] => [network[which], ...(network.ipv6 ? [network.ipv6[which]] : [])];
