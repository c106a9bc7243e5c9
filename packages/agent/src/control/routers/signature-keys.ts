import { formatAddress } from '@rushhour/wire';

/** Keys of TCP sessions that are signed with MD5 (RFC 2385). */
export class SignatureKeys {
  readonly #keys = new Map<string, Uint8Array>();

  get size(): number {
    return this.#keys.size;
  }

  /** Signs what goes from and to a port; `ends` is the own address, or it and that of the neighbour. */
  add(port: number, ends: string, text: string): void {
    this.#keys.set(`${port} ${ends}`, new TextEncoder().encode(text));
  }

  /** The key of a flow: own address, address of the neighbour, both ports. */
  readonly find = (flow: Int32Array): Uint8Array | undefined => {
    const local = formatAddress(flow, 0);
    const pair = `${local} ${formatAddress(flow, 4)}`;
    const ports = flow[8] as number;
    for (const port of [ports & 0xffff, ports >>> 16]) {
      const key = this.#keys.get(`${port} ${pair}`) ?? this.#keys.get(`${port} ${local}`);
      if (key !== undefined) return key;
    }
    return undefined;
  };
}
