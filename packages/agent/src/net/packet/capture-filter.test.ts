import { tcpPacket, udpPacket } from '@rushhour/pcap';
import { describe, expect, it } from 'vitest';
import { captureProgram } from './capture-filter.ts';
import type { FilterProgram } from './packet-filter.ts';

const protocolAt = 0xffff_f000;
const networkAt = 0xfff0_0000;

/** What the kernel would keep of a packet: the classic filter in a few lines. */
const kept = (program: FilterProgram, type: number, packet: Uint8Array): number => {
  const view = new DataView(packet.buffer, packet.byteOffset, packet.length);
  const offset = (k: number) => k - networkAt;
  let [a, x] = [0, 0];
  for (let at = 0; ; at++) {
    const { code, jt, jf, k } = program[at] as FilterProgram[number];
    if (code === 0x06) return k;
    if (code === 0x28) a = k === protocolAt ? type : view.getUint16(offset(k));
    else if (code === 0x30) a = view.getUint8(offset(k));
    else if (code === 0x20) a = view.getUint32(offset(k));
    else if (code === 0x48) a = view.getUint16(offset(k) + x);
    else if (code === 0x00) a = k;
    else if (code === 0x54) a &= k;
    else if (code === 0x64) a <<= k;
    else if (code === 0x07) x = a;
    else if (code === 0x15) at += a === k ? jt : jf;
    else if (code === 0x35) at += a >= k ? jt : jf;
    else if (code === 0x45) at += (a & k) !== 0 ? jt : jf;
    else throw new Error(`unknown instruction ${code}`);
  }
};

const four = 0x0800;
const six = 0x86dd;
const tcp = (src: string, srcPort: number, dst: string, dstPort: number) =>
  tcpPacket(new Uint8Array(10), { src, srcPort, dst, dstPort, flags: 0x10 } as never);

describe('the filter of a capture', () => {
  const without = [
    { address: '10.0.0.9', port: 8080 },
    { address: '192.168.1.1', port: 8080 },
    { address: 'fd00::9', port: 8080 },
  ];
  const program = captureProgram({ savelen: 96, captureArp: false, excluded: without });

  it('keeps the beginning of every packet', () => {
    expect(kept(program, four, tcp('10.0.0.1', 1, '10.0.0.2', 2))).toBe(96);
    expect(kept(program, six, tcp('fd00::1', 1, 'fd00::2', 2))).toBe(96);
    expect(kept(program, 0x88cc, new Uint8Array(60))).toBe(96);
  });

  it('excludes traffic with the controller in both directions', () => {
    for (const address of ['10.0.0.9', '192.168.1.1']) {
      expect(kept(program, four, tcp('10.0.0.1', 5, address, 8080))).toBe(0);
      expect(kept(program, four, tcp(address, 8080, '10.0.0.1', 5))).toBe(0);
      expect(kept(program, four, tcp(address, 5, '10.0.0.1', 8080))).toBe(96);
      expect(kept(program, four, tcp(address, 8081, '10.0.0.1', 5))).toBe(96);
    }
    expect(kept(program, six, tcp('fd00::1', 5, 'fd00::9', 8080))).toBe(0);
    expect(kept(program, six, tcp('fd00::9', 8080, 'fd00::1', 5))).toBe(0);
    expect(kept(program, six, tcp('fd00::9', 80, 'fd00::1', 5))).toBe(96);
    const datagram = udpPacket(new Uint8Array(4), { src: '10.0.0.1', dst: '10.0.0.9', srcPort: 5, dstPort: 8080 });
    expect(kept(program, four, datagram)).toBe(96);
  });

  it('keeps ARP only if requested', () => {
    expect(kept(program, 0x0806, new Uint8Array(46))).toBe(0);
    expect(kept(captureProgram({ savelen: 96, captureArp: true, excluded: without }), 0x0806, new Uint8Array(46))).toBe(
      96,
    );
    expect(kept(captureProgram({ savelen: 96, captureArp: false, excluded: [] }), 0x0806, new Uint8Array(46))).toBe(0);
  });

  it('is short enough however many addresses the controller has', () => {
    const many = Array.from({ length: 30 }, (_, index) => [
      { address: `10.1.0.${index}`, port: 1 },
      { address: `fd00::${index}`, port: 1 },
    ]).flat();
    expect(captureProgram({ savelen: 96, captureArp: false, excluded: many }).length).toBeLessThan(256);
  });
});
