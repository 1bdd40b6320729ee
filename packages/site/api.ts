/** Pages of the public interface, which TypeDoc writes from the exports of package.json. */
import { dirname, join } from "node:path";
import {
  Application,
  ReferenceType,
  ReflectionKind,
  ReflectionType,
  Type,
  type ProjectReflection,
  type SomeType,
  type TypeDocOptions,
} from "typedoc";
import type { PluginOptions } from "typedoc-plugin-markdown";
import { root } from "./pages.js";

/**
 * Returns the entries of the package: name for an import, and source file.
 *
 * @param exported `exports` of package.json, with compiled files
 */
export const listEntries = (exported: Readonly<Record<string, string>>): Map<string, string> =>
  new Map(
    Object.entries(exported)
      .filter(([, file]) => file.endsWith(".js"))
      .map(([name, file]) => [
        `stackadm${name.slice(1)}`,
        file.replace(/^\.\/dist\//, "").replace(/\.js$/, ".ts"),
      ]),
  );

const options: Partial<TypeDocOptions & PluginOptions> = {
  name: "API",
  tsconfig: join(root, "tsconfig.build.json"),
  plugin: ["typedoc-plugin-markdown"],
  router: "module",
  sortEntryPoints: false,
  readme: "none",
  logLevel: "Warn",
  excludeExternals: true,
  excludePrivate: true,
  excludeProtected: true,
  disableSources: true,
  // `npm run check` reports errors of types.
  skipErrorChecking: true,
  hidePageHeader: true,
  hideBreadcrumbs: true,
  hideGroupHeadings: true,
  useCodeBlocks: true,
  classPropertiesFormat: "table",
  interfacePropertiesFormat: "table",
  parametersFormat: "table",
  propertyMembersFormat: "table",
  typeAliasPropertiesFormat: "table",
  typeDeclarationFormat: "table",
  tableColumnSettings: { hideDefaults: true, hideModifiers: true, leftAlignHeaders: true },
};

/** Number of fields of a type without a name above which the type is the settings of a cluster. */
const manyFields = 20;

/**
 * Restores the names of types that zod infers. TypeDoc replaces each use of such a type by all of
 * its fields.
 */
function restoreNames(project: ProjectReflection): void {
  const settings = project.getReflectionsByKind(ReflectionKind.TypeAlias);
  const spec = settings.find(({ name }) => name === "ClusterSpec");
  if (!spec) throw new Error("The package does not export ClusterSpec.");
  const shorten = (type: SomeType): SomeType => {
    if (type instanceof ReflectionType && (type.declaration.children ?? []).length > manyFields)
      return ReferenceType.createResolvedReference(spec.name, spec, project);
    if (type instanceof ReferenceType)
      type.typeArguments = type.name.startsWith("Zod") ? [] : type.typeArguments?.map(shorten);
    return type;
  };
  for (const reflection of Object.values(project.reflections))
    if ("type" in reflection && reflection.type instanceof Type)
      reflection.type = shorten(reflection.type as SomeType);
}

/** Writes the pages to `folder`. Deletes what is in the folder. */
export async function writeApiPages(
  folder: string,
  exported: Readonly<Record<string, string>>,
): Promise<void> {
  const entries = listEntries(exported);
  const entryPoints = [...entries.values()].map((file) => join(root, file));
  const app = await Application.bootstrapWithPlugins({ ...options, entryPoints, out: folder });
  const project = await app.convert();
  if (!project) throw new Error("TypeDoc cannot read the entry points.");
  restoreNames(project);
  // TypeDoc names a module after its folder.
  const names = new Map([...entries].map(([name, file]) => [dirname(file), name]));
  for (const module of project.children ?? []) module.name = names.get(module.name) ?? module.name;
  await app.generateOutputs(project);
}
