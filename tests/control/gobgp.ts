import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { inside } from '../engines/job-child.ts';
import type { Side } from '../engines/namespaces.ts';
import { execute, requireProgram, stopProcess } from '../engines/programs.ts';

interface Neighbour {
  readonly address: string;
  readonly as: number;
  /** All of its families; that of IPv4 when left out. */
  readonly families?: readonly string[];
}

const neighbourText = ({ address, as, families = [] }: Neighbour): string => `[[neighbors]]
[neighbors.config]
neighbor-address = "${address}"
peer-as = ${as}
[neighbors.transport.config]
passive-mode = true
local-address = "10.99.0.2"
[neighbors.timers.config]
idle-hold-time-after-reset = 1
${families.map((name) => `[[neighbors.afi-safis]]\n[neighbors.afi-safis.config]\nafi-safi-name = "${name}"\n`).join('')}`;

const configOf = (neighbours: readonly Neighbour[]): string => `[global.config]
as = 65001
router-id = "10.99.0.2"
local-address-list = ["10.99.0.2"]
${neighbours.map(neighbourText).join('')}`;

/** GoBGP in a namespace, AS 65001 at 10.99.0.2; returns what runs its commands. */
export const startGobgp = async (
  side: Side,
  neighbours: readonly Neighbour[],
): Promise<(...args: string[]) => Promise<string>> => {
  for (const program of ['gobgpd', 'gobgp']) requireProgram(program);
  const folder = mkdtempSync(join(tmpdir(), 'rushhour-gobgp-'));
  const file = join(folder, 'gobgpd.toml');
  writeFileSync(file, configOf(neighbours));
  const [program = '', ...before] = inside(side);
  const child = spawn(program, [...before, 'gobgpd', '-f', file], { stdio: 'ignore' });
  onTestFinished(async () => {
    await stopProcess(child);
    rmSync(folder, { recursive: true, force: true });
  });
  const command = async (...args: string[]) =>
    (await execute(program, [...before, 'gobgp', ...args], { maxBuffer: 1 << 28 })).stdout;
  await expect.poll(() => command('global').catch(() => '')).toContain('65001');
  return command;
};
