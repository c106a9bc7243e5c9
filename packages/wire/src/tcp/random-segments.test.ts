import { expect, it } from 'vitest';
import { createRandom } from '../testing/random.ts';
import { RawPeer } from '../testing/raw-peer.ts';
import { keyFor } from '../testing/simulated-wire.ts';
import { Recorder, testSettings } from '../testing/transfer.ts';
import { tcpFlag } from './segment/segment.ts';

/** The long form: RUSHHOUR_SEGMENT_SEQUENCES=200000 vitest run --project unit packages/wire/src/tcp/random-segments.test.ts */
const sequences = Number(process.env['RUSHHOUR_SEGMENT_SEQUENCES'] ?? 20_000);
const segmentsEach = 20;
/** Of a machine that has much else to do. */
const timeoutMs = 60_000 + 10 * sequences;
const data = new Uint8Array(3000).fill(7);

/** A number near one that matters, or anywhere. */
const near = (random: () => number, base: number): number => {
  const kind = random();
  if (kind < 0.6) return (base + Math.floor(random() * 3)) | 0;
  if (kind < 0.9) return (base + Math.floor((random() - 0.5) * 5000)) | 0;
  return Math.floor(random() * 2 ** 32) | 0;
};

it(
  'random segments neither crash nor block the stack, and every connection ends with all memory returned',
  () => {
    const random = createRandom(99);
    const peer = new RawPeer();
    const [stack] = peer.wire.stacks;
    const settings = testSettings({
      synRetries: 1,
      dataRetries: 2,
      maxRtoMs: 1000,
      keepAliveMs: 500,
      keepAliveProbes: 2,
      finWait2Ms: 2000,
    });
    const accepted: Recorder[] = [];
    stack.listen(4000, {
      settings,
      backlog: 8,
      accept: (c) => {
        const recorder = new Recorder(stack, data);
        accepted.push(recorder);
        recorder.begin(c);
        return recorder;
      },
    });
    for (let i = 0; i < sequences; i++) {
      const isServer = random() < 0.5;
      const key = keyFor(isServer ? 4000 : 5000, 1000 + (i % 50_000));
      const recorder = new Recorder(stack, data.subarray(0, Math.floor(random() * 3000)));
      if (!isServer) stack.connect(key, { settings, events: recorder, path: 0 });
      let theirs = Math.floor(random() * 2 ** 32) | 0;
      let ours = peer.take().at(-1)?.seq ?? 0;
      for (let step = 0; step < segmentsEach; step++) {
        const flags =
          step === 0 && random() < 0.8 ? tcpFlag.syn | (isServer ? 0 : tcpFlag.ack) : Math.floor(random() * 256);
        const payload = random() < 0.4 ? data.subarray(0, Math.floor(random() * 1400)) : undefined;
        const seq = near(random, theirs);
        const hasTimestamps = random() < 0.3;
        peer.send(key, {
          flags: random() < 0.7 ? flags & ~tcpFlag.rst : flags,
          seq,
          ack: near(random, ours + 1),
          window: Math.floor(random() * 65_536),
          ...(payload === undefined ? {} : { data: payload }),
          ...(random() < 0.5 ? { mss: Math.floor(random() * 2000) } : {}),
          ...(hasTimestamps ? { timestamps: [near(random, 1000), near(random, 1000)] as const } : {}),
        });
        const answer = peer.take().at(-1);
        if (answer !== undefined) {
          ours = (answer.seq + answer.data.length) | 0;
          theirs = answer.ack;
        } else theirs = (theirs + 1 + (payload?.length ?? 0)) | 0;
        if (random() < 0.05) peer.wire.run(Math.floor(random() * 300_000));
      }
      if (i % 200 === 199) {
        peer.wire.run(120_000_000, () => stack.connectionCount === 0);
        peer.take();
        expect(stack.connectionCount).toBe(0);
        expect(stack.memoryInUse).toEqual({ pieces: 0, sentSegments: 0 });
      }
    }
    expect(accepted.length).toBeGreaterThan(100);
  },
  timeoutMs,
);
