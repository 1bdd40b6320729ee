import assert from "node:assert/strict";
import fc from "fast-check";
import {
  findCollisions,
  listRuleDeletions,
  listFirewallCommands,
  listLinkCommands,
  isOverlapping,
  parseInterfaceAddresses,
  parseNameServerAddresses,
  parseRouteAddresses,
} from "../../../host/network-plan.js";
import { readLabSettings } from "../../../settings.js";
import { nonEmpty } from "../../../../../test/support/non-empty.js";

const settings = readLabSettings({});

describe("listLinkCommands and listFirewallCommands", () => {
  const lines = listLinkCommands(settings).map((command) => command.join(" "));

  it("start with a new namespace", () => {
    assert.equal(lines[0], "ip netns add stackadm-lab");
  });

  it("set the lab's MTU on every device", () => {
    const pairs = lines.filter((line) => line.includes("type veth"));
    assert.equal(pairs.length, 3);
    for (const pair of pairs) assert.equal(pair.match(/mtu 1400/g)?.length, 2, pair);
  });

  it("give the cloud no address in the external networks, which Neutron's bridges own", () => {
    for (const device of ["dev ext0", "dev ext1"])
      assert.ok(!lines.some((line) => line.includes(device) && line.includes("addr add")));
  });

  it("route the cloud's traffic through the host", () => {
    assert.equal(lines.at(-1), "ip -n stackadm-lab route add default via 172.29.0.1");
  });

  it("mark every packet filter rule with the lab's name", () => {
    for (const command of nonEmpty(listFirewallCommands(settings))) {
      const comment = command.indexOf("--comment");
      assert.equal(command[comment + 1], settings.name);
    }
  });

  it("masquerade all networks and forward for all interfaces in both directions", () => {
    const rules = listFirewallCommands(settings).map((command) => command.join(" "));
    assert.equal(rules.filter((rule) => rule.includes("MASQUERADE")).length, 3);
    for (const device of Object.values(settings.devices)) {
      for (const direction of ["-i", "-o"]) {
        const rule = `-I FORWARD ${direction} ${device} -m comment`;
        assert.equal(rules.filter((one) => one.includes(rule)).length, 1);
      }
    }
  });

  it("reject packets of servers to private addresses, except addresses in the lab", () => {
    const rules = listFirewallCommands(settings).map((command) => command.join(" "));
    const { external } = settings.devices;
    const rejects = rules.filter((rule) => rule.includes("REJECT"));
    assert.deepEqual(
      rejects.map((rule) => / -d (\S+) /.exec(rule)?.[1]),
      ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10"],
    );
    for (const rule of rejects) assert.ok(rule.includes(`-i ${external} `), rule);
    // iptables checks the rule that is inserted last first.
    const order = rules.filter((rule) => rule.includes(`-I FORWARD -i ${external}`)).reverse();
    const match = new RegExp(`-i ${external} (.*?) ?-m comment .* -j (\\S+)`);
    assert.deepEqual(
      order.map((rule) => match.exec(rule)?.slice(1).join(": ")),
      [
        "-m conntrack --ctstate ESTABLISHED,RELATED: ACCEPT",
        ...Object.values(settings.devices)
          .reverse()
          .map((device) => `-o ${device}: ACCEPT`),
        ...["-p tcp --dport 53: ACCEPT", "-p udp --dport 53: ACCEPT"],
        ...["-d 100.64.0.0/10", "-d 192.168.0.0/16", "-d 172.16.0.0/12", "-d 10.0.0.0/8"].map(
          (range) => `${range}: REJECT`,
        ),
        ": ACCEPT",
      ],
    );
  });
});

describe("listRuleDeletions", () => {
  const listing = [
    "-P POSTROUTING ACCEPT",
    "-N DOCKER",
    "-A POSTROUTING -s 172.29.0.0/24 ! -d 172.29.0.0/24 -m comment --comment stackadm-lab -j MASQUERADE",
    '-A POSTROUTING -s 172.29.1.0/24 ! -d 172.29.1.0/24 -m comment --comment "stackadm-lab" -j MASQUERADE',
    "-A POSTROUTING -s 10.88.0.0/16 -m comment --comment stackadm-lab-other -j MASQUERADE",
    "-A POSTROUTING -s 10.88.0.0/16 -j MASQUERADE",
    "",
  ].join("\n");

  it("returns a deletion for exactly the lab's rules", () => {
    const commands = listRuleDeletions("nat", listing, "stackadm-lab").map((command) =>
      command.join(" "),
    );
    assert.deepEqual(commands, [
      "iptables -w -t nat -D POSTROUTING -s 172.29.0.0/24 ! -d 172.29.0.0/24 -m comment --comment stackadm-lab -j MASQUERADE",
      "iptables -w -t nat -D POSTROUTING -s 172.29.1.0/24 ! -d 172.29.1.0/24 -m comment --comment stackadm-lab -j MASQUERADE",
    ]);
  });

  it("returns every rule that was added", () => {
    const added = listFirewallCommands(settings);
    for (const table of ["nat", "filter"]) {
      const listed = added
        .filter((command) => command.includes("nat") === (table === "nat"))
        .map((command) => command.slice(command.findIndex((word) => /^-[AI]$/.test(word)) + 1))
        .map((rest) => `-A ${rest.join(" ")}`);
      assert.equal(
        listRuleDeletions(table, listed.join("\n"), settings.name).length,
        listed.length,
      );
    }
  });

  it("returns nothing for an empty listing", () => {
    assert.deepEqual(listRuleDeletions("nat", "", "stackadm-lab"), []);
  });
});

describe("findCollisions", () => {
  it("reports a broader route, e.g. of a VPN", () => {
    const routes = JSON.stringify([
      { dst: "default", gateway: "192.0.2.1", dev: "eth0" },
      { dst: "172.16.0.0/12", dev: "tun0" },
    ]);
    const found = findCollisions(settings, parseRouteAddresses(routes, settings.devices));
    assert.equal(found.length, 3);
    assert.match(found[2] ?? "", /STACKADM_LAB_SERVICES/);
    assert.match(
      found[0] ?? "",
      /172\.29\.0\.0\/24 .* collides with 172\.16\.0\.0\/12, route through tun0/,
    );
  });

  it("ignores the default route and the lab's own interfaces", () => {
    const routes = JSON.stringify([
      { dst: "default", dev: "eth0" },
      { dst: "172.29.0.0/24", dev: "labmgmt" },
      { type: "local", dst: "172.29.1.1", dev: "labext" },
    ]);
    const addresses = JSON.stringify([
      { ifname: "labmgmt", addr_info: [{ local: "172.29.0.1", prefixlen: 24 }] },
      { ifname: "eth0", addr_info: [{ local: "192.0.2.2", prefixlen: 24 }] },
      { ifname: "dummy0" },
    ]);
    assert.deepEqual(findCollisions(settings, parseRouteAddresses(routes, settings.devices)), []);
    assert.deepEqual(
      findCollisions(settings, parseInterfaceAddresses(addresses, settings.devices)),
      [],
    );
  });

  it("reports an address of the host", () => {
    const addresses = JSON.stringify([
      { ifname: "eth1", addr_info: [{ local: "172.29.1.77", prefixlen: 24 }] },
    ]);
    assert.match(
      findCollisions(settings, parseInterfaceAddresses(addresses, settings.devices))[0] ?? "",
      /interface eth1/,
    );
  });

  it("reports a name server inside a lab network, and ignores IPv6 name servers", () => {
    const used = parseNameServerAddresses(
      "search x\nnameserver fd00::53\nnameserver 172.29.0.53\n",
    );
    assert.deepEqual(
      used.map(({ cidr }) => cidr),
      ["172.29.0.53/32"],
    );
    assert.equal(findCollisions(settings, used).length, 1);
  });

  it("accepts empty output of `ip`", () => {
    assert.deepEqual(parseRouteAddresses("", settings.devices), []);
    assert.deepEqual(parseInterfaceAddresses("[]", settings.devices), []);
  });

  const cidr = fc
    .tuple(fc.ipV4(), fc.integer({ min: 8, max: 32 }))
    .map(([address, length]) => `${address}/${length}`);

  it("treats overlap as symmetric, and every range as overlapping itself", () => {
    fc.assert(
      fc.property(cidr, cidr, (one, other) => {
        assert.equal(isOverlapping(one, other), isOverlapping(other, one));
        assert.ok(isOverlapping(one, one));
      }),
    );
  });

  it("distinguishes adjacent ranges", () => {
    assert.ok(!isOverlapping("172.29.0.0/24", "172.29.1.0/24"));
    assert.ok(!isOverlapping("172.28.0.0/16", "172.29.0.0/24"));
    assert.ok(isOverlapping("0.0.0.0/0", "172.29.0.0/24"));
  });
});
