import { createHash, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { isLoopbackHost } from '@rushhour/protocol';
import type { Logger } from 'pino';
import { build } from '../system/build.ts';
import { createAgentArchives } from './agent-archives.ts';

const scriptFile = new URL('../../../agent/service/install.sh', import.meta.url);

interface Options {
  /** The address that the controller listens at. */
  readonly host: string;
  readonly port: number;
  readonly tls?: { readonly cert: string } | undefined;
  /** Where other machines reach the controller, if the configuration says so. */
  readonly publicUrl?: string | undefined;
  /** The folder of archives; without it no agent can be installed from here. */
  readonly agentArchives?: string | undefined;
  readonly log: Logger;
}

export interface ControllerAddress {
  readonly url: string;
  /** Why other machines do not reach it; empty if nothing is known against it. */
  readonly warning: string;
}

/** An address of this machine that others may reach; IPv4 is preferred. */
const findOwnAddress = (): string | undefined => {
  const all = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  const usable = all.filter(({ internal, address }) => !internal && !address.startsWith('fe80:'));
  const found = usable.find(({ family }) => family === 'IPv4') ?? usable[0];
  return found && (found.family === 'IPv6' ? `[${found.address}]` : found.address);
};

const loopbackWarning = (host: string) =>
  `the controller listens at ${host}, which only its own machine reaches. For agents on other machines start it with RUSHHOUR_HOST=0.0.0.0, RUSHHOUR_TLS_CERT and RUSHHOUR_TLS_KEY (or RUSHHOUR_ALLOW_HTTP=true without TLS), or set RUSHHOUR_PUBLIC_URL to the address of a reverse proxy`;

/** Pin of the certificate's public key, as curl takes it. */
const pinOf = (cert: string) => {
  const key = new X509Certificate(cert).publicKey.export({ type: 'spki', format: 'der' });
  return `sha256//${createHash('sha256').update(key).digest('base64')}`;
};

const fingerprintOf = (cert: string) => new X509Certificate(cert).fingerprint256.replaceAll(':', '').toLowerCase();

/** Whether machines that use the public address see the certificate of the controller itself. */
const isOwnCertificate = (cert: string, publicUrl: string | undefined) => {
  if (publicUrl === undefined) return true;
  const { protocol, hostname } = new URL(publicUrl);
  const certificate = new X509Certificate(cert);
  return protocol === 'https:' && (certificate.checkHost(hostname) ?? certificate.checkIP(hostname)) !== undefined;
};

const quoted = (text: string) => `'${text}'`;

/** Everything that brings an agent to another machine: the command, the script and the archives. */
export const createInstaller = ({ host, port, tls, publicUrl, agentArchives, log }: Options) => {
  const archives = createAgentArchives(agentArchives, log);
  const seen = tls !== undefined && isOwnCertificate(tls.cert, publicUrl) ? tls.cert : undefined;
  const pin = seen === undefined ? '' : pinOf(seen);
  const fingerprint = seen === undefined ? '' : fingerprintOf(seen);
  const scheme = tls === undefined ? 'http' : 'https';

  const urlFor = (asked: URL): string => {
    if (publicUrl !== undefined) return publicUrl;
    if (!isLoopbackHost(asked.hostname) || isLoopbackHost(host)) return asked.origin;
    const own = findOwnAddress();
    return own === undefined ? asked.origin : `${asked.protocol}//${own}:${port || asked.port}`;
  };

  return {
    fingerprint,
    archives,
    /** Where a machine beside the caller reaches the controller. `hostHeader` is that of the caller's request. */
    addressFor: (hostHeader: string | undefined, protocol: string = scheme): ControllerAddress => {
      const isHost = /^[\w.:[\]-]{1,255}$/.test(hostHeader ?? '');
      const asked = (isHost && URL.parse(`${protocol}://${hostHeader}`)) || new URL(`${scheme}://localhost:${port}`);
      const url = urlFor(asked);
      return { url, warning: isLoopbackHost(new URL(url).hostname) ? loopbackWarning(host) : '' };
    },
    /** The command that installs and enrols an agent. The pin makes curl accept exactly this controller. */
    commandFor: (url: string, token: string): string => {
      const curl = pin === '' ? 'curl -fsSL' : `curl -fsSLk --pinnedpubkey ${quoted(pin)}`;
      const options = pin === '' ? `--token ${token}` : `--token ${token} --fingerprint ${fingerprint}`;
      return `${curl} ${url}/agent/install.sh | sh -s -- ${options}`;
    },
    /** The script for a controller at this address. */
    scriptFor: async (url: string): Promise<string> => {
      const lines = (await archives.list()).map(({ arch, sha256, tarSha256 }) => `${arch} ${sha256} ${tarSha256}`);
      const values: Record<string, string> = {
        CONTROLLER: url,
        VERSION: build.version,
        PIN: pin,
        ARCHIVES: lines.join('\n'),
      };
      return readFileSync(scriptFile, 'utf8').replace(/'@([A-Z]+)@'/g, (_all, name) => quoted(values[name] ?? ''));
    },
  };
};

export type Installer = ReturnType<typeof createInstaller>;
