import { getExpiredKeyFile, getFaultFile } from "./faults.js";
import type { HostBehaviour, TokenRegistry } from "./hosts.js";

/** Folders and registry in the cloud whose content the front serves. */
export interface FrontContentSources {
  /** Folder with the signed repositories: `v1.36/deb` and `linux/debian`. */
  readonly packages: string;
  /** Folder with the registry's blobs, in subfolders for the first two digits of their digests. */
  readonly blobs: string;
  /** Address of the registry in plain HTTP. */
  readonly registry: string;
}

const json = "default_type application/json;";
const token = (service: string): string => `lab-${service}`;

const errorBody = (code: string, message: string): string =>
  `'{"errors":[{"code":"${code}","message":"${message}"}]}'`;

/**
 * Returns an nginx location that serves a blob from the registry's store. The request may have any
 * path before the digest.
 */
const blobServer = ({ blobs }: FrontContentSources): string[] => [
  'location ~ "[/:](?<digest>(?<two>[0-9a-f]{2})[0-9a-f]{62})(/data)?$" {',
  "  default_type application/octet-stream;",
  `  alias ${blobs}/$two/$digest/data;`,
  "}",
];

const kubernetesPackages = (path: string, { packages }: FrontContentSources): string[] => [
  `root ${packages};`,
  `location ~ ^${path}/v(?<minor>[0-9.]+)/deb/Release\\.key$ {`,
  `  if (-f ${getExpiredKeyFile("$minor")}) {`,
  "    rewrite ^ /v$minor/deb/Release.key.expired break;",
  "  }",
  "  rewrite ^ /v$minor/deb/Release.key break;",
  "}",
  `location ${path}/ {`,
  `  rewrite ^${path}/(.*)$ /$1 break;`,
  "}",
];

const redirectingRegistry = (manifests: string, blobs: string): string[] => [
  "location = /v2/ {",
  "  add_header Docker-Distribution-Api-Version registry/2.0;",
  "  if ($http_authorization !~ ^Bearer) {",
  "    add_header Docker-Distribution-Api-Version registry/2.0 always;",
  '    add_header Www-Authenticate \'Bearer realm="https://$host/token",service="$host"\' always;',
  "    return 401 'authentication required';",
  "  }",
  "  return 200;",
  "}",
  `location = /token { ${json} return 200 '{"token":"$request_id","expires_in":3600}'; }`,
  "location ~ ^/v2/.+/blobs/sha256:(?<digest>[0-9a-f]+)$ {",
  `  return 307 ${blobs}$digest;`,
  "}",
  "location ~ ^/v2/(?<rest>.+)$ {",
  `  return 307 https://${manifests}/$rest;`,
  "}",
];

/** Returns the lines that make a location require the registry's token. */
function renderTokenCheck(registry: TokenRegistry, scope: string): string[] {
  const { realm, service } = registry;
  const challenge = `Bearer realm="${realm}",service="${service}"${scope}`;
  return [
    `  if ($http_authorization != "Bearer ${token(service)}") {`,
    `    add_header Www-Authenticate '${challenge}' always;`,
    `    return 401 ${errorBody("UNAUTHORIZED", "authentication required")};`,
    "  }",
  ];
}

const pullLimit = (left: string): string[] => [
  '  add_header Ratelimit-Limit "100;w=21600" always;',
  `  add_header Ratelimit-Remaining "${left};w=21600" always;`,
];

function limit(name: string): string[] {
  const says =
    "You have reached your pull rate limit. You may increase the limit by authenticating and upgrading: https://www.docker.com/increase-rate-limit";
  return [
    `  if (-f ${getFaultFile(name, "limit")}) {`,
    ...pullLimit("0").map((line) => `  ${line}`),
    `    return 429 ${errorBody("TOOMANYREQUESTS", says)};`,
    "  }",
    ...pullLimit("99"),
  ];
}

function tokenRegistry(
  name: string,
  registry: TokenRegistry,
  places: FrontContentSources,
): string[] {
  const { realm, blobs, limited, manifestsNeedToken } = registry;
  const scope = ',scope="repository:$repository:pull"';
  const target = blobs.replace("{two}", "$two").replace("{digest}", "$digest");
  const tokens = new URL(realm);
  return [
    ...(tokens.hostname === name ? tokenServer(tokens.pathname) : []),
    "location = /v2/ {",
    `  ${json}`,
    ...renderTokenCheck(registry, ""),
    "  return 200 '{}';",
    "}",
    'location ~ "^/v2/(?<repository>.+)/blobs/sha256:(?<digest>(?<two>[0-9a-f]{2})[0-9a-f]+)$" {',
    `  ${json}`,
    ...renderTokenCheck(registry, scope),
    `  return 307 ${target};`,
    "}",
    "location ~ ^/v2/(?<repository>.+)/(manifests|tags)/ {",
    `  ${json}`,
    ...(manifestsNeedToken ? renderTokenCheck(registry, scope) : []),
    ...(limited ? limit(name) : []),
    `  proxy_pass ${places.registry};`,
    "}",
  ];
}

/** Returns a location that gives every client a token for the service in the request. */
const tokenServer = (path: string): string[] => [
  `location = ${path} {`,
  `  ${json}`,
  `  return 200 '{"token":"${token("$arg_service")}","access_token":"${token("$arg_service")}","expires_in":300,"issued_at":"$time_iso8601"}';`,
  "}",
];

/**
 * Returns the lines of a host's nginx server block. Returns undefined for a Debian mirror, because
 * `debian-mirror-proxy.ts` renders mirrors.
 */
export function renderNginxLocations(
  name: string,
  behaviour: HostBehaviour,
  places: FrontContentSources,
): string[] | undefined {
  switch (behaviour.kind) {
    case "package-names":
      return [
        `location ${behaviour.from} {`,
        `  rewrite ^${behaviour.from}(.*)$ ${behaviour.to}$1 redirect;`,
        "}",
      ];
    case "kubernetes-packages":
      return kubernetesPackages(behaviour.path, places);
    case "docker-packages":
      return [`root ${places.packages};`, "location / { return 404; }", "location /linux/ { }"];
    case "redirecting-registry":
      return redirectingRegistry(behaviour.manifests, behaviour.blobs);
    case "token-registry":
      return tokenRegistry(name, behaviour, places);
    case "tokens":
      return tokenServer("/token");
    case "manifests":
      return [
        `location ~ ^${behaviour.path}/(?<rest>.+)$ {`,
        `  proxy_pass ${places.registry}/v2/$rest$is_args$args;`,
        "}",
      ];
    case "blobs":
      return blobServer(places);
    case "mirror":
      return undefined;
  }
}
