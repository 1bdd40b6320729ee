import { strict as assert } from "node:assert";
import fc from "fast-check";
import { renderKeepalivedConfig } from "../../../../components/endpoint/keepalived-documents.js";
import { golden } from "../../../support/golden.js";
import { nonEmpty } from "../../../support/non-empty.js";

const address = "10.0.0.100";
const addresses = ["10.0.0.11", "10.0.0.12", "10.0.0.13"];
const config = (position: number, of = addresses): string =>
  renderKeepalivedConfig({ address, addresses: of, position });

/** Returns the words of a block. */
const block = (text: string, name: string): string[] =>
  (new RegExp(`${name} \\{([^}]*)\\}`).exec(text)?.[1] ?? "").split(/\s+/).filter(Boolean);
const setting = (text: string, name: string): string =>
  new RegExp(`^ *${name} (.*)$`, "m").exec(text)?.[1] ?? "";

describe("renderKeepalivedConfig", () => {
  it("returns the reviewed text", () => {
    golden("keepalived.conf", config(1));
  });

  it("lists all other control planes as peers, and no other machine", () => {
    const planes = fc.uniqueArray(
      fc.integer({ min: 1, max: 254 }).map((octet) => `10.0.0.${String(octet)}`),
      { minLength: 2, maxLength: 7 },
    );
    fc.assert(
      fc.property(planes, (all) => {
        for (const [position, own] of nonEmpty(all.entries())) {
          const text = config(position, all);
          assert.equal(setting(text, "unicast_src_ip"), own);
          assert.deepEqual([own, ...block(text, "unicast_peer")].sort(), [...all].sort());
        }
      }),
    );
  });

  it("gives each control plane its own priority within VRRP's bounds, the first one the highest", () => {
    const priorities = addresses.map((_, position) =>
      Number(setting(config(position), "priority")),
    );
    assert.deepEqual(
      [...new Set(priorities)].sort((a, b) => b - a),
      priorities,
    );
    assert.ok(priorities.every((one) => one > 0 && one < 255));
  });

  it("gives all control planes the same router ID and address", () => {
    const common = (position: number): string[] => [
      setting(config(position), "virtual_router_id"),
      ...block(config(position), "virtual_ipaddress"),
    ];
    assert.deepEqual(common(2), common(0));
    assert.ok(common(0).includes(`${address}/32`));
  });

  it("prevents a recovered control plane from taking back the address: all start as backup", () => {
    for (const position of addresses.keys()) {
      assert.equal(setting(config(position), "state"), "BACKUP");
      assert.match(config(position), /^ {2}nopreempt$/m);
    }
  });

  it("assigns the address only to a control plane whose API is ready", () => {
    assert.match(config(0), /^ {2}init_fail$/m);
    assert.match(config(0), /^ {2}script ".*https:\/\/127\.0\.0\.1:6443\/readyz"$/m);
    assert.deepEqual(block(config(0), "track_script"), ["api"]);
  });

  it("uses unicast on a single control plane too, so that adding peers causes no change of mode", () => {
    assert.deepEqual(block(config(0, ["10.0.0.11"]), "unicast_peer"), ["127.0.0.1"]);
  });

  it("ends each check before the next interval", () => {
    const check = /--max-time (\d+)/.exec(config(0))?.[1];
    assert.ok(Number(check) < Number(setting(config(0), "timeout")));
  });
});
