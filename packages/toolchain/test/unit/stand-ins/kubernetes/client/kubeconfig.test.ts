import { strict as assert } from "node:assert";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  getApiServerConnection,
  loadKubeconfig,
} from "../../../../../stand-ins/kubernetes/client/kubeconfig.js";

const yaml = (cluster: string, user: string): string => `
apiVersion: v1
kind: Config
current-context: admin@kubernetes
contexts:
- name: admin@kubernetes
  context: {cluster: kubernetes, user: admin, namespace: work}
- name: other
  context: {cluster: second, user: admin}
clusters:
- name: kubernetes
  cluster: ${cluster}
- name: second
  cluster: {server: "https://second:6443"}
users:
- name: admin
  user: ${user}
`;
const base64 = (text: string): string => Buffer.from(text).toString("base64");

describe("kubernetes stand-in: kubeconfig", () => {
  it("is read as kubeadm writes it", () => {
    const text = yaml(
      `{server: "https://10.0.0.1:6443/", certificate-authority-data: ${base64("CA")}}`,
      `{client-certificate-data: ${base64("CERT")}, client-key-data: ${base64("KEY")}}`,
    );
    const connection = getApiServerConnection(loadKubeconfig(text), {});
    assert.equal(connection.server, "https://10.0.0.1:6443");
    assert.equal(connection.ca?.toString(), "CA");
    assert.equal(connection.certificate?.toString(), "CERT");
    assert.equal(connection.key?.toString(), "KEY");
    assert.equal(connection.namespace, "work");
    assert.equal(connection.insecure, false);
  });

  it("uses the context, cluster or namespace that the caller passes", () => {
    const loaded = loadKubeconfig(yaml("{server: https://first}", "{token: t}"));
    assert.equal(
      getApiServerConnection(loaded, { context: "other" }).server,
      "https://second:6443",
    );
    assert.equal(getApiServerConnection(loaded, { context: "other" }).namespace, "default");
    assert.equal(
      getApiServerConnection(loaded, { cluster: "second" }).server,
      "https://second:6443",
    );
    assert.equal(getApiServerConnection(loaded, { namespace: "n" }).namespace, "n");
    assert.equal(getApiServerConnection(loaded, {}).token, "t");
  });

  it("may name files relative to itself", () => {
    const directory = mkdtempSync(join(tmpdir(), "stackadm-kubeconfig-"));
    try {
      writeFileSync(join(directory, "ca.crt"), "FILE");
      writeFileSync(join(directory, "token"), "from-file\n");
      const file = join(directory, "config");
      writeFileSync(
        file,
        yaml(
          "{server: https://x, certificate-authority: ca.crt, tls-server-name: api}",
          "{tokenFile: token}",
        ),
      );
      const connection = getApiServerConnection(loadKubeconfig(file), {});
      assert.equal(connection.ca?.toString(), "FILE");
      assert.equal(connection.token, "from-file");
      assert.equal(connection.serverName, "api");
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  it("is refused with a reason if unsupported", () => {
    const refused: [string, string, RegExp][] = [
      ["{server: https://x}", "{exec: {command: aws}}", /credential plugins/],
      ["{server: https://x, proxy-url: http://p}", "{}", /proxies/],
      ["{server: https://x}", "{auth-provider: {name: gcp}}", /auth providers/],
    ];
    for (const [cluster, user, message] of refused) {
      assert.throws(() => getApiServerConnection(loadKubeconfig(yaml(cluster, user)), {}), message);
    }
    const loaded = loadKubeconfig(yaml("{server: https://x}", "{}"));
    assert.throws(() => getApiServerConnection(loaded, { context: "none" }), /no context "none"/);
    assert.throws(() => loadKubeconfig("/no/such/file"), /neither a kubeconfig nor the path/);
  });
});
