export type IniValue = string | number | boolean;
/** Section -> key -> value: the configuration format of all OpenStack services (oslo.config). */
export type Ini = Readonly<Record<string, Readonly<Record<string, IniValue>>>>;

/** Renders sections and keys in the order they are written; booleans in lower case. */
export function renderIni(ini: Ini): string {
  return Object.entries(ini)
    .map(([section, values]) => {
      const lines = Object.entries(values).map(([key, value]) => `${key} = ${String(value)}`);
      return [`[${section}]`, ...lines, ""].join("\n");
    })
    .join("\n");
}
