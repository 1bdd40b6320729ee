export type IniValue = string | number | boolean;
/**
 * Configuration of an OpenStack service (oslo.config). A map from a section to its keys and values.
 */
export type Ini = Readonly<Record<string, Readonly<Record<string, IniValue>>>>;

/** Renders sections and keys in their order. Booleans are written in lower case. */
export function renderIni(ini: Ini): string {
  return Object.entries(ini)
    .map(([section, values]) => {
      const lines = Object.entries(values).map(([key, value]) => `${key} = ${String(value)}`);
      return [`[${section}]`, ...lines, ""].join("\n");
    })
    .join("\n");
}
