export type IniValue = string | number | boolean;
/** Configuration of an OpenStack service (oslo.config): section -> key -> value. */
export type Ini = Readonly<Record<string, Readonly<Record<string, IniValue>>>>;

/** Renders sections and keys in their order; booleans are written in lower case. */
export function renderIni(ini: Ini): string {
  return Object.entries(ini)
    .map(([section, values]) => {
      const lines = Object.entries(values).map(([key, value]) => `${key} = ${String(value)}`);
      return [`[${section}]`, ...lines, ""].join("\n");
    })
    .join("\n");
}
