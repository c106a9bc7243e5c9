import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import type { Side } from '../engines/namespaces.ts';
import { execute, requireProgram } from '../engines/programs.ts';

/** A capture of everything on an interface, read by tshark. */
export interface Sniffer {
  stop(): Promise<void>;
  /** Values of fields, a row for each packet that matches the display filter. */
  fields(filter: string, names: readonly string[]): Promise<string[][]>;
  /** From now on packets are decrypted by these lines of Wireshark's tables. */
  useKeys(lines: { readonly ike: readonly string[]; readonly esp: readonly string[] }): void;
}

/** Reads the packets of a capture by tshark, with a profile folder of its own. */
const createReader = (file: string, profile: string): Pick<Sniffer, 'fields' | 'useKeys'> => {
  let decryption: readonly string[] = [];
  return {
    async fields(filter, names) {
      const wanted = names.flatMap((name) => ['-e', name]);
      const shape = ['-T', 'fields', '-E', 'separator=\t', '-E', 'occurrence=a', ...wanted];
      const { stdout } = await execute('tshark', ['-r', file, ...decryption, '-Y', filter, ...shape], {
        maxBuffer: 64 * 1024 * 1024,
        env: { ...process.env, WIRESHARK_CONFIG_DIR: profile },
      });
      return stdout
        .split('\n')
        .slice(0, -1)
        .map((line) => line.split('\t'));
    },
    useKeys({ ike, esp }) {
      decryption = ['-o', 'esp.enable_encryption_decode:TRUE', '-o', 'esp.enable_authentication_check:TRUE'];
      writeFileSync(join(profile, 'ikev2_decryption_table'), `${ike.join('\n')}\n`);
      writeFileSync(join(profile, 'esp_sa'), `${esp.join('\n')}\n`);
    },
  };
};

export const startSniffer = async (side: Side): Promise<Sniffer> => {
  for (const program of ['tcpdump', 'tshark']) requireProgram(program);
  const folder = mkdtempSync(join(tmpdir(), 'rushhour-sniff-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'all.pcap');
  const profile = join(folder, 'profile');
  mkdirSync(profile);
  // In immediate mode every packet takes a place of the largest size: the default buffer holds eight.
  const room = ['-s', '66000', '-B', '65536'];
  const options = ['-i', side.device, '-U', '--immediate-mode', ...room, '-w', file, '-Z', 'root'];
  const args = ['netns', 'exec', side.namespace, 'tcpdump', ...options];
  const child = spawn('ip', args, { stdio: ['ignore', 'ignore', 'pipe'] });
  const exited = once(child, 'exit');
  let messages = '';
  child.stderr.on('data', (bytes: Buffer) => {
    messages += bytes.toString();
  });
  while (!messages.includes('listening on')) {
    if (child.exitCode !== null) throw new Error(`tcpdump ended: ${messages}`);
    await sleep(20);
  }
  return {
    async stop() {
      // What has arrived is still written.
      for (let size = -1; size !== statSync(file).size; await sleep(200)) size = statSync(file).size;
      child.kill('SIGINT');
      await exited;
    },
    ...createReader(file, profile),
  };
};
