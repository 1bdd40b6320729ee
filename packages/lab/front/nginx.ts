import type { LabSettings } from "../settings.js";
import { getFaultFile } from "./faults.js";
import { frontHosts, listFrontHostNames } from "./hosts.js";
import { renderNginxLocations, type FrontContentSources } from "./nginx-locations.js";

/** Files with the front's certificate and key, for nginx. */
export const frontTlsFiles = {
  certificate: "/etc/lab/front/server.crt",
  privateKey: "/etc/lab/front/server.key",
};

/**
 * Folder in the cloud with the nginx configuration that depends on the lab's host. The folder is
 * mounted from the host at each start.
 */
export const hostConfigurationFolder = "/srv/front";

/** Log of the front: one line per request with host, request, status. */
export const frontLog = "/var/log/nginx/front.log";

const folders = {
  packages: "/srv/site/packages",
  blobs: "/srv/site/registry/docker/registry/v2/blobs/sha256",
};

/** Returns the first lines of every server of the front. */
export const getFrontServerLines = (
  { management }: LabSettings,
  names: readonly string[],
): string[] => [
  `listen ${management.front}:443 ssl http2;`,
  `server_name ${names.join(" ")};`,
  `ssl_certificate ${frontTlsFiles.certificate};`,
  `ssl_certificate_key ${frontTlsFiles.privateKey};`,
  `access_log ${frontLog} front;`,
];

export const renderServerBlock = (lines: readonly string[]): string =>
  `server {\n${lines.map((line) => `  ${line}\n`).join("")}}\n`;

/**
 * Returns the lines for the fault `html`: an HTML page instead of the requested file, as from a
 * proxy or a captive portal.
 */
const html = (name: string): string[] => [
  `if (-f ${getFaultFile(name, "html")}) { rewrite ^ /front/html last; }`,
  "location = /front/html {",
  "  internal;",
  "  default_type text/html;",
  "  return 200 '<!DOCTYPE html><html><body>Please sign in.</body></html>';",
  "}",
];

function hostServers(settings: LabSettings, places: FrontContentSources): string[] {
  return Object.entries(frontHosts).flatMap(([name, behaviour]) => {
    const locations = renderNginxLocations(name, behaviour, places);
    if (locations === undefined) return [];
    return [
      renderServerBlock([...getFrontServerLines(settings, [name]), ...html(name), ...locations]),
    ];
  });
}

/**
 * Renders the nginx server blocks of the front. nginx refuses TLS handshakes for all other hosts.
 *
 * @param registry address of the registry behind the front, like http://172.29.0.2:5001
 */
export function renderFrontServers(settings: LabSettings, registry: string): string {
  const { front } = settings.management;
  const mirrors = listFrontHostNames("mirror");
  const others = listFrontHostNames().filter((name) => !mirrors.includes(name));
  return [
    "server_names_hash_bucket_size 128;\n",
    "log_format front '$host \"$request\" $status';\n",
    renderServerBlock([
      `listen ${front}:443 ssl http2 default_server;`,
      "ssl_reject_handshake on;",
    ]),
    renderServerBlock([
      ...[`listen ${front}:80;`, `server_name ${others.join(" ")};`],
      "return 301 https://$host$request_uri;",
    ]),
    ...hostServers(settings, { ...folders, registry }),
    `include ${hostConfigurationFolder}/*.conf;\n`,
  ].join("");
}

/**
 * Renders the settings for the dnsmasq of Neutron's DHCP agent. Each name has the front's IPv4
 * address and no other address.
 */
export const renderFrontDnsmasqConf = ({ management }: LabSettings): string =>
  listFrontHostNames()
    .map((name) => `address=/${name}/${management.front}\nlocal=/${name}/\n`)
    .join("");
