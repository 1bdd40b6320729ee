import { strict as assert } from "node:assert";
import { Cluster } from "../../../components/cluster.js";
import type { ClusterArgs } from "../../../components/config/cluster-spec.js";
import { localContextOf } from "../../../components/lookup/local-context.js";
import { cloudAnswers } from "../../support/cloud/cloud-answers.js";
import { graph } from "../../support/graph/graph.js";
import { plain } from "../../support/graph/secrets.js";
import { smallest } from "../../support/config/spec.js";

const issuer = (issuerUrl: string): Pick<ClusterArgs, "kubernetes"> => ({
  kubernetes: { oidc: { issuerUrl, clientId: "dashboard" } },
});

describe("settings of Kubernetes in the commands of scripts", () => {
  /** Returns which values the command of a script shows; long ones by their digest. */
  const shown = async (
    script: string,
    { kubernetes }: Pick<ClusterArgs, "kubernetes">,
    encrypted: boolean,
  ): Promise<readonly string[]> => {
    const operator = { ...localContextOf({}), encrypted };
    const rows = await graph(
      () => new Cluster("dev", { ...smallest, kubernetes, operator }),
      cloudAnswers,
    );
    const create = plain(rows.find(({ name }) => name === script)?.inputs["create"]);
    return ["KUBEADM_INIT", "CONFIGURATION", "KUBELET_CONFIGURATION", "KUBEADM_JOIN"].filter(
      (name) => new RegExp(`^ {2}${name}(_SHA256)?=`, "m").test(create),
    );
  };
  const [init, join] = ["dev-control-plane-0-init", "dev-workers-general-0-join"];

  it("are visible by default", async () => {
    const { kubernetes } = issuer("https://id.example/realms/all");
    assert.deepEqual(await shown(init, { kubernetes }, false), [
      "KUBEADM_INIT",
      "CONFIGURATION",
      "KUBELET_CONFIGURATION",
      "KUBEADM_JOIN",
    ]);
    assert.deepEqual(await shown(join, {}, false), ["KUBELET_CONFIGURATION", "KUBEADM_JOIN"]);
  });

  it("are hidden if any value of the settings is encrypted", async () => {
    const kubelet = { kubernetes: { kubelet: { maxPods: 50 } } };
    assert.deepEqual(await shown(init, kubelet, true), []);
    assert.deepEqual(await shown(join, kubelet, true), []);
  });

  it("are hidden if a URL may contain a secret", async () => {
    const { kubernetes } = issuer("https://id.example/realms/0123456789abcdef");
    const left = await shown(init, { kubernetes }, false);
    assert.deepEqual(left, ["KUBELET_CONFIGURATION", "KUBEADM_JOIN"]);
  });
});
