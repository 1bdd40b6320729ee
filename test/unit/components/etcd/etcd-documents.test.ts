import { strict as assert } from "node:assert";
import { parse } from "yaml";
import {
  buildExternalEtcdBlock,
  renderEtcdKubeletDocument,
  renderEtcdMemberDocuments,
} from "../../../../components/etcd/etcd-documents.js";
import { golden } from "../../../support/golden.js";

const member = { name: "dev-etcd-0", address: "10.0.0.7" };

describe("etcd documents", () => {
  it("match the reviewed texts", () => {
    golden(
      "etcd-member.yaml",
      [
        renderEtcdMemberDocuments(member, {
          version: "1.36.3",
          imageRepository: "registry.example/k8s",
        }),
        renderEtcdKubeletDocument({}),
      ].join("---\n"),
    );
  });

  it("omit kubeadm's default registry", () => {
    const said = renderEtcdMemberDocuments(member, {
      version: "1.36.3",
      imageRepository: "registry.k8s.io",
    });
    assert.doesNotMatch(said, /imageRepository/);
  });

  it("set the repository and tag of the user's image for kubeadm", () => {
    const image = "own.example/k8s/etcd:3.6.8-0";
    const settings = { version: "1.36.3", imageRepository: "registry.k8s.io", image };
    assert.match(
      renderEtcdMemberDocuments(member, settings),
      /local:\n {4}dataDir: \S+\n {4}imageRepository: own\.example\/k8s\n {4}imageTag: 3\.6\.8-0\n/,
    );
  });

  it("keep the user's kubelet fields but refuse all requests to the kubelet", () => {
    const own = { cgroupDriver: "cgroupfs", maxPods: 3, address: "0.0.0.0", authentication: {} };
    const fields = parse(renderEtcdKubeletDocument(own)) as Record<string, unknown>;
    assert.deepEqual([fields["cgroupDriver"], fields["maxPods"]], ["cgroupfs", 3]);
    assert.equal(fields["address"], "127.0.0.1");
    assert.deepEqual(fields["authentication"], {
      anonymous: { enabled: false },
      webhook: { enabled: false },
    });
  });

  it("list every member for a control plane, over TLS", () => {
    assert.deepEqual(buildExternalEtcdBlock(["10.0.0.7", "10.0.0.8"])["external"], {
      endpoints: ["https://10.0.0.7:2379", "https://10.0.0.8:2379"],
      caFile: "/etc/kubernetes/etcd/ca.crt",
      certFile: "/etc/kubernetes/etcd/client.crt",
      keyFile: "/etc/kubernetes/etcd/client.key",
    });
  });
});
