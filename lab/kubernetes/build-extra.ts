import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { PinnedManifest } from "../../base/manifests.js";
import { withStep } from "../../base/progress.js";
import { programFile } from "./apt-repository.js";
import { buildCache, building, type KubernetesOptions } from "./build.js";
import { buildComponent, componentKey, requireGo, type BuiltComponent } from "./build-component.js";
import { digestOf } from "./digest.js";
import { extras, type Extra, type ExtraName } from "./extras.js";
import { ensureBuildTools } from "./host-tools.js";
import { debianLayerPackages } from "./layers.js";
import { readAddedImages, writeAddedImages } from "./site.js";
import { areStored, writeImages, type Built } from "./site-images.js";

type Options = Pick<KubernetesOptions, "progress" | "signal">;

/** The manifests of an extra, by what they deploy. */
export type ExtraManifests = Readonly<Record<string, PinnedManifest>>;

const keyOf = ({ components, images }: Extra): string =>
  digestOf(JSON.stringify([components.map(componentKey), images, debianLayerPackages]));

/**
 * An extra's images in the registry that all labs of this host read, and its manifests: built at the first call, from the cache
 * afterwards. Can be interrupted at any time.
 */
export async function ensureExtra(name: ExtraName, options: Options): Promise<ExtraManifests> {
  const extra = extras[name]();
  await requireGo();
  await ensureBuildTools(options.progress, options.signal);
  return building(name, options, async () => {
    const site = join(buildCache(), "site");
    const built = await build(extra, options);
    const before = readAddedImages(site, name);
    if (before?.key !== keyOf(extra) || !areStored(before.images, site))
      await add(name, extra, { ...options, built, site });
    // 8 GB that only an interrupted build needs; the executables are kept
    rmSync(goCache(), { recursive: true, force: true });
    return manifestsOf(extra, built);
  });
}

const goCache = (): string => join(buildCache(), "go-build");

async function build({ components }: Extra, options: Options): Promise<Built> {
  const built = new Map<string, BuiltComponent>();
  const cache = join(buildCache(), "components");
  for (const component of components) {
    options.signal?.throwIfAborted();
    built.set(
      component.name,
      await buildComponent(component, { ...options, cache, goCache: goCache() }),
    );
  }
  return built;
}

async function add(
  name: ExtraName,
  extra: Extra,
  { built, site, progress, signal }: Options & { readonly built: Built; readonly site: string },
): Promise<void> {
  mkdirSync(join(site, "registry"), { recursive: true });
  const images = await withStep(progress, `Write the images of ${name}`, 60, (step) =>
    writeImages(extra.images, built, site, {
      cache: join(buildCache(), "layers"),
      step,
      ...(signal && { signal }),
    }),
  );
  writeAddedImages(site, name, { key: keyOf(extra), images });
}

function manifestsOf({ manifests }: Extra, built: Built): ExtraManifests {
  const pinned = Object.entries(manifests).map(([kind, copy]) => {
    const source = programFile(built, copy);
    const sha256 = digestOf(readFileSync(source));
    return [kind, { source, sha256 }];
  });
  return Object.fromEntries(pinned) as ExtraManifests;
}
