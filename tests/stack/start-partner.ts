import { spawn } from 'node:child_process';
import { inside } from '../engines/job-child.ts';
import { programAt } from '../process/program.ts';
import type { PartnerOptions, PartnerResult } from './ike-partner.ts';

export interface Partner {
  readonly lines: PartnerResult[];
  readonly ended: Promise<PartnerResult[]>;
  /** A responder answers with these settings from now on. */
  use(index: number): void;
  stop(): void;
}

/** Runs our side in a namespace; the function gets its lines as they come. */
export const startPartner = (
  namespace: Parameters<typeof inside>[0],
  options: Omit<PartnerOptions, 'local' | 'remote'>,
): Partner => {
  const script = programAt('tests/stack/ike-partner.ts');
  const argument = JSON.stringify({ local: '10.99.0.1', remote: '10.99.0.2', ...options });
  const [program = '', ...args] = [...inside(namespace), process.execPath, script, argument];
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines: PartnerResult[] = [];
  let rest = '';
  child.stdout.on('data', (bytes: Buffer) => {
    const parts = (rest + bytes.toString()).split('\n');
    rest = parts.pop() ?? '';
    lines.push(...parts.map((line) => JSON.parse(line) as PartnerResult));
  });
  const ended = new Promise<PartnerResult[]>((resolve) => child.on('close', () => resolve(lines)));
  return { lines, ended, use: (index) => child.stdin.write(`${index}\n`), stop: () => child.stdin.end() };
};
