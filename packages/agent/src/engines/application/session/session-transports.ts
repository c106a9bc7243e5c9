import type { ApplicationConfig } from '@rushhour/protocol';
import type { EngineContext } from '../../../engine.ts';
import { createStreamTransport } from '../../../net/data-path.ts';
import { countError } from '../../../net/metrics/count-error.ts';
import { createSecureClient, createSecureServer, tlsObserver } from '../../../net/secure-path.ts';
import type { ConnectionOptions, Transport } from '../../../net/transport/transport.ts';
import type { Script, ScriptSession } from '../script.ts';

type Context = EngineContext<ApplicationConfig>;

const options: ConnectionOptions = {
  noDelay: true,
  keepAliveSec: 0,
  readSize: 'small',
  closesImmediately: false,
  usesPromises: true,
};

/** The recorded bytes are those of TLS or QUIC. */
export const isEncrypted = ({ appProtocol }: ScriptSession): boolean => appProtocol === 'tls' || appProtocol === 'quic';

const takesTls = (session: ScriptSession): boolean => session.protocol === 'tcp' && !isEncrypted(session);

const createSecure = ({ config, ...rest }: Context): Transport | undefined => {
  if (config.tls === undefined) return undefined;
  const { note, hostNetwork, samples } = rest;
  const path = {
    ...tlsObserver(rest, 'application'),
    ...{ path: config.dataPath, alpn: config.tls.alpn, note, hostNetwork },
  };
  if (config.role === 'client') return createSecureClient(config.tls, path, options);
  const onHandshakeError = (code: string) => countError(samples, 'application', code);
  return createSecureServer(config.tls, { ...path, listen: config.listen, onHandshakeError }, options);
};

/** TCP for the sessions of applications: with TLS if the job asks for it and they were not recorded encrypted. */
export class SessionTransports {
  readonly plain: Transport;
  readonly #secure: Transport | undefined;

  constructor(context: Context) {
    const { config, note, hostNetwork } = context;
    this.plain = createStreamTransport({ path: config.dataPath, note, hostNetwork }, options);
    this.#secure = createSecure(context);
  }

  of(session: ScriptSession): Transport {
    return this.#secure !== undefined && takesTls(session) ? this.#secure : this.plain;
  }

  async close(): Promise<void> {
    await this.plain.close();
    await this.#secure?.close();
  }
}

/** Notes which sessions are not decrypted by a device, and why. Throws if TLS applies to none. */
export const reportEncryption = (scripts: readonly Script[], { config, note }: Pick<Context, 'config' | 'note'>) => {
  for (const { play, sessions } of scripts) {
    const encrypted = sessions.filter(isEncrypted).length;
    if (encrypted > 0) {
      note(
        `${play.name}: ${encrypted} encrypted sessions are replayed as recorded; a device that decrypts TLS breaks them`,
      );
    }
    if (config.tls === undefined) continue;
    if (!sessions.some(takesTls)) throw new Error(`${play.name} has no session over TCP that TLS could be added to`);
    const datagrams = sessions.filter((session) => session.protocol === 'udp' && !isEncrypted(session)).length;
    if (datagrams > 0) note(`${play.name}: ${datagrams} sessions over UDP are replayed without TLS`);
  }
};
