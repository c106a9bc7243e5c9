import { describe, expect, it } from 'vitest';
import { bytesOfHex, hexOfBytes } from '../../bytes/memory.ts';
import { createRandom } from '../../testing/random.ts';
import { parseTp, type TpEnd, writeTpBfd, writeTpLock } from './message.ts';
import { TpPath } from './path.ts';

const near: TpEnd = { globalId: 65_000, node: 0xc0000201, tunnel: 7, lsp: 1 };
const far: TpEnd = { ...near, node: 0xc0000202 };
const bfd = bytesOfHex('20c0031800000001000000020001869f0001869f00000000');
const endHex = '0001000c0000fde8c000020100070001';

describe('messages of the transport profile', () => {
  it('are written byte for byte as RFC 6428 and RFC 6435 say', () => {
    // Label 300000, then the label of the channel with the bottom bit and one hop.
    const labels = '493e00ff0000d101';
    expect(hexOfBytes(writeTpBfd(300_000, bfd, undefined))).toBe(`${labels}10000022${hexOfBytes(bfd)}`);
    expect(hexOfBytes(writeTpBfd(300_000, bfd, near))).toBe(`${labels}10000023${hexOfBytes(bfd)}${endHex}`);
    expect(hexOfBytes(writeTpLock(300_000, near))).toBe(`${labels}1000002610000001${endHex}`);
  });

  it('are read as they were written', () => {
    expect(parseTp(writeTpBfd(16, bfd, undefined))).toEqual({ label: 16, channel: 0x22, bfd, source: undefined });
    expect(parseTp(writeTpBfd(16, bfd, near))).toEqual({ label: 16, channel: 0x23, bfd, source: near });
    expect(parseTp(writeTpLock(16, near))).toMatchObject({ label: 16, channel: 0x26, source: near });
  });
});

const createEnds = (destination = far) => {
  const random = createRandom(5);
  const line = { now: 0, isCut: false, reasons: [] as string[] };
  const paths: TpPath[] = [];
  for (const [side, source] of [near, far].entries()) {
    const own = { labelOut: 100 + side, source, destination: side === 0 ? destination : near };
    const times = { discriminator: side + 1, intervalMs: 100, multiplier: 3, sendsLock: true, random };
    paths[side] = new TpPath(
      { ...own, ...times },
      {
        send(bytes) {
          const message = parseTp(bytes);
          if (!line.isCut && message !== undefined) paths[1 - side]?.receive(message, line.now);
        },
        onChange: (isUp, reason) => line.reasons.push(`${side} ${isUp ? 'up' : reason}`),
      },
    );
  }
  for (const path of paths) path.start(0);
  const run = (ms: number) => {
    for (const end = line.now + ms; line.now < end; line.now++) for (const path of paths) path.advance(line.now);
  };
  return { line, paths: paths as [TpPath, TpPath], run };
};

describe('a path', () => {
  it('is up at both ends, and down where nothing comes', () => {
    const { line, paths, run } = createEnds();
    run(3000);
    expect(paths.map(({ state }) => state)).toEqual(['up', 'up']);
    line.isCut = true;
    run(400);
    expect(line.reasons.slice(2).sort()).toEqual([
      '0 control detection time expired',
      '1 control detection time expired',
    ]);
  });

  it('that is taken out of service is locked at the other end', () => {
    const { line, paths, run } = createEnds();
    run(3000);
    paths[0].stop(line.now);
    run(1500);
    expect(paths.map(({ state }) => state)).toEqual(['adminDown', 'locked']);
    paths[0].start(line.now);
    run(6000);
    expect(paths.map(({ state }) => state)).toEqual(['up', 'up']);
  });

  it('notices that another path ends here', () => {
    const { paths, run } = createEnds({ ...far, tunnel: 8 });
    run(3000);
    expect(paths[0].counters.misconnected).toBeGreaterThan(0);
    expect(paths[0].session.lastError).toBe('messages of another path');
  });

  it('reads or refuses changed messages, never more', () => {
    const random = createRandom(17);
    const next = (limit: number) => Math.floor(random() * limit);
    const seeds = [writeTpBfd(100, bfd, undefined), writeTpBfd(100, bfd, near), writeTpLock(100, near)];
    const { paths } = createEnds();
    let read = 0;
    for (let i = 0; i < 300_000; i++) {
      const seed = seeds[i % seeds.length] as Uint8Array;
      const bytes = seed.slice(0, i % 5 === 0 ? 8 + next(seed.length - 7) : undefined);
      for (let k = next(3); k >= 0; k--) bytes[next(bytes.length)] = next(256);
      const message = parseTp(bytes);
      if (message === undefined) continue;
      read++;
      paths[1].receive(message, i);
    }
    expect(read).toBeGreaterThan(100_000);
  });
});
