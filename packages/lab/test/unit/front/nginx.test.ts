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

describe("front servers in nginx", () => {
  it("include one TLS server for each host except the mirrors, on the front's address only", () => {
    for (const name of nonEmpty(listFrontHostNames())) {
      assert.equal(server(name) === "", listFrontHostNames("mirror").includes(name), name);
    }
    for (const [, address] of site.matchAll(/listen (\S+):\d+/g))
      assert.equal(address, "172.29.0.3");
  });

  it("reject the TLS handshake for other hosts", () => {
    assert.match(
      site,
      /listen 172\.29\.0\.3:443 ssl http2 default_server;\n {2}ssl_reject_handshake on;/,
    );
  });

  it("redirect everything of pkgs.k8s.io to the serving host with 302", () => {
    assert.match(
      server("pkgs.k8s.io"),
      /rewrite \^\/core:\(\.\*\)\$ https:\/\/prod-cdn\.packages\.k8s\.io\/repositories\/isv:\/kubernetes:\/core:\$1 redirect;/,
    );
  });

  it("check a file for each fault", () => {
    for (const name of listFrontHostNames())
      if (server(name) !== "")
        assert.ok(server(name).includes(`-f ${getFaultFile(name, "html")})`));
    assert.ok(
      server("registry-1.docker.io").includes(getFaultFile("registry-1.docker.io", "limit")),
    );
    assert.ok(!server("ghcr.io").includes(".limit"));
    assert.ok(server("prod-cdn.packages.k8s.io").includes(`-f ${getExpiredKeyFile("$minor")})`));
  });

  it("quote patterns with braces, which nginx would read as blocks", () => {
    for (const [line] of nonEmpty(site.matchAll(/^ *location ~ .*\{\d.*$/gm)))
      assert.match(line, /~ ".*" \{$/);
  });

  it("change with the management network, like the DNS names", () => {
    const moved = readLabSettings({ STACKADM_LAB_MANAGEMENT: "10.213.0.0/24" });
    assert.doesNotMatch(renderFrontServers(moved, "http://192.0.2.2:5001"), /172\.29\./);
    assert.match(renderFrontDnsmasqConf(moved), /^address=\/pkgs\.k8s\.io\/10\.213\.0\.3$/m);
  });

  it("are returned as the only address of each name, without upstream DNS queries", () => {
    for (const name of nonEmpty(listFrontHostNames())) {
      assert.ok(
        renderFrontDnsmasqConf(settings).includes(`address=/${name}/172.29.0.3\nlocal=/${name}/\n`),
        name,
      );
    }
  });
});
