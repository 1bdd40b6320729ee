/** Waits for an effect of another process: calls `holds` every 20 ms. Throws after `seconds`. */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  seconds = 120,
): Promise<void> {
  const end = Date.now() + seconds * 1000;
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(`After ${seconds} s still not: ${what}.`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
