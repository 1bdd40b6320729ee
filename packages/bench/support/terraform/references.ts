/**
 * Pattern of the two usual forms of placeholders. `#search` uses this pattern instead of thousands
 * of words.
 */
const usual = /^(?:ref\.[\w-]+\.\w+|198\.18\.\d+\.\d+)$/;

/**
 * Placeholders for values that Terraform knows only during an apply. A placeholder is a word, a
 * number or an address that passes the program's own checks. Terraform expressions replace the
 * placeholders in the program's results.
 */
export class TerraformPlaceholders {
  readonly #expressions = new Map<string, string>();
  /** Patterns of placeholders that `usual` does not match. */
  readonly #others = new Set<string>();
  #addresses = 0;
  #pattern: RegExp | undefined;

  /** Registers `text` as the placeholder for an expression. */
  stand(text: string, expression: string): string {
    this.#expressions.set(text, expression);
    if (!usual.test(text)) this.#others.add(text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    this.#pattern = undefined;
    return text;
  }

  /**
   * Returns an address as the placeholder for an expression. The address is in the network reserved
   * for benchmarks (RFC 2544).
   */
  address(expression: string): string {
    this.#addresses += 1;
    const [high, low] = [this.#addresses >> 8, this.#addresses & 255];
    return this.stand(`198.18.${String(high)}.${String(low)}`, expression);
  }

  /** Returns a pattern that matches placeholders, but not within a number or base64. */
  #search(): RegExp {
    const any = [usual.source.slice(1, -1), ...this.#others].join("|");
    return new RegExp(`(?<![\\w+])(?:${any})(?![\\w+])`, "g");
  }

  /** Returns the text as a Terraform template. */
  template(text: string): string {
    this.#pattern ??= this.#search();
    const found = text.replace(/[$%](?=\{)/g, "$&$&").replace(this.#pattern, (one) => {
      const expression = this.#expressions.get(one);
      return expression === undefined ? one : `\${${expression}}`;
    });
    const [lost] = /ref\.[\w-]+\.\w+/.exec(found) ?? [];
    if (lost !== undefined) throw new Error(`${lost} stands for nothing that Terraform knows.`);
    return found;
  }

  /** Returns the value with each string in it as a Terraform template. */
  render(value: unknown): unknown {
    if (typeof value === "string") return this.template(value);
    if (typeof value === "number")
      return this.#expressions.has(String(value)) ? this.template(String(value)) : value;
    if (Array.isArray(value)) return value.map((one) => this.render(one));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, this.render(one)]));
  }
}
