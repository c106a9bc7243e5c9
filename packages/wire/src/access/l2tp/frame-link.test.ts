import { describe, expect, it } from 'vitest';
import { createMemory, hexOfBytes, type Memory } from '../../bytes/memory.ts';
import { EthernetHeader, parseMac } from '../../ethernet/ethernet.ts';
import { clientOptions, ip4 } from '../../testing/access-ends.ts';
import { AccessLab } from '../../testing/access-lab.ts';
import { lacOptions, lnsOptions } from '../../testing/l2tp-ends.ts';
import { FrameWriter } from '../frames.ts';
import { sessionState } from '../session-table.ts';
import { Subscribers } from '../subscribers.ts';
import { FrameLink, type FrameLinkOptions } from './frame-link.ts';
import { L2tpLac } from './lac.ts';
import { L2tpLns } from './lns.ts';

const near: FrameLinkOptions = {
  address: ip4('192.0.2.1'),
  prefixLength: 24,
  gateway: 0,
  mac: parseMac('02:00:00:00:00:01'),
  tags: 0,
};
const far = { ...near, address: ip4('192.0.2.2'), mac: parseMac('02:00:00:00:00:02') };

const createEnds = (lab: AccessLab, options: readonly [FrameLinkOptions, FrameLinkOptions]) => {
  const ethernet = new EthernetHeader();
  const link = (side: 0 | 1) => new FrameLink(new FrameWriter(lab.sink(side)), options[side]);
  const [left, right] = [link(0), link(1)];
  const connect = (side: 0 | 1, own: FrameLink, advance: (nowMs: number) => void) => {
    lab.ends[side] = {
      receive: (memory, start, end) => {
        if (ethernet.parse(memory, start, end)) own.receive(memory, ethernet, end);
      },
      advance: (nowMs) => {
        own.advance(nowMs);
        advance(nowMs);
      },
    };
  };
  return { left, right, connect };
};

const createSessions = (lab: AccessLab, tags: number) => {
  const { left, right, connect } = createEnds(lab, [
    { ...near, tags },
    { ...far, tags },
  ]);
  const { random } = lab;
  const subscribers = new Subscribers(10, clientOptions.load, clientOptions.life);
  const peer = { address: far.address, port: 1701 };
  const lac = new L2tpLac({ link: left, subscribers, random }, { ...lacOptions, peer });
  subscribers.protocol = lac;
  const lns = new L2tpLns({ link: right, random }, lnsOptions);
  const take = (end: L2tpLac | L2tpLns) => (from: typeof peer, memory: Memory, start: number, stop: number) =>
    end.receive(from, memory, start, stop);
  left.onDatagram = take(lac);
  right.onDatagram = take(lns);
  connect(0, left, (nowMs) => {
    subscribers.advance(nowMs);
    lac.advance(nowMs);
  });
  connect(1, right, (nowMs) => lns.advance(nowMs));
  return { left, lac, lns, subscribers };
};

describe('tunnels on an Ethernet port', () => {
  it.each([
    ['without tags', 0],
    ['with a tag', 10],
  ])('find their neighbour and carry sessions, %s', (_name, tags) => {
    const lab = new AccessLab();
    lab.keepsFrames = true;
    const { left, lac, lns, subscribers } = createSessions(lab, tags);
    subscribers.begin();
    const isUp = () => subscribers.table.counts[sessionState.up] === 10;
    expect(lab.run(5000, isUp)).toBe(true);
    // The request waits for the answer of ARP and is not lost.
    expect(lab.nowMs).toBeLessThan(900);
    expect(left.counters.arpSent).toBe(1);
    lac.prove(3);
    lab.run(10);
    expect([lac.counters.echoReceived, lns.counters.echoAnswered]).toEqual([1, 1]);
    // The first datagram: type of service of control, from 1701 to 1701.
    const at = tags === 0 ? 14 : 18;
    const first = lab.frames[2] as Uint8Array;
    expect(hexOfBytes(first, at, at + 2)).toBe('45c0');
    expect(hexOfBytes(first, at + 12, at + 24)).toBe('c0000201' + 'c0000202' + '06a5' + '06a5');
  });

  it('go through a gateway to other networks, and nowhere without one', () => {
    const lab = new AccessLab();
    lab.keepsFrames = true;
    const { left, right, connect } = createEnds(lab, [{ ...near, gateway: far.address }, far]);
    for (const [side, link] of [left, right].entries()) connect(side as 0 | 1, link, () => {});
    const peer = { address: ip4('198.51.100.1'), port: 40_000 };
    const send = (link: FrameLink) => {
      const at = link.begin(0, 4);
      link.memory.view.setInt32(at, 0x01020304);
      link.send(peer, at, at + 4, { path: 0, tos: 0 });
      lab.run(5);
    };
    send(left);
    expect(lab.frames).toHaveLength(3);
    const datagram = lab.frames[2] as Uint8Array;
    expect(hexOfBytes(datagram, 0, 6)).toBe('020000000002');
    expect(hexOfBytes(datagram, 30, 46)).toBe(`c633640106a59c40000c${hexOfBytes(datagram, 40, 42)}01020304`);
    send(right);
    expect([lab.frames.length, right.counters.unreachable]).toEqual([3, 1]);
  });

  it('drop what is damaged or not for them', () => {
    const lab = new AccessLab();
    const { left } = createEnds(lab, [near, far]);
    left.onDatagram = () => expect.unreachable();
    const memory = createMemory(100);
    for (const type of [0x0800, 0x0806])
      for (let end = 14; end < 100; end += 7) left.receive(memory, { type, payload: 14, tags: 0 }, end);
    expect(left.counters.invalid).toBeGreaterThan(10);
  });
});
