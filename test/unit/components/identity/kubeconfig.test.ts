import { strict as assert } from "node:assert";
import { parse, stringify } from "yaml";
import {
  renderKubeconfig,
  parseClientCertificateValidity,
} from "../../../../components/identity/kubeconfig.js";
import { deriveServerCertificate } from "../../../../components/identity/webhook-certificate.js";

const admin = stringify({
  apiVersion: "v1",
  kind: "Config",
  clusters: [
    {
      name: "kubernetes",
      cluster: { "certificate-authority-data": "Q0E=", server: "https://10.0.0.7:6443" },
    },
  ],
  users: [
    {
      name: "kubernetes-admin",
      user: { "client-certificate-data": "Q0VSVA==", "client-key-data": "S0VZ" },
    },
  ],
  contexts: [
    {
      name: "kubernetes-admin@kubernetes",
      context: { cluster: "kubernetes", user: "kubernetes-admin" },
    },
  ],
  "current-context": "kubernetes-admin@kubernetes",
});

describe("renderKubeconfig", () => {
  const made = parse(
    renderKubeconfig(admin, { cluster: "dev", endpoint: "203.0.113.7:6443" }),
  ) as Record<string, unknown>;

  it("uses the external address and keeps the signing authority", () => {
    assert.deepEqual(made["clusters"], [
      {
        name: "dev",
        cluster: { "certificate-authority-data": "Q0E=", server: "https://203.0.113.7:6443" },
      },
    ]);
  });

  it("keeps the administrator's certificate and key", () => {
    assert.deepEqual(made["users"], [
      {
        name: "admin@dev",
        user: { "client-certificate-data": "Q0VSVA==", "client-key-data": "S0VZ" },
      },
    ]);
  });

  it("uses the cluster's own names, so that kubeconfigs can be merged", () => {
    assert.equal(made["current-context"], "admin@dev");
    assert.deepEqual(made["contexts"], [
      { name: "admin@dev", context: { cluster: "dev", user: "admin@dev" } },
    ]);
  });

  it("quotes a cluster name that YAML 1.1 reads as a boolean", () => {
    const text = renderKubeconfig(admin, { cluster: "off", endpoint: "203.0.113.7:6443" });
    const { clusters } = parse(text, { version: "1.1" }) as { clusters: { name: unknown }[] };
    assert.equal(clusters[0]?.name, "off");
  });

  it("returns the same text for the same input", () => {
    const names = { cluster: "dev", endpoint: "203.0.113.7:6443" };
    assert.equal(renderKubeconfig(admin, names), renderKubeconfig(admin, names));
  });

  it("has the validity of the administrator's certificate, and none for an invalid certificate", () => {
    const { certificate } = deriveServerCertificate("seed", { purpose: "x", address: "192.0.2.1" });
    const data = Buffer.from(certificate).toString("base64");
    assert.deepEqual(parseClientCertificateValidity(admin.replace("Q0VSVA==", data)), {
      from: "2020-01-01T00:00:00.000Z",
      to: "9999-12-31T23:59:59.000Z",
    });
    for (const other of [admin, "{}", ""])
      assert.equal(parseClientCertificateValidity(other), undefined);
  });

  it("refuses input other than kubeadm's file", () => {
    assert.throws(() => renderKubeconfig("{}", { cluster: "dev", endpoint: "x:1" }));
    assert.throws(() => renderKubeconfig("", { cluster: "dev", endpoint: "x:1" }));
  });
});
