import { strict as assert } from "node:assert";
import fc from "fast-check";
import { Address4 } from "ip-address";
import {
  findAddressOfFamily,
  getFirstServiceAddress,
  isHostAddressIn,
  rangesOverlap,
  getPrefixLength,
  listFreeAddressRanges,
} from "../../../base/ip-addresses.js";

/** Any IPv4 range whose host bits are zero. */
const range = fc
  .tuple(fc.bigInt(0n, 2n ** 32n - 1n), fc.integer({ min: 1, max: 32 }))
  .map(([bits, length]) => {
    const host = BigInt(32 - length);
    const first = Address4.fromBigInt((bits >> host) << host).address;
    return `${first}/${String(length)}`;
  });

const within = (outer: string): fc.Arbitrary<string> => {
  const { subnetMask } = new Address4(outer);
  const first = new Address4(outer).startAddress().bigInt();
  return fc
    .tuple(fc.integer({ min: subnetMask, max: 32 }), fc.bigInt(0n, 2n ** 32n - 1n))
    .map(([length, bits]) => {
      const size = 1n << BigInt(32 - subnetMask);
      const host = BigInt(32 - length);
      const start = first + (((bits % size) >> host) << host);
      return `${Address4.fromBigInt(start).address}/${String(length)}`;
    });
};

describe("addresses and ranges", () => {
  it("leaves all addresses of a range for machines except the first and the used ones", () => {
    const addresses = fc.uniqueArray(fc.integer({ min: 2, max: 30 }), { maxLength: 12 });
    fc.assert(
      fc.property(addresses, (taken) => {
        const text = (one: number): string => `10.1.2.${String(64 + one)}`;
        const left = listFreeAddressRanges("10.1.2.64/27", taken.map(text)).flatMap(
          ({ start, end }) => {
            const [first, last] = [start, end].map((one) => Number(one.split(".")[3]) - 64);
            assert.ok(first !== undefined && last !== undefined && first <= last);
            return Array.from({ length: last - first + 1 }, (_, index) => first + index);
          },
        );
        const all = Array.from({ length: 29 }, (_, index) => index + 2);
        assert.deepEqual(
          left,
          all.filter((one) => !taken.includes(one)),
        );
      }),
    );
  });

  it("compares IPv6 ranges with each other, and never with IPv4", () => {
    assert.ok(rangesOverlap("fd00:10:244::/56", "fd00:10:244:7::/64"));
    assert.ok(!rangesOverlap("fd00:10:244::/56", "fd00:10:245::/56"));
    assert.ok(!rangesOverlap("::/0", "10.0.0.0/8"));
    assert.equal(getPrefixLength("fd00:10:244::/56"), 56);
  });

  it("returns the address of an IP family in any order of a port's addresses", () => {
    const both = ["fd00:10::f816:3eff:fe00:1", "10.0.0.7"];
    for (const order of [both, both.toReversed()]) {
      assert.equal(findAddressOfFamily("IPv4", order), "10.0.0.7");
      assert.equal(findAddressOfFamily("IPv6", order), "fd00:10::f816:3eff:fe00:1");
    }
    assert.equal(findAddressOfFamily("IPv6", ["10.0.0.7"]), "");
  });

  it("reports that a range overlaps itself and every range inside it", () => {
    fc.assert(
      fc.property(
        range.chain((outer) => fc.tuple(fc.constant(outer), within(outer))),
        ([outer, inner]) => rangesOverlap(outer, outer) && rangesOverlap(outer, inner),
      ),
    );
  });

  it("accepts every address of a range for a machine except the first and the last", () => {
    const hosts = ["10.0.0.1", "10.0.0.100", "10.0.0.254"];
    const others = ["10.0.0.0", "10.0.0.255", "10.0.1.1", "9.255.255.255"];
    assert.deepEqual(
      [...hosts, ...others].filter((one) => isHostAddressIn("10.0.0.0/24", one)),
      hosts,
    );
  });

  it("does not depend on the order of two ranges", () => {
    fc.assert(
      fc.property(
        range,
        range,
        (one, other) => rangesOverlap(one, other) === rangesOverlap(other, one),
      ),
    );
  });

  it("reports no overlap between the two halves of a range", () => {
    fc.assert(
      fc.property(range, (whole) => {
        const { subnetMask } = new Address4(whole);
        if (subnetMask === 32) return;
        const first = new Address4(whole).startAddress().bigInt();
        const half = 1n << BigInt(31 - subnetMask);
        const length = String(subnetMask + 1);
        const [low, high] = [first, first + half].map(
          (start) => `${Address4.fromBigInt(start).address}/${length}`,
        );
        assert.equal(rangesOverlap(low ?? "", high ?? ""), false);
      }),
    );
  });

  it("distinguishes the adjacent ranges 10.0.0.0/24 and 10.0.1.0/24", () => {
    assert.equal(rangesOverlap("10.0.0.0/24", "10.0.1.0/24"), false);
    assert.equal(rangesOverlap("10.0.0.0/23", "10.0.1.0/24"), true);
  });

  it("assigns the first service address to the kubernetes Service", () => {
    assert.equal(getFirstServiceAddress("10.96.0.0/12"), "10.96.0.1");
  });
});
