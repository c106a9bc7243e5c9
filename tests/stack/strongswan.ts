import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Side } from '../engines/namespaces.ts';
import { execute } from '../engines/programs.ts';

const charon = '/usr/lib/ipsec/charon';
const ticksPerSecond = 100;

/** Address of the gateway inside tunnels. */
export const insideAddress = '10.2.0.1';

export interface StrongSwan {
  /** Runs swanctl and returns its output, also when it fails. */
  control(...args: string[]): Promise<string>;
  log(): string;
  /** Processor time that it has used. */
  cpuSeconds(): number;
  /** `signal`: SIGKILL ends it without a word to its peers. */
  stop(signal?: 'SIGTERM' | 'SIGKILL'): Promise<void>;
}

export interface StrongSwanOptions {
  /** Content of swanctl.conf. */
  readonly connections: string;
  /** Files below the folder of swanctl, such as x509/gateway.pem. */
  readonly files?: Readonly<Record<string, string>>;
  /** Address inside tunnels. */
  readonly insideAddress?: string;
}

const plugins =
  'random nonce x509 constraints pubkey pem pkcs1 pkcs8 openssl curve25519 chapoly aes sha1 sha2 hmac kdf ctr gcm gmp ' +
  'kernel-libipsec kernel-netlink socket-default vici eap-identity eap-mschapv2 eap-tls';

const configuration = (folder: string) => `
charon {
  load = ${plugins}
  install_virtual_ip = no
  routing_table = 0
  reuse_ikesa = no
  cookie_threshold = 0
  block_threshold = 0
  plugins {
    vici { socket = unix://${folder}/charon.vici }
    kernel-libipsec { allow_peer_ts = yes }
  }
  filelog { file { path = ${folder}/charon.log
      default = 1
      time_format = %T
      flush_line = yes } }
}
`;

/** strongSwan with ESP in user space, in a namespace. */
export const startStrongSwan = async (
  side: Side,
  { connections, files = {}, insideAddress: own = insideAddress }: StrongSwanOptions,
): Promise<StrongSwan> => {
  if (!existsSync(charon)) throw new Error('these tests need strongSwan (strongswan-charon, strongswan-swanctl)');
  const folder = mkdtempSync(join(tmpdir(), 'rushhour-charon-'));
  for (const name of ['x509', 'x509ca', 'private']) mkdirSync(join(folder, name));
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  writeFileSync(join(folder, 'strongswan.conf'), configuration(folder));
  writeFileSync(join(folder, 'swanctl.conf'), connections);
  // The folder for process numbers is private, so that several can run.
  // Routes into a tunnel need a source address that its selectors contain.
  side.run('ip', 'address', 'replace', `${own}/32`, 'dev', 'lo');
  const script = `mount -t tmpfs none /run && exec ${charon}`;
  const child = spawn('ip', ['netns', 'exec', side.namespace, 'unshare', '-m', 'sh', '-c', script], {
    stdio: 'ignore',
    env: { ...process.env, STRONGSWAN_CONF: join(folder, 'strongswan.conf') },
  });
  const exited = once(child, 'exit');
  const log = () => (existsSync(join(folder, 'charon.log')) ? readFileSync(join(folder, 'charon.log'), 'utf8') : '');
  const control = async (...args: string[]): Promise<string> => {
    const all = [...args, '--uri', `unix://${folder}/charon.vici`];
    const env = { ...process.env, SWANCTL_DIR: folder, STRONGSWAN_CONF: join(folder, 'strongswan.conf') };
    const { stdout, stderr } = await execute('swanctl', all, { env, timeout: 60_000 }).catch((error) => error);
    return `${stdout}${stderr}`;
  };
  const stop = async (signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM') => {
    child.kill(signal);
    await exited;
    rmSync(folder, { recursive: true, force: true });
  };
  for (let attempt = 0; !existsSync(join(folder, 'charon.vici')); attempt++) {
    if (child.exitCode !== null || attempt > 600) throw new Error(`charon does not start: ${log()}`);
    await sleep(50);
  }
  const loaded = await control('--load-all', '--file', join(folder, 'swanctl.conf'));
  if (!/successfully loaded \d+ connections/.test(loaded)) {
    await stop();
    throw new Error(`swanctl: ${loaded}`);
  }
  const cpuSeconds = () => {
    const [, user, system] = /\) (?:\S+ ){11}(\d+) (\d+)/.exec(readFileSync(`/proc/${child.pid}/stat`, 'utf8')) ?? [];
    return (Number(user) + Number(system)) / ticksPerSecond;
  };
  return { control, log, cpuSeconds, stop };
};
