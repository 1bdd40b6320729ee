import assert from "node:assert/strict";
import { createImageTable } from "../../../../../base/versions/container-images.js";
import {
  containerdPackageRepository,
  kubernetesPackageRepository,
} from "../../../../../base/versions/pinned-versions.js";
import { frontHosts, listFrontHostNames } from "../../../front/hosts.js";
import { nonEmpty } from "../../../../../test/support/non-empty.js";

/** Returns the host of a URL that may contain placeholders. */
const hostOf = (address: string): string => /^https:\/\/([^/]+)/.exec(address)?.[1] ?? address;

describe("frontHosts", () => {
  it("contains every host in the program's defaults", () => {
    const images = Object.values(createImageTable("1.36.3")).map(
      (image) => image.split("/")[0] ?? "",
    );
    const registries = images.map((host) => (host === "docker.io" ? "registry-1.docker.io" : host));
    const { source, key } = containerdPackageRepository;
    const packages = [kubernetesPackageRepository.url, source, key].map(hostOf);
    for (const host of [...registries, ...packages]) assert.ok(host in frontHosts, host);
  });

  it("contains every host to which another one redirects", () => {
    const targets = Object.values(frontHosts).flatMap((behaviour) => {
      const { to, manifests, blobs, realm }: Readonly<Record<string, unknown>> = { ...behaviour };
      return [to, manifests, blobs, realm].filter((one) => typeof one === "string");
    });
    assert.ok(targets.length > 5);
    for (const target of targets) {
      const address = target.startsWith("https:") ? target : `https://${target}`;
      assert.ok(hostOf(address) in frontHosts, address);
    }
  });

  it("redirects no client to the same host, except for a token", () => {
    const asked = Object.entries(frontHosts).flatMap(([name, behaviour]) =>
      Object.entries(behaviour)
        .filter(([field]) => ["to", "manifests", "blobs"].includes(field))
        .map(([, address]) => ({ name, address: String(address) })),
    );
    for (const { name, address } of nonEmpty(asked)) assert.notEqual(hostOf(address), name);
  });

  it("is listed by behaviour", () => {
    assert.deepEqual(listFrontHostNames("mirror"), ["deb.debian.org", "security.debian.org"]);
    assert.equal(listFrontHostNames().length, Object.keys(frontHosts).length);
  });
});
