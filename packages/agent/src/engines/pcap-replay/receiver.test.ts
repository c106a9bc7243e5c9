import { setTimeout as sleep } from 'node:timers/promises';
import { contentKeyOf, dissectEthernet, ethernetFrame, Frame, udpPacket } from '@rushhour/pcap';
import { describe, expect, it } from 'vitest';
import { SampleStore } from '../../samples.ts';
import { Receiver } from './receiver.ts';
import { SegmentIndex } from './segment-index.ts';

const frameOf = (text: string) => {
  const ends = { src: '10.1.0.1', dst: '10.2.0.1', srcPort: 5000, dstPort: 6000 };
  const bytes = Buffer.from(ethernetFrame(udpPacket(Buffer.from(text), ends)));
  return { bytes, start: 0, end: bytes.length };
};
const keyOf = ({ bytes, end }: ReturnType<typeof frameOf>) => {
  const frame = new Frame();
  dissectEthernet(frame, bytes, 0, end);
  return contentKeyOf(frame);
};

const frames = ['one', 'two', 'three'].map(frameOf) as [ReturnType<typeof frameOf>, ReturnType<typeof frameOf>];
const receiverOf = (samples: SampleStore) =>
  new Receiver(samples, [
    {
      keys: frames.map(keyOf),
      lengths: frames.map(({ end }) => end),
      segments: new SegmentIndex(),
      loops: 1,
      isFrom: () => true,
    },
  ]);
type Arriving = Parameters<Receiver['arrive']>[0];

describe('the end of a replay', () => {
  it('waits for frames that the path still holds', async () => {
    const samples = new SampleStore();
    const receiver = receiverOf(samples);
    receiver.arrive(frames[0] as Arriving);
    const quiet = receiver.untilQuiet();
    for (const frame of frames.slice(1)) {
      await sleep(400);
      receiver.arrive(frame as Arriving);
    }
    await quiet;
    receiver.giveUp();
    expect(samples.counter('pcap-replay.received').value).toBe(3);
    expect(samples.counter('pcap-replay.lost').value).toBe(0);
  });

  it('does not wait for frames that never come', async () => {
    const samples = new SampleStore();
    const receiver = receiverOf(samples);
    receiver.arrive(frames[0] as Arriving);
    const begun = performance.now();
    await receiver.untilQuiet();
    receiver.giveUp();
    expect(performance.now() - begun).toBeLessThan(3000);
    expect(samples.counter('pcap-replay.lost').value).toBe(2);
  });
});
