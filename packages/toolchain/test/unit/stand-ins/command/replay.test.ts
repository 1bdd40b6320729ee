import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isObject, encodeStruct } from "../../../../stand-ins/plugin/values.js";
import type { Json, JsonObject } from "../../../../stand-ins/plugin/values.js";
import { SshServer, keyPair } from "../../../../../../test/engine/support/ssh-server.js";
import { Harness } from "./harness.js";
import { ask } from "./replay-calls.js";

/** Line of a transcript: a recorded request with its answer. */
interface Exchange {
  readonly method: string;
  readonly request: JsonObject;
  readonly response: JsonObject | null;
  readonly errors?: string[];
}

const runs = [
  "preview-empty",
  "create",
  "no-change",
  "update",
  "replace",
  "refresh",
  "destroy",
  "failures-preview",
  "failures-up",
] as const;
const fixtures = join(__dirname, "../../../fixtures/transcripts/command");

/**
 * Differences from the official plugin that the test accepts, each with its reason. `change`
 * removes the difference from both answers before they are compared.
 */
const accepted: readonly { readonly reason: string; readonly change: (text: string) => string }[] =
  [
    {
      reason: "an ID ends in eight random hexadecimal digits",
      change: (text) => text.replace(/"id":"([\w-]*?)[0-9a-f]{8}"/g, '"id":"$1<random>"'),
    },
  ];

/** Pairs of a recorded path or key and its replacement in this test. */
let substitutes: readonly (readonly [string, string])[];

function replaced(value: Json): Json {
  let text = JSON.stringify(value);
  for (const [recorded, here] of substitutes) {
    text = text.replaceAll(JSON.stringify(recorded), JSON.stringify(here));
  }
  return JSON.parse(text) as Json;
}

function object(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}

function string(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}

function comparable(value: Json): string {
  const sorted = JSON.stringify(value, (_key, inner: Json) =>
    isObject(inner) ? Object.fromEntries(Object.entries(inner).sort()) : inner,
  );
  return accepted.reduce((text, { change }) => change(text), sorted);
}

describe("command stand-in with the official plugin's recorded requests", () => {
  let harness: Harness;
  let node: SshServer;
  let worker: SshServer;
  let tools: string;
  const strange = keyPair().private;

  before(async () => {
    const key = keyPair();
    tools = mkdtempSync(join(tmpdir(), "stackadm-replay-"));
    const tool = (name: string, prints: string): void => {
      writeFileSync(join(tools, name), `#!/bin/sh\necho ${prints}\n`);
      chmodSync(join(tools, name), 0o755);
    };
    tool("uname", "6.1.0-31");
    tool("hostname", "w0");
    const environment = { PATH: `${tools}:${process.env["PATH"] ?? ""}` };
    const authorizedKeys = [key.public];
    node = await SshServer.start({ authorizedKeys, environment });
    worker = await SshServer.start({ authorizedKeys, environment });
    harness = await Harness.start();
    substitutes = [
      ["<private key>", key.private],
      [recordedHostKey, node.hostKey],
      ["/root/copied.txt", "/copied.txt"],
    ];
  });
  after(async () => {
    harness.stop();
    await node.stop();
    await worker.stop();
    rmSync(tools, { recursive: true, force: true });
  });

  /**
   * Replaces a recorded private key by a key that no server of this test accepts. If the recorded
   * value is a secret, the replacement is also a secret.
   */
  function reSecret(value: Json | undefined): Json {
    return isObject(value) ? { ...value, value: strange } : strange;
  }

  /**
   * Replaces the recorded hosts by the servers of this test. The recorded hosts had different
   * addresses and port 22. The servers of this test have the same address and different ports.
   */
  function reachable(connection: Json): Json {
    if (!isObject(connection)) return connection;
    const inner = isObject(connection["value"]) ? connection["value"] : connection;
    const ports: Readonly<Record<string, number>> = {
      "10.99.0.10": inner["port"] === 22 ? node.port : 1,
      "10.99.0.20": worker.port,
    };
    const here: JsonObject = {
      ...inner,
      host: "127.0.0.1",
      port: ports[string(inner["host"])] ?? 1,
      ...(inner["proxy"] !== undefined && { proxy: reachable(inner["proxy"]) }),
    };
    if (inner["user"] === "nobody") here["privateKey"] = reSecret(here["privateKey"]);
    return inner === connection ? here : { ...connection, value: here };
  }

  function here(value: Json | undefined): JsonObject {
    const properties = object(replaced(value ?? {}));
    const { connection } = properties;
    return connection === undefined
      ? properties
      : { ...properties, connection: reachable(connection) };
  }

  function send(method: string, request: JsonObject): Promise<JsonObject> {
    return ask(harness.client, method, {
      urn: string(request["urn"]),
      type: string(request["type"]),
      name: string(request["name"]),
      id: string(request["id"]),
      preview: request["preview"] === true,
      properties: (name) => encodeStruct(here(request[name])),
    });
  }

  for (const run of runs) {
    const lines = readFileSync(join(fixtures, `${run}.jsonl`), "utf8")
      .trim()
      .split("\n");
    for (const line of lines) {
      const exchange = JSON.parse(line) as Exchange;
      const method = exchange.method.replace("ResourceProvider/", "");
      const name = string(exchange.request["name"]);
      it(`answers ${run}: ${method} ${name}`, async () => {
        if (exchange.errors) {
          await assert.rejects(send(method, exchange.request), (error: Error) => {
            assert.equal(error.message, expectedError(exchange.errors?.[0] ?? ""));
            return true;
          });
          return;
        }
        const answer = await send(method, exchange.request);
        const expected = expectedAnswer(exchange.response ?? {});
        assert.equal(comparable(answer), comparable(expected));
      });
    }
  }

  function expectedAnswer(response: JsonObject): JsonObject {
    const answer: JsonObject = { ...response };
    for (const key of ["inputs", "properties"]) {
      if (answer[key] !== undefined) answer[key] = here(response[key]);
    }
    return answer;
  }
});

const recordedHostKey =
  "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIArrdGd2Z0ePoESkDLiOcd5aFLESvm6GyRnbfOW1e9fw root@node";

function expectedError(recorded: string): string {
  return recorded
    .replace(/^rpc error: code = \w+ desc = /, "")
    .replace("10.99.0.10:2222", "127.0.0.1:1");
}
