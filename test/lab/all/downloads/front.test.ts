import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createImageTable } from "../../../../base/versions/container-images.js";
import {
  defaultKubernetesVersion,
  getMinorVersion,
  kubernetesPackageRepository,
} from "../../../../base/versions/pinned-versions.js";
import { getExpiredKeyFile, getFaultFile } from "../../../../packages/lab/front/faults.js";
import { readLabSettings } from "../../../../packages/lab/settings.js";
import { askedOfFront, withFault } from "../../support/downloads/front.js";
import { inServer } from "../../support/machines/machines.js";
import { Stack } from "../../support/stack/stack.js";

const minutes = 60_000;
const minor = getMinorVersion(defaultKubernetesVersion);
const keyAddress = `${kubernetesPackageRepository.url.replace("{minor}", minor)}Release.key`;
const { kubeRouter } = createImageTable(defaultKubernetesVersion);

describe("the lab's front for upstream download hosts, on the lab", function () {
  this.timeout(15 * minutes);
  const stack = new Stack("front");
  const changed = { topology: "single", workers: {} };
  const on = (line: string): Promise<string> => inServer(stack.serverOf("control-plane-0"), line);
  before(async () => {
    await stack.open();
  });
  after(async () => {
    await stack.cluster.close();
  });

  it("serves packages, registries and images to a cluster with default settings", async () => {
    const site = readFileSync(stack.cluster.environment.env["STACKADM_SITE"] ?? "", "utf8");
    assert.doesNotMatch(site, /https?:|prefix|plainHttp|provider/);
    await stack.up(changed);
    const asked = await askedOfFront();
    for (const line of [
      /^pkgs\.k8s\.io "GET \/core:\S*\/Release\.key \S+" 302$/m,
      /^pkgs\.k8s\.io "GET \/core:\S*\/InRelease \S+" 302$/m,
      /^prod-cdn\.packages\.k8s\.io "GET \S*\/kubelet\S*\.deb \S+" 200$/m,
      /^download\.docker\.com "GET \/linux\/debian\/dists\/bookworm\/\S*containerd\.io\S* \S+" 200$/m,
      /^registry\.k8s\.io "\S+ \/v2\/pause\/manifests\/\S+ \S+" 307$/m,
      /^prod-registry-k8s-io-\S+ "GET \/containers\/images\/sha256:\S+ \S+" 200$/m,
      /^registry-1\.docker\.io "\S+ \/v2\/cloudnativelabs\/kube-router\/\S+ \S+" 401$/m,
      /^production\.cloudflare\.docker\.com "GET \S+ \S+" 200$/m,
    ])
      assert.match(asked, line);
  });

  it("has one address of one family", async () => {
    const line = `python3 -c 'import socket; print({one[4][0] for one in socket.getaddrinfo("pkgs.k8s.io", 443)})'`;
    assert.equal((await on(line)).trim(), `{'${readLabSettings().management.front}'}`);
  });

  it("forwards Debian's package lists with Debian's signatures", async () => {
    await on("apt-get -q update -o APT::Update::Error-Mode=any");
    assert.match(await on("apt-cache policy keepalived"), /Candidate: 1:2\./);
  });

  it("refuses Docker Hub images with 429 only while the rate limit fault is active", async () => {
    const pull = (): Promise<string> => on(`crictl pull ${kubeRouter} 2>&1`);
    await withFault(getFaultFile("registry-1.docker.io", "limit"), () =>
      assert.rejects(pull(), /429 Too Many Requests|toomanyrequests/i),
    );
    assert.match(await pull(), /Image is up to date/);
  });

  it("serves an expired key, or an HTML page instead of a key, while these faults are active", async () => {
    const key = (): Promise<string> =>
      on(`curl -fsSL ${keyAddress} | gpg --show-keys --with-colons 2>&1 || :`);
    assert.match(await key(), /^pub:-:/m);
    await withFault(getExpiredKeyFile(minor), async () => {
      assert.match(await key(), /^pub:e:/m);
    });
    await withFault(getFaultFile("pkgs.k8s.io", "html"), async () => {
      assert.match(await key(), /no valid OpenPGP data found/);
      assert.match(await on(`curl -fsSL ${keyAddress}`), /^<!DOCTYPE html>/);
    });
    assert.match(await key(), /^pub:-:/m);
  });

  it("causes no changes on a second `up`, and the cluster is destroyed without leftovers", async () => {
    await stack.again(changed);
    await stack.destroyAndLookAround();
  });
});
