import { isIP } from 'node:net';
import type { HarOrigin, TlsClientSettings } from '@rushhour/protocol';
import type { HostNetwork } from '../../../net/host-network.ts';
import type { TlsObserver } from '../../../net/openssl/tls-connection.ts';
import type { QuicClient } from '../../../net/quic/quic-client.ts';
import { createQuicPath } from '../../../net/quic/quic-path.ts';

/** What opens connections for HTTP/3, by server name. */
export class QuicClients {
  readonly #tls: TlsClientSettings;
  readonly #hostNetwork: HostNetwork | undefined;
  readonly #observer: TlsObserver;
  readonly #byName = new Map<string | undefined, QuicClient>();

  constructor(tls: TlsClientSettings, hostNetwork: HostNetwork | undefined, observer: TlsObserver) {
    this.#tls = tls;
    this.#observer = observer;
    this.#hostNetwork = hostNetwork;
  }

  of({ host }: HarOrigin): QuicClient {
    const name = this.#tls.sni ?? (isIP(host) === 0 ? host : undefined);
    const known = this.#byName.get(name);
    if (known !== undefined) return known;
    const path = createQuicPath({ config: {}, hostNetwork: this.#hostNetwork });
    const settings = { ...this.#tls, ...(name !== undefined && { sni: name }) };
    const client = path.createClient(settings, ['h3'], this.#observer);
    this.#byName.set(name, client);
    return client;
  }

  async close(): Promise<void> {
    for (const client of this.#byName.values()) await client.close();
    this.#byName.clear();
  }
}
