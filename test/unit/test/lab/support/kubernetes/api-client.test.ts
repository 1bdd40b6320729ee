import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { useApi } from "../../../../../lab/support/kubernetes/api-client.js";

describe("API client during cluster changes", () => {
  let server: Server;
  let objects: Map<string, string>;
  /** Called for each request before its answer. */
  let hold: () => Promise<unknown>;
  let [open, most] = [0, 0];

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    let body = "";
    for await (const part of request) body += String(part);
    most = Math.max(most, ++open);
    await hold();
    open -= 1;
    const name = request.url?.split("/configmaps/")[1] ?? /"name":"([^"]*)"/.exec(body)?.[1] ?? "";
    const known = objects.get(name);
    const missing = known === undefined && request.method !== "POST";
    if (!missing && body !== "") objects.set(name, body);
    response.writeHead(missing ? 404 : request.method === "POST" ? 201 : 200);
    response.end(objects.get(name));
  };
  before(async () => {
    server = createServer((request, response) => void answer(request, response));
    await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  });
  after(() => {
    server.close();
    server.closeAllConnections();
  });
  beforeEach(() => {
    objects = new Map();
    hold = () => Promise.resolve();
    [open, most] = [0, 0];
  });

  const kubeconfig = (): string =>
    JSON.stringify({
      "current-context": "c",
      contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
      clusters: [
        {
          name: "c",
          cluster: { server: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}` },
        },
      ],
      users: [{ name: "u", user: {} }],
    });
  const pause = (milliseconds: number): Promise<void> =>
    new Promise((resolve) => setTimeout(resolve, milliseconds));
  const until = async (there: () => boolean): Promise<void> => {
    while (!there()) await pause(5);
  };

  it("starts a request at its time, even if earlier ones are unanswered", async () => {
    hold = () => pause(100);
    const use = useApi(kubeconfig(), { every: 10 });
    await until(() => most > 5);
    const { answered, failed } = await use.end();
    assert.ok(answered > 5);
    assert.equal(failed, 0);
  });

  it("counts requests as failed that it could not start because too many were unanswered", async () => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    hold = () => held;
    const use = useApi(kubeconfig(), { every: 5, most: 2 });
    await until(() => most === 2);
    await pause(100);
    const ending = use.end();
    release();
    const { answered, failed, longestGap } = await ending;
    assert.equal(most, 2);
    assert.equal(answered, 2);
    assert.ok(failed > 0 && longestGap >= 100);
  });

  it("counts requests as failed whose written value was lost", async () => {
    let writes = 0;
    hold = () => {
      if (++writes > 30) objects.clear();
      return Promise.resolve();
    };
    const use = useApi(kubeconfig(), { every: 5 });
    await until(() => writes > 60);
    assert.ok((await use.end()).failed > 0);
  });
});
