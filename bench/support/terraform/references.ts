/**
 * What Terraform knows only later, as the program sees it: a word, a number or an address that can be one, so that the program's own
 * checks and documents work with it. In what comes out of the program each is an expression again.
 */
export class References {
  readonly #expressions = new Map<string, string>();
  #addresses = 0;
  #pattern = /(?!)/g;

  /** Has `text` stand for the expression from now on. */
  stand(text: string, expression: string): string {
    this.#expressions.set(text, expression);
    const texts = [...this.#expressions.keys()].sort((one, other) => other.length - one.length);
    const any = texts.map((one) => one.replaceAll(".", "\\.")).join("|");
    // Not in the middle of a number or of base64.
    this.#pattern = new RegExp(`(?<![\\w+])(?:${any})(?![\\w+])`, "g");
    return text;
  }

  /** An address that stands for it (RFC 5737). */
  address(expression: string): string {
    this.#addresses += 1;
    return this.stand(`192.0.2.${String(this.#addresses)}`, expression);
  }

  /** Terraform's template of a text. */
  template(text: string): string {
    const found = text
      .replace(/[$%](?=\{)/g, "$&$&")
      .replace(this.#pattern, (one) => `\${${this.#expressions.get(one) ?? ""}}`);
    const [lost] = /ref\.[\w-]+\.\w+/.exec(found) ?? [];
    if (lost !== undefined) throw new Error(`${lost} stands for nothing that Terraform knows.`);
    return found;
  }

  /** The value with each text in it as Terraform's template. */
  render(value: unknown): unknown {
    if (typeof value === "string") return this.template(value);
    if (typeof value === "number")
      return this.#expressions.has(String(value)) ? this.template(String(value)) : value;
    if (Array.isArray(value)) return value.map((one) => this.render(one));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, this.render(one)]));
  }
}
