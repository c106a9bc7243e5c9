/** Cookies by host. Domain, path and expiry are ignored. */
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

  /** Value of the Cookie header; undefined without cookies. */
  headerFor(host: string): string | undefined {
    const known = [...(this.#cookies.get(host) ?? [])];
    return known.length === 0 ? undefined : known.map(([name, value]) => `${name}=${value}`).join('; ');
  }
}
