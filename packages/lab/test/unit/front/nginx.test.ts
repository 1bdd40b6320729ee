import assert from "node:assert/strict";
import { getExpiredKeyFile, getFaultFile } from "../../../front/faults.js";
import { listFrontHostNames } from "../../../front/hosts.js";
import { renderFrontDnsmasqConf, renderFrontServers } from "../../../front/nginx.js";
import { readLabSettings } from "../../../settings.js";
import { nonEmpty } from "../../../../../test/support/non-empty.js";

const settings = readLabSettings({});
const site = renderFrontServers(settings, "http://192.0.2.2:5001");
/** Returns the server block of a host. */
const server = (name: string): string =>
  site
    .split(/^server \{$/m)
    .find((text) => text.includes(":443") && text.includes(`server_name ${name};`)) ?? "";

describe("lab/front/nginx", () => {
  it("has one server with TLS for each host but the mirrors, on the front's address alone", () => {
    for (const name of nonEmpty(listFrontHostNames())) {
      assert.equal(server(name) === "", listFrontHostNames("mirror").includes(name), name);
    }
    for (const [, address] of site.matchAll(/listen (\S+):\d+/g))
      assert.equal(address, "172.29.0.3");
  });

  it("refuses other hosts before anything is said", () => {
    assert.match(
      site,
      /listen 172\.29\.0\.3:443 ssl http2 default_server;\n {2}ssl_reject_handshake on;/,
    );
  });

  it("sends everything of pkgs.k8s.io to the host that has it, by a 302", () => {
    assert.match(
      server("pkgs.k8s.io"),
      /rewrite \^\/core:\(\.\*\)\$ https:\/\/prod-cdn\.packages\.k8s\.io\/repositories\/isv:\/kubernetes:\/core:\$1 redirect;/,
    );
  });

  it("has for each fault a file that is looked for", () => {
    for (const name of listFrontHostNames())
      if (server(name) !== "")
        assert.ok(server(name).includes(`-f ${getFaultFile(name, "html")})`));
    assert.ok(
      server("registry-1.docker.io").includes(getFaultFile("registry-1.docker.io", "limit")),
    );
    assert.ok(!server("ghcr.io").includes(".limit"));
    assert.ok(server("prod-cdn.packages.k8s.io").includes(`-f ${getExpiredKeyFile("$minor")})`));
  });

  it("quotes patterns with braces, which nginx would take for a block", () => {
    for (const [line] of nonEmpty(site.matchAll(/^ *location ~ .*\{\d.*$/gm)))
      assert.match(line, /~ ".*" \{$/);
  });

  it("moves with the management network, and so do the names", () => {
    const moved = readLabSettings({ STACKADM_LAB_MANAGEMENT: "10.213.0.0/24" });
    assert.doesNotMatch(renderFrontServers(moved, "http://192.0.2.2:5001"), /172\.29\./);
    assert.match(renderFrontDnsmasqConf(moved), /^address=\/pkgs\.k8s\.io\/10\.213\.0\.3$/m);
  });

  it("answers for each name with this address, and asks nobody for another kind", () => {
    for (const name of nonEmpty(listFrontHostNames())) {
      assert.ok(
        renderFrontDnsmasqConf(settings).includes(`address=/${name}/172.29.0.3\nlocal=/${name}/\n`),
        name,
      );
    }
  });
});
