import assert from "node:assert/strict";
import { findCheckFailures, completeInputs } from "../../../../stand-ins/command/inputs.js";
import { supportedProperties } from "../../../../stand-ins/command/supported-inputs.js";
import { quoteLikeGo } from "../../../../stand-ins/command/output.js";
import { isSecret, reveal, unknownString } from "../../../../stand-ins/plugin/values.js";
import type { JsonObject } from "../../../../stand-ins/plugin/values.js";
import { secret } from "./harness.js";

const remote = "command:remote:Command";
const reasons = (type: string, news: JsonObject): string[] =>
  findCheckFailures(type, news).map(({ property, reason }) => `${property}: ${reason}`);

describe("completeInputs and findCheckFailures", () => {
  it("set the defaults, and make connection, keys and passwords secret", () => {
    const inputs = completeInputs({
      connection: { host: "h", password: "p", proxy: { host: "q" } },
    });
    const { connection } = inputs;
    assert.ok(isSecret(connection));
    assert.deepEqual(reveal(connection), {
      host: "h",
      port: 22,
      user: "root",
      dialErrorLimit: 10,
      perDialTimeout: 15,
      password: "p",
      proxy: { host: "q", port: 22, user: "root", dialErrorLimit: 10, perDialTimeout: 15 },
    });
    assert.ok(isSecret((connection["value"] as JsonObject)["password"]));
  });

  it("change nothing the second time", () => {
    const once = completeInputs({ connection: { host: "h", privateKey: "k" }, create: "true" });
    assert.deepEqual(completeInputs(once), once);
  });

  it("accept an unknown connection and unknown parts of a connection", () => {
    assert.deepEqual(reasons(remote, { connection: secret(unknownString) }), []);
    assert.deepEqual(
      reasons(remote, { connection: { host: unknownString, port: unknownString } }),
      [],
    );
    assert.deepEqual(
      reasons(remote, { connection: { host: "h" }, triggers: unknownString, stdin: unknownString }),
      [],
    );
    assert.equal(
      reveal(completeInputs({ connection: unknownString })["connection"] ?? null),
      unknownString,
    );
  });

  it("report missing properties and properties of the wrong type", () => {
    assert.match(reasons(remote, {}).join(), /^connection: /);
    assert.match(reasons(remote, { connection: {} }).join(), /^connection\.host: /);
    const wrong = { connection: { host: "h" }, logging: "loud", create: 1 };
    assert.deepEqual(
      findCheckFailures(remote, wrong)
        .map(({ property }) => property)
        .sort(),
      ["create", "logging"],
    );
  });

  it("refuse unsupported properties at every level", () => {
    const news = {
      connection: { host: "h", banner: 1, proxy: { host: "p", proxy: {} } },
      dir: "/",
    };
    assert.deepEqual(
      findCheckFailures(remote, news).map(({ property }) => property),
      ["dir", "connection.banner", "connection.proxy.proxy"],
    );
    assert.match(reasons("command:local:Command", { assetPaths: [] })[0] ?? "", /does not handle/);
  });

  it("refuse an unknown type and a source that is not an asset", () => {
    assert.match(reasons("command:remote:CopyFile", {})[0] ?? "", /has no command:remote:CopyFile/);
    const news = { connection: { host: "h" }, remotePath: "/f", source: "text" };
    assert.match(reasons("command:remote:CopyToRemote", news)[0] ?? "", /asset or an archive/);
  });

  it("support every property of the SDK's remote.Command", async () => {
    const { remote: sdk } = await import("@pulumi/command");
    const source = sdk.Command.toString();
    const names = [...source.matchAll(/resourceInputs\["(\w+)"\] = args/g)].map(
      (match) => match[1],
    );
    assert.ok(names.length >= 9);
    assert.deepEqual(
      names.filter((name) => name && !supportedProperties[remote]?.includes(name)),
      [],
    );
  });
});

describe("quoteLikeGo", () => {
  it("writes special characters as Go does", () => {
    assert.equal(quoteLikeGo('a"b\\\n\t\u0007\u001b\u007fé'), '"a\\"b\\\\\\n\\t\\a\\x1b\\x7fé"');
  });
});
