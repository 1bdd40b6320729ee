import { Address4 } from "ip-address";

const limits = (range: string): readonly [bigint, bigint] => {
  const address = new Address4(range);
  return [address.startAddress().bigInt(), address.endAddress().bigInt()];
};

/** Whether two IPv4 ranges have an address in common. */
export function overlaps(one: string, other: string): boolean {
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

/** How many machines get a range for their pods: kube-controller-manager gives each a /24. */
export function machinesWithPods(pods: string): number {
  const { subnetMask } = new Address4(pods);
  return subnetMask > 24 ? 0 : 2 ** (24 - subnetMask);
}

/** The address of the `kubernetes` service: the first of the range, which kubeadm puts in the API's certificate. */
export function firstServiceAddress(services: string): string {
  return firstHostOf(services);
}

/** The zone of the machine at `position`: zones in turn, or none when Nova may choose. */
export function zoneAt(zones: readonly string[], position: number): string | undefined {
  return zones.length === 0 ? undefined : zones[position % zones.length];
}
