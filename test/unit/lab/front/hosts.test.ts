import assert from "node:assert/strict";
import { imageTable } from "../../../../base/images.js";
import { containerdPackages, upstreamPackages } from "../../../../base/versions.js";
import { frontHosts, hostNames } from "../../../../lab/front/hosts.js";

/** Host of an address that may have places in it. */
const hostOf = (address: string): string => /^https:\/\/([^/]+)/.exec(address)?.[1] ?? address;

describe("lab/front/hosts", () => {
  it("has every host that the program's defaults name", () => {
    const images = Object.values(imageTable("1.36.3")).map((image) => image.split("/")[0] ?? "");
    const registries = images.map((host) => (host === "docker.io" ? "registry-1.docker.io" : host));
    const { source, key } = containerdPackages;
    const packages = [upstreamPackages.url, source, key].map(hostOf);
    for (const host of [...registries, ...packages]) assert.ok(host in frontHosts, host);
  });

  it("has every host that one of them sends its clients to", () => {
    for (const behaviour of Object.values(frontHosts)) {
      const { to, manifests, blobs, realm }: Readonly<Record<string, unknown>> = { ...behaviour };
      for (const address of [to, manifests, blobs, realm])
        if (typeof address === "string") {
          const host = hostOf(address.startsWith("http") ? address : `https://${address}`);
          // A manifests' host says no address, but the path where it has them.
          if (!address.startsWith("/")) assert.ok(host in frontHosts, address);
        }
    }
  });

  it("sends nobody to the host that it asked, but for a token", () => {
    for (const [name, behaviour] of Object.entries(frontHosts))
      for (const [field, address] of Object.entries(behaviour))
        if (["to", "manifests", "blobs"].includes(field))
          assert.notEqual(hostOf(String(address)), name);
  });

  it("lists hosts by behaviour", () => {
    assert.deepEqual(hostNames("mirror"), ["deb.debian.org", "security.debian.org"]);
    assert.equal(hostNames().length, Object.keys(frontHosts).length);
  });
});
