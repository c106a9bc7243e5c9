import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LogLine, ToController } from '@rushhour/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Log } from './log.ts';
import { LogFile } from './log-file.ts';
import { LogShipper } from './log-shipper.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rushhour-log-'));
});
afterEach(() => rm(folder, { recursive: true }));

describe('log', () => {
  it('keeps the newest lines on disk within its bounds', async () => {
    const path = join(folder, 'logs', 'agent.log');
    const file = new LogFile(path, 2000);
    const log = new Log([file.write]);
    for (let i = 0; i < 100; i++) {
      log.info(`line ${i} ${'x'.repeat(50)}`);
      if (i % 10 === 9) await file.flush();
    }
    const lines = await file.read(1_000_000);
    expect(lines.at(-1)?.message).toContain('line 99 ');
    expect(lines.length).toBeLessThan(60);
    expect((await stat(path)).size + (await stat(`${path}.1`)).size).toBeLessThan(8000);
    expect((await file.read(300)).length).toBe(2);
    expect(await new LogFile(path).read(1_000_000)).toEqual(lines);
  });

  it('sends queued lines in order and counts dropped ones', () => {
    const shipper = new LogShipper();
    const log = new Log([shipper.write]).of('run', 9);
    log.debug('not for the controller');
    for (let i = 0; i < 2003; i++) log.warn(`line ${i}`);
    shipper.ship(() => false);
    const sent: LogLine[] = [];
    shipper.ship((message: ToController) => {
      if (message.type === 'logs') sent.push(...message.lines);
      return true;
    });
    expect(sent[0]?.message).toBe('3 earlier log lines were not sent');
    expect(sent.slice(1).map(({ message }) => message)).toEqual(
      Array.from({ length: 2000 }, (_, i) => `line ${i + 3}`),
    );
    expect(sent[1]).toMatchObject({ runId: 9, source: 'run', level: 'warn' });
  });
});
