import assert from "node:assert/strict";
import { findMissingCommands } from "../../../../../base/host-packages.js";
import {
  parseAptAccessSettings,
  hostCommands,
  getHostPath,
  renderAptSourceLines,
  parseAptSources,
} from "../../../host/packages.js";

describe("findMissingCommands", () => {
  it("accepts root's commands that are not on PATH", () => {
    assert.deepEqual(
      findMissingCommands(hostCommands, getHostPath(""), (file) => file.startsWith("/usr/sbin/")),
      [],
    );
  });
});

const deb822 = `Types: deb
# a comment
URIs: http://mirror.example/debian
Suites: bookworm bookworm-updates
Components: main contrib

Types: deb-src
URIs: http://mirror.example/source
Suites: bookworm
Components: main

Enabled: no
Types: deb
URIs: http://off.example/debian-security
Suites: bookworm-security
Components: main
`;

describe("package mirrors of the host", () => {
  it("are read from deb822 files without disabled sources and source packages", () => {
    assert.deepEqual(parseAptSources("debian.sources", deb822), [
      {
        uri: "http://mirror.example/debian",
        suites: ["bookworm", "bookworm-updates"],
        components: ["main", "contrib"],
      },
    ]);
  });

  it("are read from one-line files with and without options", () => {
    const text = [
      "deb [arch=amd64 signed-by=/k.gpg] https://a.example/debian bookworm main",
      "# deb http://commented.example/debian bookworm main",
      "deb-src http://b.example/debian bookworm main",
      "deb http://flat.example/apt ./",
    ].join("\n");
    assert.deepEqual(parseAptSources("x.list", text), [
      { uri: "https://a.example/debian", suites: ["bookworm"], components: ["main"] },
      { uri: "http://flat.example/apt", suites: ["./"], components: [] },
    ]);
  });

  it("are the host's mirrors for the suites that they have", () => {
    assert.deepEqual(renderAptSourceLines(parseAptSources("debian.sources", deb822), "bookworm"), [
      "deb http://mirror.example/debian bookworm main",
      "deb http://mirror.example/debian bookworm-updates main",
    ]);
  });

  it("include backports from the mirror of the suite", () => {
    const sources = parseAptSources("debian.sources", deb822);
    assert.deepEqual(renderAptSourceLines(sources, "bookworm", { backports: true }), [
      "deb http://mirror.example/debian bookworm main",
      "deb http://mirror.example/debian bookworm-updates main",
      "deb http://mirror.example/debian bookworm-backports main",
    ]);
  });

  it("are Debian's public mirrors on a host of another release", () => {
    const sources = parseAptSources("debian.sources", deb822);
    assert.deepEqual(renderAptSourceLines(sources, "trixie", { backports: true }), [
      "deb http://deb.debian.org/debian trixie main",
      "deb http://deb.debian.org/debian trixie-updates main",
      "deb http://deb.debian.org/debian-security trixie-security main",
      "deb http://deb.debian.org/debian trixie-backports main",
    ]);
  });
});

describe("apt access settings", () => {
  it("contain only proxies and certificates", () => {
    const dump = [
      'Acquire::http::Proxy "http://proxy.example:3128";',
      'Acquire::https::mirror.example::CaInfo "/etc/ssl/own.pem";',
      'Acquire::https::Verify-Peer "true";',
      'Acquire::Check-Valid-Until "false";',
      'Acquire::http::Timeout "5";',
      'Acquire::Languages:: "none";',
      'DPkg::Post-Invoke:: "rm -rf /";',
    ].join("\n");
    assert.deepEqual(parseAptAccessSettings(dump), [
      'Acquire::http::Proxy "http://proxy.example:3128";',
      'Acquire::https::mirror.example::CaInfo "/etc/ssl/own.pem";',
      'Acquire::https::Verify-Peer "true";',
      'Acquire::Check-Valid-Until "false";',
    ]);
  });

  it("are empty on a host without such settings", () => {
    assert.deepEqual(parseAptAccessSettings('APT "";\nAPT::Architecture "amd64";\n'), []);
  });
});
