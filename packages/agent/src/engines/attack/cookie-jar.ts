/** Cookies that answers have set, by the address they were set for. Where and how long they hold is not asked. */
export class CookieJar {
  readonly #cookies = new Map<string, Map<string, string>>();

  put(host: string, headers: readonly (readonly [name: string, value: string])[]): void {
    for (const [header, value] of headers) {
      const [, name, content] = (header === 'set-cookie' && /^([^=;\s]+)=([^;]*)/.exec(value)) || [];
      if (name === undefined || content === undefined) continue;
      const known = this.#cookies.get(host) ?? new Map<string, string>();
      known.set(name, content.trim());
      this.#cookies.set(host, known);
    }
  }

  /** As a header has them; undefined when there are none. */
  headerFor(host: string): string | undefined {
    const known = [...(this.#cookies.get(host) ?? [])];
    return known.length === 0 ? undefined : known.map(([name, value]) => `${name}=${value}`).join('; ');
  }
}
