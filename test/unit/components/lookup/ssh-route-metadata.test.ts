import { strict as assert } from "node:assert";
import fc from "fast-check";
import { parseRoute, routeText } from "../../../../components/lookup/ssh-route-metadata.js";

const hop = fc
  .tuple(
    fc.stringMatching(/^[a-z_][a-z0-9_-]{0,30}$/),
    fc.oneof(fc.ipV4(), fc.ipV6()),
    fc.integer({ min: 1, max: 65535 }),
    fc.stringMatching(/^[A-Za-z0-9+/]{68}$/),
  )
  .map(([user, host, port, key]) => ({ user, host, port, hostKey: `ssh-ed25519 ${key}` }));
const ways = fc
  .tuple(hop, fc.option(hop, { nil: undefined }))
  .map(([target, proxy]) => ({ ...target, ...(proxy && { proxy }) }));

describe("the way to a machine in the metadata of its server", () => {
  it("is read back as it was written, or was too long for Nova", () => {
    fc.assert(
      fc.property(ways, (way) => {
        const text = routeText(way);
        if (text === undefined) assert.ok(way.proxy, "one machine always fits");
        else assert.deepEqual([parseRoute(text), text.length <= 255], [way, true]);
      }),
    );
  });

  it("has the usual port where none is said", () => {
    const way = { user: "debian", host: "10.0.0.5", hostKey: "ssh-ed25519 AAAA" };
    assert.deepEqual(parseRoute(routeText(way) ?? ""), { ...way, port: 22 });
  });

  it("is none in any other text", () => {
    const whole = "debian 10.0.0.5 22 AAAA";
    for (const text of ["", "x", `${whole} `, `${whole} via `, `${whole} via x`, ` via ${whole}`])
      assert.equal(parseRoute(text), undefined, text);
    assert.equal(parseRoute([whole, whole, whole].join(" via ")), undefined);
    fc.assert(fc.property(fc.string(), (text) => void parseRoute(text)));
  });
});
