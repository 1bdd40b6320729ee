import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse, stringify } from "yaml";
import { silentProgress } from "../../../../base/progress.js";
import { findCloud } from "../../../../openstack/auth/clouds-file.js";
import { sendHttpRequest } from "../../../../openstack/http/http-exchange.js";
import { compareInventories, takeInventory } from "../../../../openstack/inventory/inventory.js";
import { createServerTls } from "../../../../packages/lab/certificates.js";
import {
  catalogApiPorts,
  managementPorts,
  getTlsPort,
} from "../../../../packages/lab/cloud/configuration/common.js";
import { labAdd } from "../../../../packages/lab/lab.js";
import { stackadm } from "../../support/stack/command-line.js";
import { issueToken, whoIs } from "../../support/cloud/keystone.js";
import { kubectlOn } from "../../support/kubernetes/kubectl.js";
import { labCluster, type LabCluster } from "../../support/stack/lab-cluster.js";
import { inCloud, inServer } from "../../support/machines/machines.js";
import { Stack } from "../../support/stack/stack.js";
import { nonEmpty } from "../../../support/non-empty.js";

const minutes = 60_000;

/** Stack that uses the lab's cloud over TLS. */
class TlsStack extends Stack {
  protected override make(): Promise<LabCluster> {
    return labCluster(this.name, undefined, undefined, ({ tlsCloud }) => tlsCloud);
  }
}

describe("a cloud with TLS and a private certificate authority, on the lab", function () {
  this.timeout(15 * minutes);
  const stack = new TlsStack("private");
  const changed = { kubernetes: { keystone: {} } };
  const env = (): NodeJS.ProcessEnv => stack.cluster.environment.env;
  const ask = (line: string): Promise<string> =>
    kubectlOn(stack.serverOf("control-plane-0"), line).then((text) => text.trim());
  const settings = () => findCloud(undefined, env());
  const address = (): string => new URL(settings().authUrl).hostname;
  let directory = "";
  before(async () => {
    await labAdd("keystone-auth", { progress: silentProgress });
    await stack.open();
    directory = mkdtempSync(join(tmpdir(), "stackadm-authority-"));
  });
  after(async () => {
    rmSync(directory, { recursive: true, force: true });
    await stack.cluster.close();
  });

  it("returns only URLs with TLS", async () => {
    const { authUrl, ca } = settings();
    assert.match(authUrl, /^https:/);
    for (const port of catalogApiPorts) {
      const origin = `https://${address()}:${String(getTlsPort(port))}`;
      const { body } = await sendHttpRequest(`${origin}/`, { ca });
      assert.ok(!body.includes(`http://${address()}`), `${origin}: ${body}`);
      // Placement returns paths without origin.
      if (port !== managementPorts.placement)
        assert.ok(body.includes(`${origin}/`), `${origin}: ${body}`);
    }
  });

  it("fails `up` with one sentence before any change if another authority is configured", async () => {
    const file = env()["OS_CLIENT_CONFIG_FILE"] ?? "";
    const { clouds } = parse(readFileSync(file, "utf8")) as { clouds: Record<string, object> };
    const wrong = join(directory, "ca.crt");
    writeFileSync(wrong, (await createServerTls(address())).authority);
    const others = join(directory, "clouds.yaml");
    const other = { ...clouds[env()["OS_CLOUD"] ?? ""], cacert: wrong };
    writeFileSync(others, stringify({ clouds: { other } }), { mode: 0o600 });
    const named = { OS_CLOUD: "other", OS_CLIENT_CONFIG_FILE: others };
    const { code, text } = await stackadm(stack.cluster, ["up"], { env: named });
    assert.equal(code, 3, text);
    assert.match(text, /certificate of cloud 'other' at https:\S+ cannot be verified \(.+\)\./);
    assert.match(text, /`cacert` in clouds\.yaml/);
    assert.doesNotMatch(text, /^\s+at .*:\d+:\d+/m, "a stack trace is no sentence");
    const { added, removed } = compareInventories(
      stack.initially,
      await takeInventory(stack.cluster.cloud),
    );
    assert.deepEqual([added, removed], [[], []]);
  });

  it("runs a cluster with an external Service and a mounted volume", async () => {
    await stack.up(changed);
    await stack.prove(1);
    const answer = await fetch(`http://${stack.outputs.samples?.external ?? ""}/`);
    assert.ok(answer.ok, String(answer.status));
    const phase = "-n stackadm-samples get pvc data -o jsonpath='{.status.phase}'";
    assert.equal(await ask(phase), "Bound");
    assert.notEqual(await ask("-n stackadm-samples exec writer-0 -- cat /data/proof"), "");
  });

  it("receives the requests for servers, load balancers and volumes over TLS", async () => {
    // The log of nginx contains only requests over TLS, because the package repository does not
    // log.
    const log = (await inCloud("cat /var/log/nginx/access.log")).split("\n");
    for (const [what, request, who] of [
      ["machines", /"POST \/v2\.1\/[^" ]*servers /, /./],
      ["load balancers", /"POST \/v2[^" ]*\/lbaas\/loadbalancers/, /cloud-controller-manager/],
      ["volumes", /"POST \/v3\/[^" ]+\/volumes /, /cinder-csi-plugin/],
    ] as const)
      assert.ok(
        log.some((line) => request.test(line) && who.test(line)),
        what,
      );
  });

  it("is trusted by the cluster's machines", async () => {
    const line = `curl -sS -o /dev/null -w '%{http_code}' ${settings().authUrl}`;
    for (const { serverId, name } of nonEmpty(stack.outputs.nodes))
      assert.equal((await inServer(serverId, line)).trim(), "200", name);
  });

  it("authenticates its users to the cluster's API server", async () => {
    const found = await whoIs(stack.outputs.kubeconfig, await issueToken(env()));
    assert.equal(found?.username, "demo");
  });

  it("causes no changes on a second `up`", async () => {
    await stack.again(changed);
  });

  it("has no leftovers after the cluster is destroyed", async () => {
    await stack.destroyAndLookAround();
  });
});
