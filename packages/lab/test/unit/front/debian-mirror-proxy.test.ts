import assert from "node:assert/strict";
import {
  findDebianMirrors,
  parseNameServers,
  renderMirrorProxy,
} from "../../../front/debian-mirror-proxy.js";
import { readLabSettings } from "../../../settings.js";

const settings = readLabSettings({});
const source = (uri: string, ...suites: string[]) => ({ uri, suites, components: ["main"] });

describe("proxied Debian mirrors", () => {
  it("are those that the host's apt uses for the suite", () => {
    const sources = [
      source("http://other.test/debian/", "trixie"),
      source("https://mirror.test/debian/", "bookworm", "bookworm-updates"),
      source("http://mirror.test/security", "bookworm-security"),
    ];
    assert.deepEqual(findDebianMirrors(sources, ["192.0.2.1"]), {
      archive: "https://mirror.test/debian",
      security: "http://mirror.test/security",
      nameServers: ["192.0.2.1"],
    });
  });

  it("are Debian's own if the host has no HTTP mirror", () => {
    const listed = [source("mirror+file:///etc/apt/mirrors/debian.list", "bookworm")];
    const { archive, security } = findDebianMirrors(listed, []);
    assert.equal(archive, "http://deb.debian.org/debian");
    assert.equal(security, "http://deb.debian.org/debian-security");
  });

  it("are resolved by name servers outside the loopback interface", () => {
    const text = "search a\nnameserver 127.0.0.53\nnameserver fd00::1\nnameserver 192.0.2.1\n";
    assert.deepEqual(parseNameServers(text), ["192.0.2.1"]);
    assert.deepEqual(parseNameServers(""), []);
  });

  it("receive requests under their own names, and immutable files are cached for long", () => {
    const text = renderMirrorProxy(settings, {
      archive: "https://mirror.test/debian",
      security: "http://deb.debian.org/debian-security",
      nameServers: ["192.0.2.1"],
    });
    assert.match(text, /resolver 192\.0\.2\.1 ipv6=off;/);
    const [pool = "", others = ""] = text.split("\n").filter((line) => line.includes("^/debian/"));
    for (const line of [pool, others]) {
      assert.match(
        line,
        /proxy_set_header Host mirror\.test; proxy_pass https:\/\/mirror\.test\/debian\/\$rest/,
      );
    }
    assert.match(pool, /pool\/.*by-hash\/.*200 90d/);
    assert.match(others, /200 10m/);
  });

  it("are omitted without a name server", () => {
    const { archive, security } = findDebianMirrors([], []);
    assert.equal(renderMirrorProxy(settings, { archive, security, nameServers: [] }), "");
  });
});
