import { expect, it } from 'vitest';
import { defaultBfd } from './bfd-instance.ts';
import { BfdSite } from './bfd-site.ts';

it('sessions of one router with several neighbours have discriminators and source ports of their own', () => {
  const sent: { discriminator: number; sourcePort: number }[] = [];
  const send = (key: Int32Array, _host: number, bytes: Uint8Array) => {
    const discriminator = new DataView(bytes.buffer, bytes.byteOffset).getUint32(4);
    sent.push({ discriminator, sourcePort: (key[8] as number) >>> 16 });
  };
  const layers = { group: { udp: { send } }, scheduleFlush: () => {} };
  const site = new BfdSite({ layers, event: () => {} } as never);
  const router = { index: 3, address: '10.0.0.3', isMachine: false };
  for (const [i, kind] of (['single-hop', 'single-hop', 'multi-hop'] as const).entries()) {
    const profile = defaultBfd(`10.0.1.${i + 1}`, kind);
    const session = site.add({ profile, router, host: 0 } as never);
    session.start(0);
    session.advance(2000);
    session.stop();
  }
  for (const member of ['discriminator', 'sourcePort'] as const)
    expect(new Set(sent.map((packet) => packet[member])).size).toBe(3);
  expect(sent.every(({ discriminator }) => discriminator > 0)).toBe(true);
  expect(sent.every(({ sourcePort }) => sourcePort >= 49_152)).toBe(true);
});
